-- Access grants. A grant is live (revoked = 0) or not; its status is derived from the columns when it is read.
-- $building_id is the building's ID. Grants have the number of their building (table grant_building), IDs of 12 bytes, and
-- types as in enum grant_type. Passes are in a table of their own, with the same columns. Statements that read grants
-- read both; statements named pass_ write a pass as the others write a grant.

-- name: grant_insert
-- Inserts no row if the building has no number yet, or already has the request.
INSERT INTO access_grant (building, id, type, label, enabled, created_at, starts_at, ends_at, remaining_uses,
    max_uses, access_code, voice, days, start_minute, end_minute, timezone, request_id, request_key, request_hash,
    created_by, member_id)
SELECT number, $id:idbytes, $type:int, $label:text, $enabled:bool, $created_at:time, $starts_at:time, $ends_at:time,
    $remaining_uses:int?, $remaining_uses, $access_code:text, $voice:bool, $days:int?, $start_minute:int?,
    $end_minute:int?, $timezone:text, $request_id:text, $request_key:int, $request_hash:blob, $created_by:idbytes,
    $member_id:idbytes
FROM grant_building WHERE id = $building_id:id
ON CONFLICT DO NOTHING

-- name: grant_building_add (sqlite)
-- The next number: small ones take less space.
INSERT INTO grant_building (id, number) SELECT $id:id, coalesce(max(number), 0) + 1 FROM grant_building WHERE true
ON CONFLICT DO NOTHING

-- name: grant_building_add (postgresql)
-- A random number of 53 bits: of transactions that take the next one at the same time only one could commit.
INSERT INTO grant_building (id, number) VALUES ($id, 1 + CAST(floor(random() * 9007199254740992) AS BIGINT))
ON CONFLICT DO NOTHING

-- part: in_building
building = (SELECT number FROM grant_building WHERE id = $building_id:id)

-- columns: schedule
days:int, start_minute:int, end_minute:int, timezone:text

-- columns: grant
id:idbytes, revoked:bool, type:int, label:text, enabled:bool, version:int, created_at:time, updated_at:time?,
    starts_at:time, ends_at:time, remaining_uses:int?,
    max_uses:int?, access_code:text, voice:bool, {schedule}, request_id:text, created_by:idbytes, member_id:idbytes, windows:text, note:text

-- columns: receipt
{grant}, request_hash:blob

-- columns: ended
enabled:bool, type:int, label:text

-- name: grant_get (sqlite)
-- $building is the building's number. IN would make SQLite fill a temporary set for each call.
SELECT {grant} FROM access_grant WHERE building = $building:int AND revoked = 0 AND id = $id:idbytes
UNION ALL
SELECT {grant} FROM access_grant WHERE building = $building AND revoked = 1 AND id = $id
UNION ALL
SELECT {grant} FROM pass WHERE building_id = $building_id:id AND revoked = 0 AND id = $id
UNION ALL
SELECT {grant} FROM pass WHERE building_id = $building_id AND revoked = 1 AND id = $id

-- name: grant_get (postgresql)
SELECT {grant} FROM access_grant WHERE building = $building AND revoked IN (0, 1) AND id = $id
UNION ALL
SELECT {grant} FROM pass WHERE building_id = $building_id AND revoked IN (0, 1) AND id = $id

-- name: grant_find (sqlite)
SELECT {grant} FROM access_grant WHERE {in_building}
    AND revoked = 0 AND id = $id:idbytes
UNION ALL
SELECT {grant} FROM access_grant WHERE {in_building}
    AND revoked = 1 AND id = $id
UNION ALL
SELECT {grant} FROM pass WHERE building_id = $building_id AND revoked = 0 AND id = $id
UNION ALL
SELECT {grant} FROM pass WHERE building_id = $building_id AND revoked = 1 AND id = $id

-- name: grant_find (postgresql)
SELECT {grant} FROM access_grant WHERE {in_building}
    AND revoked IN (0, 1) AND id = $id
