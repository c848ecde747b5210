-- The activity log, newest first: by time, and within a millisecond by ID, both descending. A list has at most $limit
-- entries, from the position ($since, $since_id) up to the position ($before, $before_id), which is excluded. They have
-- type $type, outcome $succeeded and name pattern $name; NULL means any.

-- columns: activity_kind
kind:int

-- name: activity_kind_get
SELECT {activity_kind} FROM activity_kind {by activity_kind_text}
WHERE building_id = $building_id:id AND name = $name:text AND type = $type:text
    AND unlock_type = $unlock_type:text AND succeeded = $succeeded:bool

-- name: activity_kind_insert
INSERT INTO activity_kind (building_id, name, type, unlock_type, succeeded, name_folded, kind)
VALUES ($building_id:id, $name:text, $type:text, $unlock_type:text, $succeeded:bool, $name_folded:text,
    coalesce((SELECT kind FROM activity_kind WHERE building_id = $building_id ORDER BY kind DESC LIMIT 1), 0) + 1)
RETURNING {activity_kind}

-- name: activity_insert
INSERT INTO activity (building_id, created_at, id, kind, unlock_id, call_id) VALUES ($building_id:id, $created_at:time,
    $id:id, $kind:int, $unlock_id:id, $call_id:id)

-- name: activity_other_name
-- A kind of the grant's entries that has another name.
SELECT k.kind AS kind:int, k.type:text, k.unlock_type:text, k.succeeded:bool
FROM activity a {by activity_unlock} CROSS JOIN activity_kind k
WHERE a.building_id = $building_id:id AND a.unlock_id = $unlock_id:id
    AND k.building_id = $building_id AND k.kind = a.kind AND k.name <> $name:text LIMIT 1

-- name: activity_relabel
-- Gives at most $limit of the grant's entries of kind $kind another kind.
UPDATE activity SET kind = $other:int
FROM (SELECT created_at AS made_at, id AS of_id FROM activity {by activity_unlock}
    WHERE building_id = $building_id:id AND unlock_id = $unlock_id:id AND kind = $kind:int LIMIT $limit:int) AS old
WHERE activity.building_id = $building_id AND activity.created_at = made_at AND activity.id = of_id

-- name: activity_kind_end
-- Unless another entry says it.
DELETE FROM activity_kind WHERE building_id = $building_id:id AND kind = $kind:int AND NOT EXISTS
    (SELECT 1 FROM activity a {by activity_of_kind} WHERE a.building_id = $building_id AND a.kind = $kind)

-- columns: activity
a.id:id, a.created_at:time, a.call_id:id, k.type:text, a.unlock_id:id, k.unlock_type:text, k.name:text, k.succeeded:bool

-- name: activity_list (sqlite)
SELECT {activity}
FROM activity a CROSS JOIN activity_kind k
WHERE a.building_id = $building_id:id AND (a.created_at, a.id) >= ($since:time, $since_id:text) AND (a.created_at,
    a.id) < ($before:time, $before_id:text)
    AND k.building_id = $building_id AND k.kind = a.kind
    AND (CAST($type:text AS TEXT) IS NULL OR k.type = $type)
    AND (CAST($succeeded:bool? AS BIGINT) IS NULL OR k.succeeded = $succeeded)
    AND (CAST($name:text AS TEXT) IS NULL OR k.name_folded LIKE $name ESCAPE '!')
ORDER BY a.created_at DESC, a.id DESC LIMIT $limit:int

-- name: activity_list (postgresql)
-- OFFSET 0 keeps the planner from joining all entries of a building before it sorts them.
SELECT {activity}
FROM activity a CROSS JOIN LATERAL (
    SELECT s.type, s.unlock_type, s.name, s.succeeded FROM activity_kind s
    WHERE s.building_id = $building_id AND s.kind = a.kind
        AND (CAST($type AS TEXT) IS NULL OR s.type = $type)
        AND (CAST($succeeded AS BIGINT) IS NULL OR s.succeeded = $succeeded)
        AND (CAST($name AS TEXT) IS NULL OR s.name_folded LIKE $name ESCAPE '!')
    OFFSET 0) AS k
