-- The records of calls. IDs ascend with the start of the call.

-- columns: call_record
building_id, id, account_id, started_at, ended_at, front_end, source, dialled, caller, outcome, reason, grant_id,
    resident_opened, ended_by

-- name: call_record_write
-- The start of a call, and later its end.
INSERT INTO call_record (building_id, id, account_id, started_at, ended_at, front_end, source, dialled, caller, outcome,
    reason, grant_id, resident_opened, ended_by, steps)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
ON CONFLICT (building_id, id) DO UPDATE SET ended_at = excluded.ended_at, outcome = excluded.outcome,
    reason = excluded.reason, grant_id = excluded.grant_id, resident_opened = excluded.resident_opened,
    ended_by = excluded.ended_by, steps = excluded.steps

-- name: call_record_get
SELECT {call_record}, steps FROM call_record WHERE building_id = $1 AND id = $2

-- name: call_record_find
-- Of any building.
SELECT {call_record}, steps FROM call_record {by call_record_id} WHERE id = $1

-- Lists, newest first: IDs below $2 and not below $3, started from $4 to $5; $6 an outcome, or NULL; at most $7 rows.

-- name: call_record_list
SELECT {call_record} FROM call_record
WHERE building_id = $1 AND id < $2 AND id >= $3 AND started_at >= $4 AND started_at <= $5
    AND (CAST($6 AS TEXT) IS NULL OR outcome = $6)
ORDER BY id DESC LIMIT $7

-- name: call_record_list_all
-- The same for all buildings; $1 a number that was dialled or called, or NULL.
SELECT {call_record} FROM call_record {by call_record_id}
WHERE (CAST($1 AS TEXT) IS NULL OR dialled = $1 OR caller = $1)
    AND id < $2 AND id >= $3 AND started_at >= $4 AND started_at <= $5
    AND (CAST($6 AS TEXT) IS NULL OR outcome = $6)
ORDER BY id DESC LIMIT $7

-- columns: call_record_last
id

-- name: call_record_last
-- The $3th ID of a building below $2; no row if there are fewer.
SELECT {call_record_last} FROM call_record WHERE building_id = $1 AND id < $2
ORDER BY id DESC LIMIT 1 OFFSET CAST($3 AS BIGINT) - 1

-- name: call_record_last_all
SELECT {call_record_last} FROM call_record {by call_record_id} WHERE id < $1
ORDER BY id DESC LIMIT 1 OFFSET CAST($2 AS BIGINT) - 1

-- name: call_record_purge
DELETE FROM call_record WHERE (building_id, id) IN
    (SELECT building_id, id FROM call_record {by call_record_id} WHERE id < $1 ORDER BY id LIMIT $2)