UNION ALL
SELECT {grant} FROM pass WHERE building_id = $building_id AND revoked IN (0, 1) AND id = $id

-- name: grant_by_request
SELECT {receipt}
FROM access_grant WHERE {in_building}
    AND request_key = $request_key:int

-- name: pass_by_request
SELECT {receipt}
FROM pass WHERE building_id = $building_id:id AND request_key = $request_key:int

-- name: grant_update
UPDATE access_grant SET label = $label:text, enabled = $enabled:bool, starts_at = $starts_at:time,
    ends_at = $ends_at:time, remaining_uses = $remaining_uses:int?, access_code = $access_code:text,
    voice = $voice:bool, days = $days:int?, start_minute = $start_minute:int?, end_minute = $end_minute:int?,
    timezone = $timezone:text, updated_at = $updated_at:time,
    max_uses = $max_uses:int?, version = version + 1
WHERE {in_building} AND revoked = 0
    AND id = $id:idbytes AND version = $version:int

-- name: grant_revoke
UPDATE access_grant SET revoked = 1, version = version + 1, updated_at = $updated_at:time
WHERE {in_building} AND revoked = 0 AND id = $id:idbytes
RETURNING {ended}

-- part: end
-- When a grant ended, or will: the expression of the indexes access_grant_ended and pass_ended.
(CASE WHEN revoked = 1 THEN coalesce(updated_at, created_at)
    WHEN remaining_uses = 0 THEN coalesce(used_at, updated_at, created_at) ELSE ends_at END)

-- name: grant_forget
-- Takes label and code from grants that ended before $before, at most $limit and 200: by a number, PostgreSQL knows that
-- these are few. The receipt of the request stays.
UPDATE access_grant SET label = '', access_code = NULL, note = NULL, version = version + 1
FROM (SELECT * FROM (SELECT building AS of_building, revoked AS was_revoked, id AS of_id FROM access_grant {by access_grant_ended}
    WHERE label <> '' AND {end} < $before:time
    ORDER BY {end} LIMIT $limit:int) AS old LIMIT 200) AS old
WHERE access_grant.building = of_building AND access_grant.revoked = was_revoked AND access_grant.id = of_id

-- name: pass_forget
UPDATE pass SET label = '', access_code = NULL, note = NULL, version = version + 1
FROM (SELECT * FROM (SELECT building_id AS of_building, revoked AS was_revoked, id AS of_id FROM pass {by pass_ended}
    WHERE label <> '' AND {end} < $before:time
    ORDER BY {end} LIMIT $limit:int) AS old LIMIT 200) AS old
WHERE pass.building_id = of_building AND pass.revoked = was_revoked AND pass.id = of_id

-- name: grant_erase
-- Takes label and code from a revoked grant.
UPDATE access_grant SET label = '', access_code = NULL, note = NULL, version = version + 1
WHERE building = (SELECT number FROM grant_building WHERE id = $building_id:id) AND revoked = 1 AND id = $id:idbytes
    AND label <> ''

-- name: pass_erase
UPDATE pass SET label = '', access_code = NULL, note = NULL, version = version + 1
WHERE building_id = $building_id:id AND revoked = 1 AND id = $id:idbytes AND label <> ''

-- name: pass_insert
-- Inserts no row if the building has the request already.
INSERT INTO pass (building_id, id, type, label, enabled, created_at, starts_at, ends_at, remaining_uses, max_uses,
    access_code, voice, timezone, windows, note, request_id, request_key, request_hash, created_by, member_id)
VALUES ($building_id:id, $id:idbytes, $type:int, $label:text, $enabled:bool, $created_at:time, $starts_at:time,
    $ends_at:time, $remaining_uses:int?, $remaining_uses, $access_code:text, $voice:bool, $timezone:text, $windows:text,
    $note:text, $request_id:text, $request_key:int, $request_hash:blob, $created_by:idbytes, $member_id:idbytes)
ON CONFLICT DO NOTHING