WHERE a.building_id = $building_id AND (a.created_at, a.id) >= ($since, $since_id) AND (a.created_at,
    a.id) < ($before, $before_id)
ORDER BY a.created_at DESC, a.id DESC LIMIT $limit

-- name: activity_list_unlock (sqlite)
-- The same for the entries of one grant, $unlock_id.
SELECT {activity}
FROM activity a {by activity_unlock} CROSS JOIN activity_kind k
WHERE a.building_id = $building_id:id AND a.unlock_id = $unlock_id:text
    AND (a.created_at, a.id) >= ($since:time, $since_id:text) AND (a.created_at, a.id) < ($before:time, $before_id:text)
    AND k.building_id = $building_id AND k.kind = a.kind
    AND (CAST($type:text AS TEXT) IS NULL OR k.type = $type)
    AND (CAST($succeeded:bool? AS BIGINT) IS NULL OR k.succeeded = $succeeded)
    AND (CAST($name:text AS TEXT) IS NULL OR k.name_folded LIKE $name ESCAPE '!')
ORDER BY a.created_at DESC, a.id DESC LIMIT $limit:int

-- name: activity_list_unlock (postgresql)
SELECT {activity}
FROM activity a CROSS JOIN LATERAL (
    SELECT s.type, s.unlock_type, s.name, s.succeeded FROM activity_kind s
    WHERE s.building_id = $building_id AND s.kind = a.kind
        AND (CAST($type AS TEXT) IS NULL OR s.type = $type)
        AND (CAST($succeeded AS BIGINT) IS NULL OR s.succeeded = $succeeded)
        AND (CAST($name AS TEXT) IS NULL OR s.name_folded LIKE $name ESCAPE '!')
    OFFSET 0) AS k
WHERE a.building_id = $building_id AND a.unlock_id = $unlock_id
    AND (a.created_at, a.id) >= ($since, $since_id) AND (a.created_at, a.id) < ($before, $before_id)
ORDER BY a.created_at DESC, a.id DESC LIMIT $limit

-- columns: activity_last
created_at:time, id:text

-- name: activity_last
-- Entry $most of such a list with any type, outcome and name; no row if the list is shorter.
SELECT {activity_last} FROM activity
WHERE building_id = $building_id:id AND (created_at, id) >= ($since:time, $since_id:text) AND (created_at,
    id) < ($before:time, $before_id:text)
ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET CAST($most:int AS BIGINT) - 1

-- name: activity_last_unlock
-- The same for the entries of one grant, $unlock_id.
SELECT {activity_last} FROM activity {by activity_unlock}
WHERE building_id = $building_id:id AND unlock_id = $unlock_id:text AND (created_at, id) >= ($since:time,
    $since_id:text) AND (created_at, id) < ($before:time, $before_id:text)
ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET CAST($most:int AS BIGINT) - 1

-- name: activity_kinds
-- The number of kinds of entries, and of those with type $type, outcome $succeeded and name pattern $name; counted up
-- to $limit.
SELECT count(*) AS kinds:int, CAST(coalesce(sum(CASE
    WHEN (CAST($type:text AS TEXT) IS NULL OR k.type = $type)
        AND (CAST($succeeded:bool? AS BIGINT) IS NULL OR k.succeeded = $succeeded)
        AND (CAST($name:text AS TEXT) IS NULL OR k.name_folded LIKE $name ESCAPE '!') THEN 1 ELSE 0 END),
        0) AS BIGINT) AS matching:int
FROM (SELECT type, succeeded, name_folded FROM activity_kind WHERE building_id = $building_id:id LIMIT $limit:int) AS k

-- The list of activity_list, merged from the entries of matching kinds: it reads one entry of each kind, and the page.

