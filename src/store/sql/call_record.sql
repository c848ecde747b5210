-- The records of calls. IDs ascend with the start of the call.

-- columns: call_record
building_id:id, id:id, account_id:id, started_at:time, ended_at:time?, front_end:text, source:text, dialled:text,
    caller:text, outcome:text, reason:text, grant_id:id,
    resident_opened:bool, ended_by:text

-- columns: call_record_listed
{call_record},
    (SELECT m.seconds FROM call_message m WHERE m.building_id = call_record.building_id
        AND m.call_id = call_record.id) AS message_seconds:int?

-- columns: call_record_whole
{call_record_listed}, steps:text

-- name: call_record_write
-- The start of a call, and later its end; nothing if the building was deleted meanwhile.
INSERT INTO call_record (building_id, id, account_id, started_at, ended_at, front_end, source, dialled, caller, outcome,
    reason, grant_id, resident_opened, ended_by, steps, minutes)
SELECT $building_id:id, $id:id, $account_id:id, $started_at:time, $ended_at:time?, $front_end:text, $source:text,
    $dialled:text, $caller:text, $outcome:text, $reason:text, $grant_id:id, $resident_opened:bool, $ended_by:text,
    $steps:text, $minutes:int WHERE EXISTS (SELECT 1 FROM building b WHERE b.id = $building_id)
ON CONFLICT (building_id, id) DO UPDATE SET ended_at = excluded.ended_at, outcome = excluded.outcome,
    reason = excluded.reason, grant_id = excluded.grant_id, resident_opened = excluded.resident_opened,
    ended_by = excluded.ended_by, steps = excluded.steps, minutes = excluded.minutes

-- name: call_record_minutes
-- The minutes of the account's calls that started after $after, and one for each code that was sent to a phone since
-- then if $codes is 1. A time after $until, ahead of the clock, is void.
SELECT CAST(coalesce(sum(minutes), 0) AS BIGINT) AS minutes:int FROM
    (SELECT minutes FROM call_record
     WHERE account_id = $account_id:id AND started_at > $after:time AND started_at <= $until:time AND minutes > 0
     UNION ALL
     SELECT 1 FROM phone_code
     WHERE account_id = $account_id AND created_at > $after AND created_at <= $until
     AND CAST($codes:bool AS BIGINT) = 1) AS taken

-- name: call_record_minutes_mailed
-- $mailed_before: a day before $minutes_mailed_at. A time that is ahead of the clock is void. An account that is being
-- deleted has no address.
UPDATE account SET minutes_mailed_at = $minutes_mailed_at:time WHERE id = $id:id AND email <> id AND
    (minutes_mailed_at IS NULL OR minutes_mailed_at <= $mailed_before:time OR minutes_mailed_at > $minutes_mailed_at)

-- name: call_record_append
-- Adds line $step to the steps of a call that has ended.
UPDATE call_record SET steps = steps || CAST($step:text AS TEXT) WHERE building_id = $building_id:id
    AND id = $id:id AND ended_at IS NOT NULL

-- name: call_record_append_once
-- The same, unless a line has $words or the steps are full.
UPDATE call_record SET steps = steps || CAST($step:text AS TEXT) WHERE building_id = $building_id:id
    AND id = $id:id AND ended_at IS NOT NULL
    AND length(steps) < 8000 AND steps NOT LIKE '%' || CAST($words:text AS TEXT) || '%'

-- name: call_record_get
SELECT {call_record_whole}
FROM call_record WHERE building_id = $building_id:id AND id = $id:id

-- name: call_record_find
-- Of any building.
SELECT {call_record_whole}
FROM call_record {by call_record_id} WHERE id = $id:id

-- Lists, newest first: IDs below $before and not below $first, started from $since to $until; $outcome an outcome, or
-- NULL; $number a number that was dialled or called, or NULL; at most $limit rows.

-- name: call_record_list
-- Of building $building_id.
SELECT {call_record_listed}
FROM call_record
WHERE building_id = $building_id:id AND id < $before:text AND id >= $first:text AND started_at >= $since:time
    AND started_at <= $until:time
    AND (CAST($outcome:text AS TEXT) IS NULL OR outcome = $outcome)
    AND (CAST($number:text AS TEXT) IS NULL OR dialled = $number OR caller = $number)
ORDER BY id DESC LIMIT $limit:int

-- name: call_record_list_all
-- Of all buildings.
SELECT {call_record_listed}
FROM call_record {by call_record_id}
WHERE id < $before:text AND id >= $first:text AND started_at >= $since:time AND started_at <= $until:time
    AND (CAST($outcome:text AS TEXT) IS NULL OR outcome = $outcome)
    AND (CAST($number:text AS TEXT) IS NULL OR dialled = $number OR caller = $number)
ORDER BY id DESC LIMIT $limit:int

-- columns: call_record_last
id:text

-- name: call_record_last
-- ID $most below $before of building $building_id; no row if there are fewer.
SELECT {call_record_last} FROM call_record WHERE building_id = $building_id:id AND id < $before:text
ORDER BY id DESC LIMIT 1 OFFSET CAST($most:int AS BIGINT) - 1

-- name: call_record_last_all
SELECT {call_record_last} FROM call_record {by call_record_id} WHERE id < $before:text
ORDER BY id DESC LIMIT 1 OFFSET CAST($most:int AS BIGINT) - 1

-- name: call_record_purge
DELETE FROM call_record WHERE (building_id, id) IN
    (SELECT building_id, id FROM
        (SELECT building_id, id FROM call_record {by call_record_id}
        WHERE id < $before:id ORDER BY id LIMIT 1000) AS old
     LIMIT $limit:int)

-- columns: call_record_open
building_id:id, id:id, caller:text, outcome:text, started_at:time

-- name: call_record_open
-- At most $limit calls in progress whose process has ended: it is no node, and a later one has its address, or the call
-- began before $before. A node that was only cut off is no node either, and its calls go on. The IDs of a process have
-- the same middle, unless its clock was set back (base/id.h). Calls of webhooks are in the store, and go on.
SELECT {call_record_open} FROM call_record {by call_record_open}
WHERE ended_at IS NULL AND front_end = 'sip'
    AND substr(id, 9, 10) NOT IN (SELECT substr(n.id, 9, 10) FROM node n WHERE n.ended_at IS NULL)
    AND (started_at < $before:time OR substr(id, 9, 10) IN
        (SELECT substr(n.id, 9, 10) FROM node n JOIN node later ON later.host = n.host AND later.address = n.address
         WHERE n.ended_at IS NOT NULL AND later.started_at > n.started_at
         AND substr(later.id, 9, 10) <> substr(n.id, 9, 10)))
ORDER BY id LIMIT $limit:int

-- name: call_record_close
UPDATE call_record SET ended_at = $ended_at:time,
    ended_by = $ended_by:text WHERE building_id = $building_id:id AND id = $id:id AND ended_at IS NULL
