-- Access grants. A grant is live (revoked = 0) or not; its status is derived from the columns when it is read.
-- $1 is the building's ID, except in grant_get. Grants have the number of their building (table grant_building), IDs of
-- 12 bytes, and types as in enum grant_type.

-- name: grant_insert
-- Inserts no row if the building has no number yet, or already has the request.
INSERT INTO access_grant (building, id, type, label, enabled, created_at, starts_at, ends_at, remaining_uses,
    max_uses, access_code, voice, days, start_minute, end_minute, timezone, request_id, request_key, request_hash,
    created_by, member_id)
SELECT number, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20
FROM grant_building WHERE id = $1
ON CONFLICT DO NOTHING

-- name: grant_building_add (sqlite)
-- The next number: small ones take less space.
INSERT INTO grant_building (id, number) SELECT $1, coalesce(max(number), 0) + 1 FROM grant_building WHERE true
ON CONFLICT DO NOTHING

-- name: grant_building_add (postgresql)
-- A random number of 53 bits: of transactions that take the next one at the same time only one could commit.
INSERT INTO grant_building (id, number) VALUES ($1, 1 + CAST(floor(random() * 9007199254740992) AS BIGINT))
ON CONFLICT DO NOTHING

-- columns: schedule
days, start_minute, end_minute, timezone

-- columns: grant
id, revoked, type, label, enabled, version, created_at, updated_at, starts_at, ends_at, remaining_uses,
    max_uses, access_code, voice, {schedule}, request_id, created_by

-- name: grant_get (sqlite)
-- $1 is the building's number. IN would make SQLite fill a temporary set for each call.
SELECT {grant} FROM access_grant WHERE building = $1 AND revoked = 0 AND id = $2
UNION ALL
SELECT {grant} FROM access_grant WHERE building = $1 AND revoked = 1 AND id = $2

-- name: grant_get (postgresql)
SELECT {grant} FROM access_grant WHERE building = $1 AND revoked IN (0, 1) AND id = $2

-- name: grant_find (sqlite)
SELECT {grant} FROM access_grant WHERE building = (SELECT number FROM grant_building WHERE id = $1) AND revoked = 0 AND id = $2
UNION ALL
SELECT {grant} FROM access_grant WHERE building = (SELECT number FROM grant_building WHERE id = $1) AND revoked = 1 AND id = $2

-- name: grant_find (postgresql)
SELECT {grant} FROM access_grant WHERE building = (SELECT number FROM grant_building WHERE id = $1) AND revoked IN (0, 1) AND id = $2

-- name: grant_by_request
SELECT {grant}, request_hash
FROM access_grant WHERE building = (SELECT number FROM grant_building WHERE id = $1) AND request_key = $2

-- name: grant_update
UPDATE access_grant SET label = $4, enabled = $5, starts_at = $6, ends_at = $7, remaining_uses = $8, access_code = $9,
    voice = $10, days = $11, start_minute = $12, end_minute = $13, timezone = $14, updated_at = $15,
    max_uses = $16, version = version + 1
WHERE building = (SELECT number FROM grant_building WHERE id = $1) AND revoked = 0 AND id = $2 AND version = $3

-- name: grant_revoke
UPDATE access_grant SET revoked = 1, version = version + 1, updated_at = $3
WHERE building = (SELECT number FROM grant_building WHERE id = $1) AND revoked = 0 AND id = $2
RETURNING enabled, type, label

-- A code belongs to a passcode that can open at $4, or will without a change.

-- name: grant_made_by
-- Grants of account $1 that member $2, or a key that was revoked at $3, made, and that can open then, or will without a change; at most $4.
SELECT n.id AS building_id, g.id FROM building b JOIN grant_building n ON n.id = b.id
    JOIN access_grant g {by access_grant_usable} ON g.building = n.number
WHERE b.account_id = $1 AND g.enabled = 1 AND g.revoked = 0 AND (g.remaining_uses IS NULL OR g.remaining_uses > 0) AND g.ends_at > $3
    AND (g.member_id = $2 OR lower(hex(g.created_by)) IN (SELECT k.id FROM api_key k WHERE k.account_id = $1 AND k.revoked_at = $3))
LIMIT $4

-- name: grant_made_by (postgresql)
SELECT n.id AS building_id, g.id FROM building b JOIN grant_building n ON n.id = b.id
    JOIN access_grant g ON g.building = n.number
WHERE b.account_id = $1 AND g.enabled = 1 AND g.revoked = 0 AND (g.remaining_uses IS NULL OR g.remaining_uses > 0) AND g.ends_at > $3
    AND (g.member_id = $2 OR encode(g.created_by, 'hex') IN (SELECT k.id FROM api_key k WHERE k.account_id = $1 AND k.revoked_at = $3))
LIMIT $4

-- name: grant_code_taken
SELECT 1 FROM access_grant {by access_grant_code}
WHERE building = (SELECT number FROM grant_building WHERE id = $1) AND access_code = $2 AND enabled = 1 AND revoked = 0 AND id <> $3
    AND ends_at > $4 AND (remaining_uses IS NULL OR remaining_uses > 0)

-- name: grant_codes
SELECT access_code FROM access_grant {by access_grant_code}
WHERE building = (SELECT number FROM grant_building WHERE id = $1) AND access_code IS NOT NULL AND enabled = 1 AND revoked = 0
    AND ends_at > $2 AND (remaining_uses IS NULL OR remaining_uses > 0)

-- name: grant_code_release
-- Switches off the passcode that has code $2 and cannot open any more, unless $3 is its ID or $4 its request.
UPDATE access_grant {by access_grant_code} SET enabled = 0, version = version + 1, updated_at = $5
WHERE building = (SELECT number FROM grant_building WHERE id = $1) AND access_code = $2 AND enabled = 1 AND revoked = 0 AND id <> $3
    AND (request_key IS NULL OR request_key <> $4) AND (ends_at <= $5 OR remaining_uses = 0)

