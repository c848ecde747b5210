-- Buildings and their settings.

-- name: building_of
SELECT is_primary FROM building WHERE account_id = $1 AND id = $2

-- name: building_insert_primary
INSERT INTO building (account_id, id, created_at, is_primary, label) VALUES ($1, $2, $3, 1, $4)

-- columns: building
id, is_primary, label, street, city, state, zip, country, virtual_number, unlock_tone, last_buzz_at, timezone

-- name: building_get
SELECT {building}
FROM building WHERE account_id = $1 AND id = $2

-- name: building_list
SELECT {building}
FROM building WHERE account_id = $1
ORDER BY created_at, id

-- columns: release
release_length_ms, release_gap_ms, release_delay_ms, release_repeat, release_mode, release_before_greeting

-- columns: ring
ring_numbers, ring_strategy, ring_seconds, ring_accept, ring_message

-- columns: callers
callers_mode, callers_numbers, callers_others

-- name: building_settings
SELECT b.virtual_number, b.unlock_tone, b.greeting_welcome, b.greeting_granted, b.greeting_denied,
    b.greeting_forwarding, b.settings_version, b.timezone, {release b}, {ring b}, {callers b}, coalesce(b.forward_phone, a.phone) AS phone,
    b.forward_phone
FROM building b JOIN account a ON a.id = b.account_id
WHERE b.account_id = $1 AND b.id = $2

-- name: building_settings_put
UPDATE building SET unlock_tone = $4, greeting_welcome = $5, greeting_granted = $6, greeting_denied = $7,
    greeting_forwarding = $8, settings_version = settings_version + 1,
    release_length_ms = coalesce($9, release_length_ms), release_gap_ms = coalesce($10, release_gap_ms),
    release_delay_ms = coalesce($11, release_delay_ms), release_repeat = coalesce($12, release_repeat),
    release_mode = coalesce($13, release_mode),
    release_before_greeting = coalesce($14, release_before_greeting),
    ring_numbers = coalesce($15, ring_numbers), ring_strategy = coalesce($16, ring_strategy),
    ring_seconds = coalesce($17, ring_seconds), ring_accept = coalesce($18, ring_accept),
    ring_message = coalesce($19, ring_message), timezone = coalesce($20, timezone),
    callers_mode = coalesce($21, callers_mode), callers_numbers = coalesce($22, callers_numbers),
    callers_others = coalesce($23, callers_others),
    forward_phone = CASE WHEN $24 = 1 THEN CAST($25 AS TEXT) ELSE forward_phone END
WHERE account_id = $1 AND id = $2 AND settings_version = $3

-- The building's number is another one from now on: nobody has tried it yet.

-- name: building_give_number
UPDATE building SET virtual_number = $3, last_buzz_at = NULL WHERE account_id = $1 AND id = $2

-- name: building_set_number
UPDATE building SET virtual_number = $3 WHERE account_id = $1 AND id = $2

-- name: building_for_number
SELECT account_id, virtual_number, country FROM building WHERE id = $1

-- name: building_delete
DELETE FROM building WHERE account_id = $1 AND id = $2

-- The $2 buildings without a number after the ID $1, whether their accounts have a subscription, and whether a job gets one.

-- name: building_waiting
SELECT b.id, CASE WHEN a.subscription_status <> 'none' THEN 1 ELSE 0 END AS entitled,
    CASE WHEN EXISTS (SELECT 1 FROM job j WHERE j.id = 'provision-' || b.id) THEN 1 ELSE 0 END AS expected
FROM building b {by building_waiting} JOIN account a ON a.id = b.account_id
WHERE b.virtual_number IS NULL AND b.id > $1 ORDER BY b.id LIMIT $2

-- name: building_walk
-- The $2 buildings after the ID $1, of any account.
SELECT id FROM building {by building_id} WHERE id > $1 ORDER BY id LIMIT $2
