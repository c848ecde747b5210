-- Webhook endpoints. A deleted endpoint keeps its row, because the receipt of its creation never expires.

-- name: webhook_insert
INSERT INTO webhook (account_id, id, created_at, url, events, secret, request_id, request_hash)
VALUES ($account_id:id, $id:id, $created_at:time, $url:text, $events:int, $secret:blob, $request_id:text,
    $request_hash:blob)
ON CONFLICT DO NOTHING

-- columns: webhook
id:id, created_at:time, url:text, events:int, active:bool

-- name: webhook_by_request
SELECT {webhook}, secret:blob,
    request_hash:blob FROM webhook WHERE account_id = $account_id:id AND request_id = $request_id:text

-- name: webhook_count
SELECT count(*) AS webhooks:int FROM webhook {by webhook_live} WHERE account_id = $account_id:id AND deleted_at IS NULL

-- name: webhook_list
SELECT {webhook} FROM webhook {by webhook_live}
WHERE account_id = $account_id:id AND deleted_at IS NULL
ORDER BY id DESC

-- name: webhook_exists
SELECT deleted_at:time? FROM webhook WHERE account_id = $account_id:id AND id = $id:id

-- name: webhook_update
-- Changes what is not NULL.
UPDATE webhook SET url = coalesce($url:text, url), events = coalesce($events:int?, events),
    active = coalesce($active:bool?, active)
WHERE account_id = $account_id:id AND id = $id:id AND deleted_at IS NULL RETURNING {webhook}

-- name: webhook_rotation
SELECT {webhook}, secret:blob, previous_until:time, rotation_id:text, rotation_hash:blob
FROM webhook WHERE account_id = $account_id:id AND id = $id:id AND deleted_at IS NULL

-- name: webhook_rotate
-- The present secret stays valid until $previous_until, or ends if that is NULL.
UPDATE webhook SET secret = $secret:blob,
    previous_secret = CASE WHEN CAST($previous_until:time? AS BIGINT) IS NULL THEN NULL ELSE secret END,
    previous_until = $previous_until, rotation_id = $rotation_id:text, rotation_hash = $rotation_hash:blob
WHERE account_id = $account_id:id AND id = $id:id

-- name: webhook_delete
UPDATE webhook SET deleted_at = $deleted_at:time WHERE account_id = $account_id:id AND id = $id:id
    AND deleted_at IS NULL

-- name: webhook_cancel
UPDATE delivery SET status = 'canceled' WHERE account_id = $account_id:id AND webhook_id = $webhook_id:id
    AND status = 'pending'
