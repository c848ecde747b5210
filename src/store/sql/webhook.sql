-- Webhook endpoints. A deleted endpoint keeps its row, because the receipt of its creation never expires.

-- name: webhook_insert
INSERT INTO webhook (account_id, id, created_at, url, events, secret, request_id, request_hash)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT DO NOTHING

-- columns: webhook
id, created_at, url, events, active

-- name: webhook_by_request
SELECT {webhook}, secret, request_hash FROM webhook WHERE account_id = $1 AND request_id = $2

-- name: webhook_count
SELECT count(*) AS webhooks FROM webhook {by webhook_live} WHERE account_id = $1 AND deleted_at IS NULL

-- name: webhook_list
SELECT {webhook} FROM webhook {by webhook_live}
WHERE account_id = $1 AND deleted_at IS NULL
ORDER BY id DESC

-- name: webhook_exists
SELECT deleted_at FROM webhook WHERE account_id = $1 AND id = $2

-- name: webhook_update
-- Changes what is not NULL.
UPDATE webhook SET url = coalesce($3, url), events = coalesce($4, events), active = coalesce($5, active)
WHERE account_id = $1 AND id = $2 AND deleted_at IS NULL RETURNING {webhook}

-- name: webhook_rotation
SELECT {webhook}, secret, previous_until, rotation_id, rotation_hash
FROM webhook WHERE account_id = $1 AND id = $2 AND deleted_at IS NULL

-- name: webhook_rotate
-- The present secret stays valid until $4, or ends if that is NULL.
UPDATE webhook SET secret = $3, previous_secret = CASE WHEN CAST($4 AS BIGINT) IS NULL THEN NULL ELSE secret END,
    previous_until = $4, rotation_id = $5, rotation_hash = $6
WHERE account_id = $1 AND id = $2

-- name: webhook_delete
UPDATE webhook SET deleted_at = $3 WHERE account_id = $1 AND id = $2 AND deleted_at IS NULL

-- name: webhook_cancel
UPDATE delivery SET status = 'canceled' WHERE account_id = $1 AND webhook_id = $2 AND status = 'pending'
