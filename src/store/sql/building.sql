-- Buildings and their settings.

-- name: building_of
SELECT is_primary FROM building WHERE account_id = $1 AND id = $2

-- name: building_insert_primary
INSERT INTO building (account_id, id, created_at, is_primary, label) VALUES ($1, $2, $3, 1, $4)

-- columns: building
id, is_primary, label, street, city, state, zip, country, virtual_number, unlock_tone, last_buzz_at

-- name: building_get
SELECT {building}
FROM building WHERE account_id = $1 AND id = $2

-- name: building_list
SELECT {building}
FROM building WHERE account_id = $1
ORDER BY created_at, id

-- name: building_settings
SELECT virtual_number, unlock_tone, greeting_welcome, greeting_granted, greeting_denied, greeting_forwarding,
    settings_version
FROM building WHERE account_id = $1 AND id = $2

-- name: building_settings_put
UPDATE building SET unlock_tone = $4, greeting_welcome = $5, greeting_granted = $6, greeting_denied = $7,
    greeting_forwarding = $8, settings_version = settings_version + 1
WHERE account_id = $1 AND id = $2 AND settings_version = $3

-- name: building_set_number
UPDATE building SET virtual_number = $3 WHERE account_id = $1 AND id = $2

-- name: building_for_number
SELECT account_id, virtual_number, country FROM building WHERE id = $1

-- name: building_delete
DELETE FROM building WHERE account_id = $1 AND id = $2
