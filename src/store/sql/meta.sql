-- Settings that the service stores.

-- name: setting_get
SELECT value:text FROM setting WHERE name = $name:text

-- name: setting_put
INSERT INTO setting (name, value) VALUES ($name:text,
    $value:text) ON CONFLICT (name) DO UPDATE SET value = excluded.value
