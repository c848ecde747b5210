-- Decisions at the door.

-- columns: door
b.account_id:id, b.id:id, b.label:text, b.virtual_number:text, b.unlock_tone:text, b.greeting_welcome:text, b.greeting_granted:text,
    b.greeting_denied:text,
    b.greeting_forwarding:text, b.greeting_message:text, b.forward_phone:text, a.subscription_status:text, a.phone:text,
    (SELECT r.id FROM recording r WHERE r.building_id = b.id AND r.which = 0) AS recorded_welcome:id,
    (SELECT r.id FROM recording r WHERE r.building_id = b.id AND r.which = 1) AS recorded_granted:id,
    (SELECT r.id FROM recording r WHERE r.building_id = b.id AND r.which = 2) AS recorded_denied:id,
    (SELECT r.id FROM recording r WHERE r.building_id = b.id AND r.which = 3) AS recorded_forwarding:id,
    (SELECT r.id FROM recording r WHERE r.building_id = b.id AND r.which = 4) AS recorded_message:id,
    {release b}, {ring b}, {callers b}, b.say_opening:bool?, k.released_at:time, g.failed_1:time, g.failed_2:time, g.failed_3:time,
    g.failed_4:time, g.closed_until:time,
    g.closings:int, g.mailed_at:time,
    g.failed_day:text,
    CASE WHEN EXISTS (SELECT 1 FROM push p WHERE p.building_id = b.id) THEN 2
        WHEN EXISTS (SELECT 1 FROM notice_mail m WHERE m.building_id = b.id)
            OR EXISTS (SELECT 1 FROM member m WHERE m.building_id = b.id AND m.mail_notices <> 0) THEN 1 ELSE 0 END AS noticed:int,
    (SELECT count(*) FROM member m WHERE m.building_id = b.id AND m.phone_verified_at IS NOT NULL AND m.role = 0)
    AS members:int, a.quiet_from:int?, a.quiet_to:int?, b.timezone:text,
    (SELECT count(*) FROM member m WHERE m.building_id = b.id AND m.quiet_from IS NOT NULL) AS quiet_members:int

-- name: access_by_number
-- The building of a number; when the caller $caller last released the door; and the guard for callers of its group.
SELECT {door}
FROM building b JOIN account a ON a.id = b.account_id
    LEFT JOIN door_caller k ON k.building_id = b.id AND k.number = $caller:text
    LEFT JOIN door_guard g ON g.building_id = b.id AND g.known = CASE WHEN k.number IS NULL THEN 0 ELSE 1 END
WHERE b.virtual_number = $key:text

-- name: access_by_building
SELECT {door}
FROM building b JOIN account a ON a.id = b.account_id
    LEFT JOIN door_caller k ON k.building_id = b.id AND k.number = $caller:text
    LEFT JOIN door_guard g ON g.building_id = b.id AND g.known = CASE WHEN k.number IS NULL THEN 0 ELSE 1 END
WHERE b.id = $key:text

-- name: access_usable
-- The grants of the building of type $type that are usable at $now, oldest first.
SELECT id:idbytes, label:text, remaining_uses:int?, access_code:text, voice:bool, ends_at:time, {schedule}, windows:text
FROM access_grant {by access_grant_usable}
WHERE building = (SELECT number FROM grant_building WHERE id = $building_id:id) AND enabled = 1 AND revoked = 0
    AND (remaining_uses IS NULL OR remaining_uses > 0)
    AND type = $type:int AND ends_at > $now:time AND starts_at <= $now
UNION ALL
SELECT id, label, remaining_uses, access_code, voice, ends_at, {schedule}, windows
FROM pass {by pass_usable}
WHERE building_id = $building_id AND enabled = 1 AND revoked = 0 AND (remaining_uses IS NULL OR remaining_uses > 0)
    AND type = $type AND ends_at > $now AND starts_at <= $now
ORDER BY id

-- name: access_passcodes
-- The number of passcodes (type 1) that are usable at $now, in a window or not, and how many of them may be spoken; and
-- the lengths of the codes: bit n is set if one has n digits.
SELECT count(*) AS usable:int, CAST(coalesce(sum(voice), 0) AS BIGINT) AS spoken:int,
    coalesce(max(CASE length(access_code) WHEN 1 THEN 2 ELSE 0 END) + max(CASE length(access_code) WHEN 2 THEN 4 ELSE 0 END)
        + max(CASE length(access_code) WHEN 3 THEN 8 ELSE 0 END) + max(CASE length(access_code) WHEN 4 THEN 16 ELSE 0 END)
        + max(CASE length(access_code) WHEN 5 THEN 32 ELSE 0 END) + max(CASE length(access_code) WHEN 6 THEN 64 ELSE 0 END)
        + max(CASE length(access_code) WHEN 7 THEN 128 ELSE 0 END) + max(CASE length(access_code) WHEN 8 THEN 256 ELSE 0 END), 0) AS lengths:int
FROM (SELECT voice, access_code FROM access_grant {by access_grant_usable}
    WHERE building = (SELECT number FROM grant_building WHERE id = $building_id:id) AND enabled = 1 AND revoked = 0
        AND (remaining_uses IS NULL OR remaining_uses > 0) AND type = 1 AND ends_at > $now:time
    UNION ALL
    SELECT voice, access_code FROM pass {by pass_usable}
    WHERE building_id = $building_id AND enabled = 1 AND revoked = 0 AND (remaining_uses IS NULL OR remaining_uses > 0)
        AND type = 1 AND ends_at > $now AND starts_at <= $now) AS codes

-- name: access_newest
-- The newest $limit grants that are not revoked, usable or not.
SELECT {grant}
FROM access_grant
WHERE building = (SELECT number FROM grant_building WHERE id = $building_id:id) AND revoked = 0
UNION ALL
SELECT {grant} FROM pass WHERE building_id = $building_id AND revoked = 0
ORDER BY id DESC LIMIT $limit:int

