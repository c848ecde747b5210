-- Call boxes that sign in.

-- name: box_insert
INSERT INTO box (name, number, secret, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT (name) DO NOTHING

-- name: box_list
SELECT name, number, created_at, registered_until, registered_from FROM box ORDER BY name

-- name: box_secret
SELECT secret, number FROM box WHERE name = $1

-- name: box_delete
DELETE FROM box WHERE name = $1

-- name: box_registered
UPDATE box SET registered_until = $2, registered_from = $3 WHERE name = $1