-- name: activity_merge (sqlite)
-- The queue of this recursion is ordered: the newest entry leaves it and is replaced by the next older entry of its
-- kind.
WITH RECURSIVE newest (kind, created_at, id) AS (
    SELECT k.kind, a.created_at, a.id
    FROM activity_kind k CROSS JOIN activity a {by activity_of_kind}
    WHERE k.building_id = $building_id:id
        AND ($type:text IS NULL OR k.type = $type)
        AND ($succeeded:bool? IS NULL OR k.succeeded = $succeeded)
        AND ($name:text IS NULL OR k.name_folded LIKE $name ESCAPE '!')
        AND a.building_id = $building_id AND a.kind = k.kind AND (a.created_at, a.id) = (
            SELECT x.created_at, x.id FROM activity x {by activity_of_kind}
            WHERE x.building_id = $building_id AND x.kind = k.kind
                AND (x.created_at, x.id) >= ($since:time, $since_id:text) AND (x.created_at, x.id) < ($before:time,
                $before_id:text)
            ORDER BY x.created_at DESC, x.id DESC LIMIT 1)
    UNION ALL
    SELECT n.kind, a.created_at, a.id
    FROM newest n CROSS JOIN activity a {by activity_of_kind}
    WHERE a.building_id = $building_id AND a.kind = n.kind AND (a.created_at, a.id) = (
            SELECT x.created_at, x.id FROM activity x {by activity_of_kind}
            WHERE x.building_id = $building_id AND x.kind = n.kind
                AND (x.created_at, x.id) >= ($since, $since_id) AND (x.created_at, x.id) < (n.created_at, n.id)
            ORDER BY x.created_at DESC, x.id DESC LIMIT 1)
    ORDER BY 2 DESC, 3 DESC LIMIT $limit:int
)
SELECT {activity}
FROM newest n CROSS JOIN activity a CROSS JOIN activity_kind k
WHERE a.building_id = $building_id AND a.created_at = n.created_at AND a.id = n.id
    AND k.building_id = $building_id AND k.kind = n.kind
ORDER BY a.created_at DESC, a.id DESC

-- name: activity_merge (postgresql)
-- A page has entries of at most $limit kinds, those with the newest entries.
SELECT {activity}
FROM (SELECT s.* FROM activity_kind s CROSS JOIN LATERAL (
          SELECT x.created_at, x.id FROM activity x
          WHERE x.building_id = $building_id AND x.kind = s.kind
              AND (x.created_at, x.id) >= ($since, $since_id) AND (x.created_at, x.id) < ($before, $before_id)
          ORDER BY x.created_at DESC, x.id DESC LIMIT 1) AS newest
      WHERE s.building_id = $building_id
          AND (CAST($type AS TEXT) IS NULL OR s.type = $type)
          AND (CAST($succeeded AS BIGINT) IS NULL OR s.succeeded = $succeeded)
          AND (CAST($name AS TEXT) IS NULL OR s.name_folded LIKE $name ESCAPE '!')
      ORDER BY newest.created_at DESC, newest.id DESC LIMIT $limit) AS k
CROSS JOIN LATERAL (
    SELECT x.created_at, x.id, x.call_id, x.unlock_id FROM activity x
    WHERE x.building_id = $building_id AND x.kind = k.kind
        AND (x.created_at, x.id) >= ($since, $since_id) AND (x.created_at, x.id) < ($before, $before_id)
    ORDER BY x.created_at DESC, x.id DESC LIMIT $limit) AS a
ORDER BY a.created_at DESC, a.id DESC LIMIT $limit

-- name: activity_purge
-- Deletes the oldest entries of a building from before $before, at most $limit.
DELETE FROM activity WHERE building_id = $building_id:id AND created_at < $before:time AND (created_at, id) IN
    (SELECT created_at, id FROM activity WHERE building_id = $building_id
    AND created_at < $before ORDER BY created_at, id LIMIT $limit:int)

-- name: activity_purge_kinds
-- Deletes what no entry says any more.
DELETE FROM activity_kind WHERE building_id = $building_id:id AND NOT EXISTS
    (SELECT 1 FROM activity a {by activity_of_kind} WHERE a.building_id = $building_id AND a.kind = activity_kind.kind)
