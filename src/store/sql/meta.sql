-- Settings that the service stores.

-- name: setting_get
SELECT value FROM setting WHERE name = $1

-- name: setting_put
INSERT INTO setting (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value
