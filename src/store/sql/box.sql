-- Call boxes that sign in.

-- name: box_insert
INSERT INTO box (name, number, secret, created_at) VALUES ($name:text, $number:text, $secret:blob,
    $created_at:time) ON CONFLICT (name) DO NOTHING

-- name: box_list
SELECT name:text, number:text, created_at:time, registered_until:time, registered_from:text FROM box ORDER BY name

-- name: box_secret
SELECT secret:blob, number:text FROM box WHERE name = $name:text

-- name: box_delete
DELETE FROM box WHERE name = $name:text

-- name: box_registered
UPDATE box SET registered_until = $registered_until:time,
    registered_from = $registered_from:text WHERE name = $name:text