-- name: pass_update
UPDATE pass SET type = $type:int, label = $label:text, enabled = $enabled:bool, starts_at = $starts_at:time,
    ends_at = $ends_at:time, remaining_uses = $remaining_uses:int?, access_code = $access_code:text,
    voice = $voice:bool, timezone = $timezone:text, windows = $windows:text, note = $note:text,
    updated_at = $updated_at:time, max_uses = $max_uses:int?, version = version + 1
WHERE building_id = $building_id:id AND revoked = 0 AND id = $id:idbytes AND version = $version:int

-- name: pass_revoke
UPDATE pass SET revoked = 1, version = version + 1, updated_at = $updated_at:time
WHERE building_id = $building_id:id AND revoked = 0 AND id = $id:idbytes
RETURNING {ended}

-- A code belongs to a passcode that can open at $now, or will without a change.

-- name: grant_made_by
-- Grants of account $account_id that member $member_id, or a key that was revoked at $now, made, and that can open
-- then, or will without a change; at most $limit.
SELECT n.id AS building_id:id, g.id:idbytes FROM building b JOIN grant_building n ON n.id = b.id
    JOIN access_grant g {by access_grant_usable} ON g.building = n.number
WHERE b.account_id = $account_id:id AND g.enabled = 1 AND g.revoked = 0
    AND (g.remaining_uses IS NULL OR g.remaining_uses > 0) AND g.ends_at > $now:time
    AND (g.member_id = $member_id:idbytes OR lower(hex(g.created_by)) IN (SELECT k.id FROM api_key k
    WHERE k.account_id = $account_id AND k.revoked_at = $now))
UNION ALL
SELECT p.building_id, p.id FROM building b JOIN pass p {by pass_usable} ON p.building_id = b.id
WHERE b.account_id = $account_id AND p.enabled = 1 AND p.revoked = 0
    AND (p.remaining_uses IS NULL OR p.remaining_uses > 0) AND p.ends_at > $now
    AND (p.member_id = $member_id OR lower(hex(p.created_by)) IN (SELECT k.id FROM api_key k
    WHERE k.account_id = $account_id AND k.revoked_at = $now))
LIMIT $limit:int

-- name: grant_made_by (postgresql)
SELECT n.id AS building_id:id, g.id:idbytes FROM building b JOIN grant_building n ON n.id = b.id
    JOIN access_grant g ON g.building = n.number
WHERE b.account_id = $account_id AND g.enabled = 1 AND g.revoked = 0
    AND (g.remaining_uses IS NULL OR g.remaining_uses > 0) AND g.ends_at > $now
    AND (g.member_id = $member_id OR encode(g.created_by,
    'hex') IN (SELECT k.id FROM api_key k WHERE k.account_id = $account_id AND k.revoked_at = $now))
UNION ALL
SELECT p.building_id, p.id FROM building b JOIN pass p ON p.building_id = b.id
WHERE b.account_id = $account_id AND p.enabled = 1 AND p.revoked = 0
    AND (p.remaining_uses IS NULL OR p.remaining_uses > 0) AND p.ends_at > $now
    AND (p.member_id = $member_id OR encode(p.created_by,
    'hex') IN (SELECT k.id FROM api_key k WHERE k.account_id = $account_id AND k.revoked_at = $now))
LIMIT $limit

-- name: grant_code_taken
SELECT 1 FROM access_grant {by access_grant_code}
WHERE {in_building}
    AND access_code = $access_code:text AND enabled = 1 AND revoked = 0 AND id <> $id:idbytes
    AND ends_at > $now:time AND (remaining_uses IS NULL OR remaining_uses > 0)
UNION ALL
SELECT 1 FROM pass {by pass_code}
WHERE building_id = $building_id AND access_code = $access_code AND enabled = 1 AND revoked = 0 AND id <> $id
    AND ends_at > $now AND (remaining_uses IS NULL OR remaining_uses > 0)

