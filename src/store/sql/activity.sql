-- The activity log, newest first: by time, and within a millisecond by ID, both descending.
-- A list has at most $6 entries, from the position ($2, $3) up to the position ($4, $5), which is excluded. They have
-- type $7, outcome $8 and name pattern $9; NULL means any.

-- columns: activity_kind
kind

-- name: activity_kind_get
SELECT {activity_kind} FROM activity_kind {by activity_kind_text}
WHERE building_id = $1 AND name = $2 AND type = $3 AND unlock_type = $4 AND succeeded = $5

-- name: activity_kind_insert
INSERT INTO activity_kind (building_id, name, type, unlock_type, succeeded, name_folded, kind)
VALUES ($1, $2, $3, $4, $5, $6,
    coalesce((SELECT kind FROM activity_kind WHERE building_id = $1 ORDER BY kind DESC LIMIT 1), 0) + 1)
RETURNING {activity_kind}

-- name: activity_insert
INSERT INTO activity (building_id, created_at, id, kind, unlock_id) VALUES ($1, $2, $3, $4, $5)

-- columns: activity
a.id, a.created_at, k.type, a.unlock_id, k.unlock_type, k.name, k.succeeded

-- name: activity_list (sqlite)
SELECT {activity}
FROM activity a CROSS JOIN activity_kind k
WHERE a.building_id = $1 AND (a.created_at, a.id) >= ($2, $3) AND (a.created_at, a.id) < ($4, $5)
    AND k.building_id = $1 AND k.kind = a.kind
    AND (CAST($7 AS TEXT) IS NULL OR k.type = $7)
    AND (CAST($8 AS BIGINT) IS NULL OR k.succeeded = $8)
    AND (CAST($9 AS TEXT) IS NULL OR k.name_folded LIKE $9 ESCAPE '!')
ORDER BY a.created_at DESC, a.id DESC LIMIT $6

-- name: activity_list (postgresql)
-- OFFSET 0 keeps the planner from joining all entries of a building before it sorts them.
SELECT {activity}
FROM activity a CROSS JOIN LATERAL (
    SELECT s.type, s.unlock_type, s.name, s.succeeded FROM activity_kind s
    WHERE s.building_id = $1 AND s.kind = a.kind
        AND (CAST($7 AS TEXT) IS NULL OR s.type = $7)
        AND (CAST($8 AS BIGINT) IS NULL OR s.succeeded = $8)
        AND (CAST($9 AS TEXT) IS NULL OR s.name_folded LIKE $9 ESCAPE '!')
    OFFSET 0) AS k
WHERE a.building_id = $1 AND (a.created_at, a.id) >= ($2, $3) AND (a.created_at, a.id) < ($4, $5)
ORDER BY a.created_at DESC, a.id DESC LIMIT $6

-- name: activity_list_unlock (sqlite)
-- The same for the entries of one grant, $10.
SELECT {activity}
FROM activity a {by activity_unlock} CROSS JOIN activity_kind k
WHERE a.building_id = $1 AND a.unlock_id = $10
    AND (a.created_at, a.id) >= ($2, $3) AND (a.created_at, a.id) < ($4, $5)
    AND k.building_id = $1 AND k.kind = a.kind
    AND (CAST($7 AS TEXT) IS NULL OR k.type = $7)
    AND (CAST($8 AS BIGINT) IS NULL OR k.succeeded = $8)
    AND (CAST($9 AS TEXT) IS NULL OR k.name_folded LIKE $9 ESCAPE '!')
ORDER BY a.created_at DESC, a.id DESC LIMIT $6

-- name: activity_list_unlock (postgresql)
SELECT {activity}
FROM activity a CROSS JOIN LATERAL (
    SELECT s.type, s.unlock_type, s.name, s.succeeded FROM activity_kind s
    WHERE s.building_id = $1 AND s.kind = a.kind
        AND (CAST($7 AS TEXT) IS NULL OR s.type = $7)
        AND (CAST($8 AS BIGINT) IS NULL OR s.succeeded = $8)
        AND (CAST($9 AS TEXT) IS NULL OR s.name_folded LIKE $9 ESCAPE '!')
    OFFSET 0) AS k
WHERE a.building_id = $1 AND a.unlock_id = $10
    AND (a.created_at, a.id) >= ($2, $3) AND (a.created_at, a.id) < ($4, $5)
ORDER BY a.created_at DESC, a.id DESC LIMIT $6

-- columns: activity_last
created_at, id

-- name: activity_last
-- The $6th entry of such a list with any type, outcome and name; no row if the list is shorter.
SELECT {activity_last} FROM activity
WHERE building_id = $1 AND (created_at, id) >= ($2, $3) AND (created_at, id) < ($4, $5)
ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET CAST($6 AS BIGINT) - 1

-- name: activity_last_unlock
-- The same for the entries of one grant, $7.
SELECT {activity_last} FROM activity {by activity_unlock}
WHERE building_id = $1 AND unlock_id = $7 AND (created_at, id) >= ($2, $3) AND (created_at, id) < ($4, $5)
ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET CAST($6 AS BIGINT) - 1

