-- The inventory of virtual numbers.

-- name: number_insert
INSERT INTO number (number, country) VALUES ($1, $2) ON CONFLICT (number) DO NOTHING

-- name: number_list
SELECT n.number, n.country, n.building_id, n.held_since, n.pooled, b.account_id, b.label, a.email
FROM number n
    LEFT JOIN building b ON b.id = n.building_id
    LEFT JOIN account a ON a.id = b.account_id
ORDER BY n.number

-- name: number_free
SELECT number FROM number WHERE country = $1 AND building_id IS NULL AND pooled = 1
ORDER BY released_at, number LIMIT 1

-- name: number_get
SELECT building_id, pooled, country FROM number WHERE number = $1

-- name: number_hold_pooled
UPDATE number SET building_id = $2, held_since = $3 WHERE number = $1 AND building_id IS NULL AND pooled = 1

-- name: number_insert_provided
INSERT INTO number (number, country, building_id, held_since, pooled) VALUES ($1, $2, $3, $4, 0)

-- name: number_release
UPDATE number SET building_id = NULL, held_since = NULL, released_at = $2 WHERE number = $1

-- name: number_hold_again
UPDATE number SET building_id = $2, held_since = $3 WHERE number = $1 AND building_id IS NULL

-- name: number_delete_pooled
DELETE FROM number WHERE number = $1 AND pooled = 1

-- name: number_delete_leaving
DELETE FROM number WHERE number = $1 AND building_id IS NULL AND pooled = 0

-- name: number_holder
SELECT n.building_id, n.pooled, b.account_id FROM number n LEFT JOIN building b ON b.id = n.building_id
WHERE n.number = $1

-- The right to buy a number for a reference from a provider without idempotency keys. $3 is the sandbox's offset, which $2
-- includes; $4 is the caller's own row, if it has one.

-- name: number_purchase_open
INSERT INTO number_purchase (reference, open_until) VALUES ($1, {real} + CAST($2 AS BIGINT))
ON CONFLICT (reference) DO UPDATE SET open_until = excluded.open_until
WHERE number_purchase.open_until <= {real} + CAST($3 AS BIGINT) OR number_purchase.open_until = $4
RETURNING open_until

-- name: number_purchase_close
DELETE FROM number_purchase WHERE reference = $1 AND open_until = $2

-- name: number_purchase_purge
DELETE FROM number_purchase WHERE reference IN
    (SELECT reference FROM number_purchase WHERE open_until < $1 ORDER BY reference LIMIT $2)