-- name: grant_building_paid
SELECT a.subscription_status FROM building b JOIN account a ON a.id = b.account_id WHERE b.id = $1

-- The number of enabled, live grants of each building; changed by $2 together with the grant.

-- name: grant_count_add
INSERT INTO grant_count (building, enabled) SELECT number, $2 FROM grant_building WHERE id = $1
ON CONFLICT (building) DO UPDATE SET enabled = grant_count.enabled + excluded.enabled

-- Lists, newest first: IDs below $2 and not below $3; $4 a type or NULL; at most $5 rows.

-- name: grant_list
-- $6 minimum of enabled, $7 minimum of uses left, ends after $8 and not after $9, starts after $10 and not after $11.
SELECT {grant}
FROM access_grant
WHERE building = (SELECT number FROM grant_building WHERE id = $1) AND revoked = 0 AND id < $2 AND id >= $3
    AND (CAST($4 AS BIGINT) IS NULL OR type = $4) AND enabled >= $6 AND coalesce(remaining_uses, 1) >= $7
    AND ends_at > $8 AND ends_at <= $9 AND starts_at > $10 AND starts_at <= $11
ORDER BY id DESC LIMIT $5

-- name: grant_list_usable (sqlite)
-- Active or scheduled grants: enabled, with uses left, ending after $8, and starting after $10 but not after $11. They
-- are few (grant_usable_many), so their IDs are sorted, from the index alone.
SELECT {grant}
FROM access_grant
WHERE building = (SELECT number FROM grant_building WHERE id = $1) AND revoked = 0 AND id IN (
    SELECT id FROM access_grant {by access_grant_usable}
    WHERE building = (SELECT number FROM grant_building WHERE id = $1) AND enabled = 1 AND revoked = 0
        AND (remaining_uses IS NULL OR remaining_uses > 0)
        AND type IN (0, 1, 2) AND (CAST($4 AS BIGINT) IS NULL OR type = $4)
        AND ends_at > $8 AND starts_at > $10 AND starts_at <= $11 AND id < $2 AND id >= $3
    ORDER BY id DESC LIMIT $5)
    AND enabled >= $6 AND coalesce(remaining_uses, 1) >= $7 AND ends_at <= $9
ORDER BY id DESC

-- name: grant_list_usable (postgresql)
-- OFFSET 0 keeps the planner from reading all grants of the building in the order of their IDs.
SELECT {grant}
FROM access_grant
WHERE building = (SELECT number FROM grant_building WHERE id = $1) AND revoked = 0 AND id IN (
    SELECT id FROM (
        SELECT id FROM access_grant
        WHERE building = (SELECT number FROM grant_building WHERE id = $1) AND enabled = 1 AND revoked = 0
            AND (remaining_uses IS NULL OR remaining_uses > 0)
            AND type IN (0, 1, 2) AND (CAST($4 AS BIGINT) IS NULL OR type = $4)
            AND ends_at > $8 AND starts_at > $10 AND starts_at <= $11
        OFFSET 0) AS usable
    WHERE id < $2 AND id >= $3
    ORDER BY id DESC LIMIT $5)
    AND enabled >= $6 AND coalesce(remaining_uses, 1) >= $7 AND ends_at <= $9
ORDER BY id DESC

-- name: grant_list_exhausted
SELECT {grant}
FROM access_grant {by access_grant_exhausted}
WHERE building = (SELECT number FROM grant_building WHERE id = $1) AND enabled = 1 AND revoked = 0 AND remaining_uses = 0
    AND id < $2 AND id >= $3 AND (CAST($4 AS BIGINT) IS NULL OR type = $4)
ORDER BY id DESC LIMIT $5

-- name: grant_list_disabled
SELECT {grant}
FROM access_grant {by access_grant_disabled}
WHERE building = (SELECT number FROM grant_building WHERE id = $1) AND enabled = 0 AND revoked = 0 AND id < $2 AND id >= $3
    AND (CAST($4 AS BIGINT) IS NULL OR type = $4)
ORDER BY id DESC LIMIT $5

-- The last ID that a list may read: the $3th ID below $2 of any type; no row if there are fewer.

-- columns: grant_last
id

-- name: grant_last
SELECT {grant_last} FROM access_grant WHERE building = (SELECT number FROM grant_building WHERE id = $1) AND revoked = 0 AND id < $2
ORDER BY id DESC LIMIT 1 OFFSET CAST($3 AS BIGINT) - 1

-- name: grant_last_exhausted
SELECT {grant_last} FROM access_grant {by access_grant_exhausted}
WHERE building = (SELECT number FROM grant_building WHERE id = $1) AND enabled = 1 AND revoked = 0 AND remaining_uses = 0 AND id < $2
ORDER BY id DESC LIMIT 1 OFFSET CAST($3 AS BIGINT) - 1

-- name: grant_last_disabled
SELECT {grant_last} FROM access_grant {by access_grant_disabled}
WHERE building = (SELECT number FROM grant_building WHERE id = $1) AND enabled = 0 AND revoked = 0 AND id < $2
ORDER BY id DESC LIMIT 1 OFFSET CAST($3 AS BIGINT) - 1

-- name: grant_usable_many
-- Returns a row if more than $3 grants are enabled, have uses left and end after $2.
SELECT 1 FROM access_grant {by access_grant_usable}
WHERE building = (SELECT number FROM grant_building WHERE id = $1) AND enabled = 1 AND revoked = 0 AND (remaining_uses IS NULL OR remaining_uses > 0)
    AND type IN (0, 1, 2) AND ends_at > $2
LIMIT 1 OFFSET $3