-- name: grant_codes
SELECT access_code:text FROM access_grant {by access_grant_code}
WHERE {in_building} AND access_code IS NOT NULL
    AND enabled = 1 AND revoked = 0
    AND ends_at > $now:time AND (remaining_uses IS NULL OR remaining_uses > 0)
UNION ALL
SELECT access_code FROM pass {by pass_code}
WHERE building_id = $building_id AND access_code IS NOT NULL AND enabled = 1 AND revoked = 0
    AND ends_at > $now AND (remaining_uses IS NULL OR remaining_uses > 0)

-- name: grant_codes_taken
-- How many codes of four digits passcodes (type 1) have.
SELECT count(DISTINCT access_code) AS taken:int FROM (
    SELECT access_code FROM access_grant {by access_grant_usable}
    WHERE {in_building} AND enabled = 1 AND revoked = 0
        AND (remaining_uses IS NULL OR remaining_uses > 0) AND type = 1 AND ends_at > $now:time
    UNION ALL
    SELECT access_code FROM pass {by pass_usable}
    WHERE building_id = $building_id AND enabled = 1 AND revoked = 0 AND (remaining_uses IS NULL OR remaining_uses > 0)
        AND type = 1 AND ends_at > $now) AS codes
WHERE length(access_code) = 4

-- name: grant_code_release
-- Switches off the passcode that has code $access_code and cannot open any more, unless $id is its ID or $request_key
-- its request.
UPDATE access_grant {by access_grant_code} SET enabled = 0, version = version + 1, updated_at = $updated_at:time
WHERE {in_building}
    AND access_code = $access_code:text AND enabled = 1 AND revoked = 0 AND id <> $id:idbytes
    AND (request_key IS NULL OR request_key <> $request_key:int) AND (ends_at <= $updated_at OR remaining_uses = 0)

-- name: grant_building_paid
SELECT a.subscription_status:text FROM building b JOIN account a ON a.id = b.account_id WHERE b.id = $id:id

-- The number of enabled, live grants of each building; changed by $change together with the grant.

-- name: grant_count_add
INSERT INTO grant_count (building, enabled) SELECT number, $change:int FROM grant_building WHERE id = $building_id:id
ON CONFLICT (building) DO UPDATE SET enabled = grant_count.enabled + excluded.enabled

-- Lists, newest first: IDs below $before and not below $first; $type a type or NULL; at most $limit rows. PostgreSQL's
-- planner does not merge grants and passes in the order of their IDs, so it reads $limit of both.

-- part: of_type
(CAST($type:int? AS BIGINT) IS NULL OR type = $type)

-- part: listed_grants
access_grant WHERE {in_building} AND revoked = 0 AND id < $before:blob

-- part: listed_passes
pass WHERE building_id = $building_id:id AND revoked = 0 AND id < $before:blob

-- part: in_ranges
{of_type} AND enabled >= $enabled_from:int AND coalesce(remaining_uses, 1) >= $uses_from:int
    AND ends_at > $ends_after:time AND ends_at <= $ends_until:time AND starts_at > $starts_after:time
    AND starts_at <= $starts_until:time

-- name: grant_list
-- At least $enabled_from and $uses_from; ends after $ends_after and not after $ends_until, starts after $starts_after
-- and not after $starts_until.
SELECT {grant} FROM {listed_grants} AND id >= $first:idbytes AND {in_ranges}
UNION ALL
SELECT {grant} FROM {listed_passes} AND id >= $first AND {in_ranges}
ORDER BY id DESC LIMIT $limit:int

-- name: grant_list (postgresql)
SELECT {grant} FROM (
    SELECT {grant} FROM {listed_grants} AND id >= $first AND {in_ranges} ORDER BY id DESC LIMIT $limit) AS grants
UNION ALL
SELECT {grant} FROM (
    SELECT {grant} FROM {listed_passes} AND id >= $first AND {in_ranges} ORDER BY id DESC LIMIT $limit) AS passes
ORDER BY id DESC LIMIT $limit

