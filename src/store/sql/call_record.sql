-- The records of calls. IDs ascend with the start of the call.

-- columns: call_record
building_id, id, account_id, started_at, ended_at, front_end, source, dialled, caller, outcome, reason, grant_id,
    resident_opened, ended_by

-- name: call_record_write
-- The start of a call, and later its end; nothing if the building was deleted meanwhile.
INSERT INTO call_record (building_id, id, account_id, started_at, ended_at, front_end, source, dialled, caller, outcome,
    reason, grant_id, resident_opened, ended_by, steps, minutes)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16 WHERE EXISTS (SELECT 1 FROM building b WHERE b.id = $1)
ON CONFLICT (building_id, id) DO UPDATE SET ended_at = excluded.ended_at, outcome = excluded.outcome,
    reason = excluded.reason, grant_id = excluded.grant_id, resident_opened = excluded.resident_opened,
    ended_by = excluded.ended_by, steps = excluded.steps, minutes = excluded.minutes

-- name: call_record_minutes
-- The minutes of the account's calls that started after $2, and one for each code that was sent to a phone since then if
-- $4 is 1. A time after $3, ahead of the clock, is void.
SELECT CAST(coalesce(sum(minutes), 0) AS BIGINT) AS minutes FROM
    (SELECT minutes FROM call_record
     WHERE account_id = $1 AND started_at > $2 AND started_at <= $3 AND minutes > 0
     UNION ALL
     SELECT 1 FROM phone_code
     WHERE account_id = $1 AND created_at > $2 AND created_at <= $3 AND CAST($4 AS BIGINT) = 1) AS taken

-- name: call_record_minutes_mailed
-- $3: a day before $2. A time that is ahead of the clock is void. An account that is being deleted has no address.
UPDATE account SET minutes_mailed_at = $2 WHERE id = $1 AND email <> id AND
    (minutes_mailed_at IS NULL OR minutes_mailed_at <= $3 OR minutes_mailed_at > $2)

-- name: call_record_append
-- Adds line $3 to the steps of a call that has ended.
UPDATE call_record SET steps = steps || CAST($3 AS TEXT) WHERE building_id = $1 AND id = $2 AND ended_at IS NOT NULL

-- name: call_record_append_once
-- The same, unless a line has $4 or the steps are full.
UPDATE call_record SET steps = steps || CAST($3 AS TEXT) WHERE building_id = $1 AND id = $2 AND ended_at IS NOT NULL
    AND length(steps) < 8000 AND steps NOT LIKE '%' || CAST($4 AS TEXT) || '%'

-- name: call_record_get
SELECT {call_record}, steps,
    (SELECT m.seconds FROM call_message m WHERE m.building_id = call_record.building_id AND m.call_id = call_record.id) AS message_seconds
FROM call_record WHERE building_id = $1 AND id = $2

-- name: call_record_find
-- Of any building.
SELECT {call_record}, steps,
    (SELECT m.seconds FROM call_message m WHERE m.building_id = call_record.building_id AND m.call_id = call_record.id) AS message_seconds
FROM call_record {by call_record_id} WHERE id = $1

-- Lists, newest first: IDs below $1 and not below $2, started from $3 to $4; $5 an outcome, or NULL; $6 a number that
-- was dialled or called, or NULL; at most $7 rows.

-- name: call_record_list
-- Of building $8.
SELECT {call_record},
    (SELECT m.seconds FROM call_message m WHERE m.building_id = call_record.building_id AND m.call_id = call_record.id) AS message_seconds
FROM call_record
WHERE building_id = $8 AND id < $1 AND id >= $2 AND started_at >= $3 AND started_at <= $4
    AND (CAST($5 AS TEXT) IS NULL OR outcome = $5) AND (CAST($6 AS TEXT) IS NULL OR dialled = $6 OR caller = $6)
ORDER BY id DESC LIMIT $7

-- name: call_record_list_all
-- Of all buildings.
SELECT {call_record},
    (SELECT m.seconds FROM call_message m WHERE m.building_id = call_record.building_id AND m.call_id = call_record.id) AS message_seconds
FROM call_record {by call_record_id}
WHERE id < $1 AND id >= $2 AND started_at >= $3 AND started_at <= $4
    AND (CAST($5 AS TEXT) IS NULL OR outcome = $5) AND (CAST($6 AS TEXT) IS NULL OR dialled = $6 OR caller = $6)
ORDER BY id DESC LIMIT $7

-- columns: call_record_last
id

-- name: call_record_last
-- The $2th ID below $1 of building $3; no row if there are fewer.
SELECT {call_record_last} FROM call_record WHERE building_id = $3 AND id < $1
ORDER BY id DESC LIMIT 1 OFFSET CAST($2 AS BIGINT) - 1

-- name: call_record_last_all
SELECT {call_record_last} FROM call_record {by call_record_id} WHERE id < $1
ORDER BY id DESC LIMIT 1 OFFSET CAST($2 AS BIGINT) - 1

-- name: call_record_purge
DELETE FROM call_record WHERE (building_id, id) IN
    (SELECT building_id, id FROM
        (SELECT building_id, id FROM call_record {by call_record_id} WHERE id < $1 ORDER BY id LIMIT 1000) AS old
     LIMIT $2)

-- columns: call_record_open
building_id, id, caller, outcome, started_at

-- name: call_record_open
-- At most $2 calls in progress whose process has ended: it is no node, but was one, or the call began before $1. The IDs
-- of a process have the same middle, unless its clock was set back (base/id.h). Calls of webhooks are in the store, and go on.
SELECT {call_record_open} FROM call_record {by call_record_open}
WHERE ended_at IS NULL AND front_end = 'sip'
    AND substr(id, 9, 10) NOT IN (SELECT substr(n.id, 9, 10) FROM node n WHERE n.ended_at IS NULL)
    AND (started_at < $1 OR substr(id, 9, 10) IN (SELECT substr(n.id, 9, 10) FROM node n WHERE n.ended_at IS NOT NULL))
ORDER BY id LIMIT $2

-- name: call_record_close
UPDATE call_record SET ended_at = $3, ended_by = $4 WHERE building_id = $1 AND id = $2 AND ended_at IS NULL
