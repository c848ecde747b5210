-- The inventory of virtual numbers.

-- name: number_insert
INSERT INTO number (number, country) VALUES ($number:text, $country:text) ON CONFLICT (number) DO NOTHING

-- name: number_list
SELECT n.number:text, n.country:text, n.building_id:id, n.held_since:time?, n.pooled:bool, b.account_id:id,
    b.label:text, a.email:text
FROM number n
    LEFT JOIN building b ON b.id = n.building_id
    LEFT JOIN account a ON a.id = b.account_id
ORDER BY n.number

-- name: number_free
SELECT number:text FROM number WHERE country = $country:text AND building_id IS NULL AND pooled = 1
ORDER BY released_at, number LIMIT 1

-- name: number_get
SELECT building_id:id, pooled:bool, country:text FROM number WHERE number = $number:text

-- name: number_hold_pooled
UPDATE number SET building_id = $building_id:id,
    held_since = $held_since:time WHERE number = $number:text AND building_id IS NULL AND pooled = 1

-- name: number_insert_provided
INSERT INTO number (number, country, building_id, held_since, pooled) VALUES ($number:text, $country:text,
    $building_id:id, $held_since:time?, 0)

-- name: number_release
UPDATE number SET building_id = NULL, held_since = NULL, released_at = $released_at:time WHERE number = $number:text

-- name: number_hold_again
UPDATE number SET building_id = $building_id:id,
    held_since = $held_since:time WHERE number = $number:text AND building_id IS NULL

-- name: number_delete_pooled
DELETE FROM number WHERE number = $number:text AND pooled = 1

-- name: number_delete_leaving
DELETE FROM number WHERE number = $number:text AND building_id IS NULL AND pooled = 0

-- name: number_holder
SELECT n.building_id:id, n.pooled:bool, b.account_id:id FROM number n LEFT JOIN building b ON b.id = n.building_id
WHERE n.number = $number:text

-- The right to buy a number for a reference from a provider without idempotency keys. $offset is the sandbox's offset,
-- which $lasts includes; $open_until is the caller's own row, if it has one.

-- name: number_purchase_open
INSERT INTO number_purchase (reference, open_until) VALUES ($reference:text, {real} + CAST($lasts:int AS BIGINT))
ON CONFLICT (reference) DO UPDATE SET open_until = excluded.open_until
WHERE number_purchase.open_until <= {real} + CAST($offset:int AS BIGINT) OR number_purchase.open_until = $open_until:time
RETURNING open_until:time

-- name: number_purchase_close
DELETE FROM number_purchase WHERE reference = $reference:text AND open_until = $open_until:time

-- name: number_purchase_purge
DELETE FROM number_purchase WHERE reference IN
    (SELECT reference FROM number_purchase WHERE open_until < $before:time ORDER BY reference LIMIT $limit:int)