-- name: pass_list
-- Passes alone.
SELECT {grant} FROM {listed_passes} AND id >= $first:idbytes AND {of_type}
ORDER BY id DESC LIMIT $limit:int

-- part: usable_now
enabled = 1 AND revoked = 0 AND (remaining_uses IS NULL OR remaining_uses > 0) AND type IN (0, 1, 2) AND {of_type}
    AND ends_at > $ends_after:time AND starts_at > $starts_after:time AND starts_at <= $starts_until:time

-- part: of_usable
enabled >= $enabled_from:int AND coalesce(remaining_uses, 1) >= $uses_from:int AND ends_at <= $ends_until:time

-- name: grant_list_usable (sqlite)
-- Active or scheduled grants: enabled, with uses left, ending after $ends_after, and starting after $starts_after but
-- not after $starts_until. They are few (grant_usable_many), so their IDs are sorted, from the index alone.
SELECT {grant} FROM access_grant WHERE {in_building} AND revoked = 0 AND id IN (
    SELECT id FROM access_grant {by access_grant_usable} WHERE {in_building} AND {usable_now}
        AND id < $before:blob AND id >= $first:idbytes
    ORDER BY id DESC LIMIT $limit:int) AND {of_usable}
UNION ALL
SELECT {grant} FROM pass WHERE building_id = $building_id AND revoked = 0 AND id IN (
    SELECT id FROM pass {by pass_usable} WHERE building_id = $building_id AND {usable_now}
        AND id < $before AND id >= $first
    ORDER BY id DESC LIMIT $limit) AND {of_usable}
ORDER BY id DESC LIMIT $limit

-- name: grant_list_usable (postgresql)
-- OFFSET 0 keeps the planner from reading all grants of the building in the order of their IDs.
SELECT {grant} FROM access_grant WHERE {in_building} AND revoked = 0 AND id IN (
    SELECT id FROM (SELECT id FROM access_grant WHERE {in_building} AND {usable_now} OFFSET 0) AS usable
    WHERE id < $before AND id >= $first
    ORDER BY id DESC LIMIT $limit) AND {of_usable}
UNION ALL
SELECT {grant} FROM pass WHERE building_id = $building_id AND revoked = 0 AND id IN (
    SELECT id FROM (SELECT id FROM pass WHERE building_id = $building_id AND {usable_now} OFFSET 0) AS usable
    WHERE id < $before AND id >= $first
    ORDER BY id DESC LIMIT $limit) AND {of_usable}
ORDER BY id DESC LIMIT $limit

-- part: exhausted_grants
access_grant {by access_grant_exhausted} WHERE {in_building} AND enabled = 1 AND revoked = 0 AND remaining_uses = 0 AND id < $before:blob

-- part: exhausted_passes
pass {by pass_exhausted} WHERE building_id = $building_id:id AND enabled = 1 AND revoked = 0 AND remaining_uses = 0 AND id < $before:blob

-- name: grant_list_exhausted
SELECT {grant} FROM {exhausted_grants} AND id >= $first:idbytes AND {of_type}
UNION ALL
SELECT {grant} FROM {exhausted_passes} AND id >= $first AND {of_type}
ORDER BY id DESC LIMIT $limit:int

-- name: grant_list_exhausted (postgresql)
SELECT {grant} FROM (
    SELECT {grant} FROM {exhausted_grants} AND id >= $first AND {of_type} ORDER BY id DESC LIMIT $limit) AS grants
UNION ALL
SELECT {grant} FROM (
    SELECT {grant} FROM {exhausted_passes} AND id >= $first AND {of_type} ORDER BY id DESC LIMIT $limit) AS passes
ORDER BY id DESC LIMIT $limit

-- part: disabled_grants
access_grant {by access_grant_disabled} WHERE {in_building} AND enabled = 0 AND revoked = 0 AND id < $before:blob

-- part: disabled_passes
pass {by pass_disabled} WHERE building_id = $building_id:id AND enabled = 0 AND revoked = 0 AND id < $before:blob