-- name: activity_kinds
-- The number of kinds of entries, and of those with type $3, outcome $4 and name pattern $5; counted up to $2.
SELECT count(*) AS kinds, CAST(coalesce(sum(CASE
    WHEN (CAST($3 AS TEXT) IS NULL OR k.type = $3)
        AND (CAST($4 AS BIGINT) IS NULL OR k.succeeded = $4)
        AND (CAST($5 AS TEXT) IS NULL OR k.name_folded LIKE $5 ESCAPE '!') THEN 1 ELSE 0 END), 0) AS BIGINT) AS matching
FROM (SELECT type, succeeded, name_folded FROM activity_kind WHERE building_id = $1 LIMIT $2) AS k

-- The list of activity_list, merged from the entries of matching kinds: it reads one entry of each kind, and the page.

-- name: activity_merge (sqlite)
-- The queue of this recursion is ordered: the newest entry leaves it and is replaced by the next older entry of its
-- kind.
WITH RECURSIVE newest (kind, created_at, id) AS (
    SELECT k.kind, a.created_at, a.id
    FROM activity_kind k CROSS JOIN activity a {by activity_of_kind}
    WHERE k.building_id = $1
        AND ($7 IS NULL OR k.type = $7)
        AND ($8 IS NULL OR k.succeeded = $8)
        AND ($9 IS NULL OR k.name_folded LIKE $9 ESCAPE '!')
        AND a.building_id = $1 AND a.kind = k.kind AND (a.created_at, a.id) = (
            SELECT x.created_at, x.id FROM activity x {by activity_of_kind}
            WHERE x.building_id = $1 AND x.kind = k.kind
                AND (x.created_at, x.id) >= ($2, $3) AND (x.created_at, x.id) < ($4, $5)
            ORDER BY x.created_at DESC, x.id DESC LIMIT 1)
    UNION ALL
    SELECT n.kind, a.created_at, a.id
    FROM newest n CROSS JOIN activity a {by activity_of_kind}
    WHERE a.building_id = $1 AND a.kind = n.kind AND (a.created_at, a.id) = (
            SELECT x.created_at, x.id FROM activity x {by activity_of_kind}
            WHERE x.building_id = $1 AND x.kind = n.kind
                AND (x.created_at, x.id) >= ($2, $3) AND (x.created_at, x.id) < (n.created_at, n.id)
            ORDER BY x.created_at DESC, x.id DESC LIMIT 1)
    ORDER BY 2 DESC, 3 DESC LIMIT $6
)
SELECT {activity}
FROM newest n CROSS JOIN activity a CROSS JOIN activity_kind k
WHERE a.building_id = $1 AND a.created_at = n.created_at AND a.id = n.id
    AND k.building_id = $1 AND k.kind = n.kind
ORDER BY a.created_at DESC, a.id DESC

-- name: activity_merge (postgresql)
-- A page has entries of at most $6 kinds, those with the newest entries.
SELECT {activity}
FROM (SELECT s.* FROM activity_kind s CROSS JOIN LATERAL (
          SELECT x.created_at, x.id FROM activity x
          WHERE x.building_id = $1 AND x.kind = s.kind
              AND (x.created_at, x.id) >= ($2, $3) AND (x.created_at, x.id) < ($4, $5)
          ORDER BY x.created_at DESC, x.id DESC LIMIT 1) AS newest
      WHERE s.building_id = $1
          AND (CAST($7 AS TEXT) IS NULL OR s.type = $7)
          AND (CAST($8 AS BIGINT) IS NULL OR s.succeeded = $8)
          AND (CAST($9 AS TEXT) IS NULL OR s.name_folded LIKE $9 ESCAPE '!')
      ORDER BY newest.created_at DESC, newest.id DESC LIMIT $6) AS k
CROSS JOIN LATERAL (
    SELECT x.created_at, x.id, x.unlock_id FROM activity x
    WHERE x.building_id = $1 AND x.kind = k.kind
        AND (x.created_at, x.id) >= ($2, $3) AND (x.created_at, x.id) < ($4, $5)
    ORDER BY x.created_at DESC, x.id DESC LIMIT $6) AS a
ORDER BY a.created_at DESC, a.id DESC LIMIT $6

-- name: activity_purge
-- Deletes the oldest entries of a building from before $2, at most $3.
DELETE FROM activity WHERE building_id = $1 AND created_at < $2 AND (created_at, id) IN
    (SELECT created_at, id FROM activity WHERE building_id = $1 AND created_at < $2 ORDER BY created_at, id LIMIT $3)

-- name: activity_purge_kinds
-- Deletes what no entry says any more.
DELETE FROM activity_kind WHERE building_id = $1 AND NOT EXISTS
    (SELECT 1 FROM activity a {by activity_of_kind} WHERE a.building_id = $1 AND a.kind = activity_kind.kind)