-- name: access_newest (postgresql)
-- Its planner does not merge the two in the order of their IDs.
SELECT {grant} FROM (
    SELECT {grant}
    FROM access_grant
    WHERE building = (SELECT number FROM grant_building WHERE id = $building_id) AND revoked = 0
    ORDER BY id DESC LIMIT $limit) AS grants
UNION ALL
SELECT {grant} FROM (
    SELECT {grant} FROM pass WHERE building_id = $building_id AND revoked = 0
    ORDER BY id DESC LIMIT $limit) AS passes
ORDER BY id DESC LIMIT $limit

-- name: access_with_code
-- The newest passcode with code $access_code, usable or not; a revoked one only if there is no other.
SELECT {grant}
FROM access_grant {by access_grant_code}
WHERE building = (SELECT number FROM grant_building WHERE id = $building_id:id) AND access_code = $access_code:text
    AND enabled = 1 AND revoked = 0
UNION ALL
SELECT {grant} FROM access_grant {by access_grant_code_off}
WHERE building = (SELECT number FROM grant_building WHERE id = $building_id) AND access_code = $access_code
    AND enabled = 0 AND revoked = 0
UNION ALL
SELECT {grant} FROM pass {by pass_code}
WHERE building_id = $building_id AND access_code = $access_code AND enabled = 1 AND revoked = 0
UNION ALL
SELECT {grant} FROM pass {by pass_code_off}
WHERE building_id = $building_id AND access_code = $access_code AND enabled = 0 AND revoked = 0
UNION ALL
SELECT {grant} FROM access_grant {by access_grant_code_revoked}
WHERE building = (SELECT number FROM grant_building WHERE id = $building_id) AND access_code = $access_code AND revoked = 1
UNION ALL
SELECT {grant} FROM pass {by pass_code_revoked}
WHERE building_id = $building_id AND access_code = $access_code AND revoked = 1
ORDER BY revoked, id DESC LIMIT 1

-- name: access_count
-- The number of grants that are not revoked, counted up to $limit.
SELECT count(*) AS grants:int FROM (SELECT 1 FROM access_grant
    WHERE building = (SELECT number FROM grant_building WHERE id = $building_id:id)
    AND revoked = 0
    UNION ALL
    SELECT 1 FROM pass WHERE building_id = $building_id AND revoked = 0 LIMIT $limit:int) AS counted

-- name: access_take_use
UPDATE access_grant SET remaining_uses = remaining_uses - 1, used_at = $used_at:time
WHERE building = (SELECT number FROM grant_building WHERE id = $building_id:id) AND revoked = 0
    AND id = $id:idbytes AND enabled = 1 AND remaining_uses > 0

-- name: access_take_pass_use
UPDATE pass SET remaining_uses = remaining_uses - 1, used_at = $used_at:time
WHERE building_id = $building_id:id AND revoked = 0 AND id = $id:idbytes AND enabled = 1 AND remaining_uses > 0

-- name: access_released
UPDATE building SET last_buzz_at = $last_buzz_at:time,
    unlock_count = unlock_count + 1 WHERE account_id = $account_id:id AND id = $id:id

-- name: access_refused
UPDATE building SET unlock_count = unlock_count + 1 WHERE account_id = $account_id:id AND id = $id:id

-- name: access_caller_released
INSERT INTO door_caller (building_id, number, released_at) VALUES ($building_id:id, $number:text, $released_at:time)
ON CONFLICT (building_id, number) DO UPDATE SET released_at = excluded.released_at

-- name: access_callers
-- The $limit numbers that released the door last.
SELECT number:text FROM door_caller WHERE building_id = $building_id:id ORDER BY released_at DESC,
    number LIMIT $limit:int

-- name: access_caller_trim
-- Keeps the $keep callers that released the door last.
DELETE FROM door_caller WHERE building_id = $building_id:id AND released_at <
    (SELECT released_at FROM door_caller
    WHERE building_id = $building_id ORDER BY released_at DESC LIMIT 1 OFFSET $keep:int - 1)

-- The inner LIMIT, more than $limit ever is, tells PostgreSQL's planner that the rows are few. Without it, a plan for
-- unknown arguments expects a tenth of the table and reads all of it. So do the other statements that delete some rows.

-- name: access_caller_purge
DELETE FROM door_caller WHERE (building_id, number) IN
    (SELECT building_id, number FROM
        (SELECT building_id, number FROM door_caller
        WHERE released_at < $before:time ORDER BY released_at LIMIT 1000) AS old
     LIMIT $limit:int)

-- name: access_guard_write
INSERT INTO door_guard (building_id, known, failed_1, failed_2, failed_3, failed_4, closed_until, closings, mailed_at,
    failed_day)
VALUES ($building_id:id, $known:bool, $failed_1:time, $failed_2:time, $failed_3:time, $failed_4:time,
    $closed_until:time, $closings:int, $mailed_at:time, $failed_day:text)
ON CONFLICT (building_id, known) DO UPDATE SET failed_1 = excluded.failed_1, failed_2 = excluded.failed_2,
    failed_3 = excluded.failed_3, failed_4 = excluded.failed_4, closed_until = excluded.closed_until,
    closings = excluded.closings, mailed_at = excluded.mailed_at, failed_day = excluded.failed_day

-- name: access_guard_purge
DELETE FROM door_guard WHERE (building_id, known) IN
    (SELECT building_id, known FROM
        (SELECT building_id, known FROM door_guard WHERE failed_1 < $before:time ORDER BY failed_1 LIMIT 1000) AS old
     LIMIT $limit:int)