-- name: grant_list_disabled
SELECT {grant} FROM {disabled_grants} AND id >= $first:idbytes AND {of_type}
UNION ALL
SELECT {grant} FROM {disabled_passes} AND id >= $first AND {of_type}
ORDER BY id DESC LIMIT $limit:int

-- name: grant_list_disabled (postgresql)
SELECT {grant} FROM (
    SELECT {grant} FROM {disabled_grants} AND id >= $first AND {of_type} ORDER BY id DESC LIMIT $limit) AS grants
UNION ALL
SELECT {grant} FROM (
    SELECT {grant} FROM {disabled_passes} AND id >= $first AND {of_type} ORDER BY id DESC LIMIT $limit) AS passes
ORDER BY id DESC LIMIT $limit

-- The last ID that a list may read: ID $most below $before of any type; no row if there are fewer.

-- columns: grant_last
id:idbytes

-- name: grant_last
SELECT {grant_last} FROM {listed_grants}
UNION ALL
SELECT {grant_last} FROM {listed_passes}
ORDER BY id DESC LIMIT 1 OFFSET CAST($most:int AS BIGINT) - 1

-- name: grant_last (postgresql)
SELECT {grant_last} FROM (
    SELECT {grant_last} FROM {listed_grants} ORDER BY id DESC LIMIT CAST($most AS BIGINT)) AS grants
UNION ALL
SELECT {grant_last} FROM (
    SELECT {grant_last} FROM {listed_passes} ORDER BY id DESC LIMIT CAST($most AS BIGINT)) AS passes
ORDER BY id DESC LIMIT 1 OFFSET CAST($most AS BIGINT) - 1

-- name: grant_last_exhausted
SELECT {grant_last} FROM {exhausted_grants}
UNION ALL
SELECT {grant_last} FROM {exhausted_passes}
ORDER BY id DESC LIMIT 1 OFFSET CAST($most:int AS BIGINT) - 1

-- name: grant_last_exhausted (postgresql)
SELECT {grant_last} FROM (
    SELECT {grant_last} FROM {exhausted_grants} ORDER BY id DESC LIMIT CAST($most AS BIGINT)) AS grants
UNION ALL
SELECT {grant_last} FROM (
    SELECT {grant_last} FROM {exhausted_passes} ORDER BY id DESC LIMIT CAST($most AS BIGINT)) AS passes
ORDER BY id DESC LIMIT 1 OFFSET CAST($most AS BIGINT) - 1

-- name: grant_last_disabled
SELECT {grant_last} FROM {disabled_grants}
UNION ALL
SELECT {grant_last} FROM {disabled_passes}
ORDER BY id DESC LIMIT 1 OFFSET CAST($most:int AS BIGINT) - 1

-- name: grant_last_disabled (postgresql)
SELECT {grant_last} FROM (
    SELECT {grant_last} FROM {disabled_grants} ORDER BY id DESC LIMIT CAST($most AS BIGINT)) AS grants
UNION ALL
SELECT {grant_last} FROM (
    SELECT {grant_last} FROM {disabled_passes} ORDER BY id DESC LIMIT CAST($most AS BIGINT)) AS passes
ORDER BY id DESC LIMIT 1 OFFSET CAST($most AS BIGINT) - 1

-- name: grant_usable_many
-- Returns a row if more than $most grants are enabled, have uses left and end after $ends_after.
SELECT 1 FROM access_grant {by access_grant_usable}
WHERE {in_building} AND enabled = 1 AND revoked = 0
    AND (remaining_uses IS NULL OR remaining_uses > 0)
    AND type IN (0, 1, 2) AND ends_at > $ends_after:time
UNION ALL
SELECT 1 FROM pass {by pass_usable}
WHERE building_id = $building_id AND enabled = 1 AND revoked = 0 AND (remaining_uses IS NULL OR remaining_uses > 0)
    AND type IN (0, 1, 2) AND ends_at > $ends_after
LIMIT 1 OFFSET $most:int
