-- The results of deliveries.

-- columns: delivery_log
d.id, d.webhook_id, d.event_id, e.type, d.status, d.attempts, d.created_at, d.due_at, d.attempted_at,
    d.status_code, d.failure, d.account_id

-- name: delivery_log
SELECT {delivery_log}
FROM delivery d JOIN event e ON e.account_id = d.account_id AND e.id = d.event_id
WHERE d.webhook_id = $1 AND d.id < $2
ORDER BY d.id DESC LIMIT $3

-- name: delivery_log_status
SELECT {delivery_log}
FROM delivery d {by delivery_history} JOIN event e ON e.account_id = d.account_id AND e.id = d.event_id
WHERE d.webhook_id = $1 AND d.id < $2 AND d.status = $4
ORDER BY d.id DESC LIMIT $3

-- name: delivery_log_account
SELECT {delivery_log}
FROM delivery d {by delivery_event} JOIN event e ON e.account_id = d.account_id AND e.id = d.event_id
WHERE d.account_id = $1 AND (CAST($2 AS TEXT) IS NULL OR d.status = $2)
ORDER BY d.event_id DESC, d.id DESC LIMIT $3

-- name: delivery_log_all
SELECT {delivery_log}
FROM delivery d {by delivery_status} JOIN event e ON e.account_id = d.account_id AND e.id = d.event_id
WHERE d.status = $1
ORDER BY d.id DESC LIMIT $2

-- name: delivery_find
SELECT d.account_id, d.webhook_id FROM delivery d {by delivery_status}
WHERE d.status IN ('pending', 'delivered', 'failed', 'canceled') AND d.id = $1

-- name: delivery_replay
SELECT d.status, d.event_id, w.deleted_at
FROM delivery d JOIN webhook w ON w.account_id = d.account_id AND w.id = d.webhook_id
WHERE d.webhook_id = $1 AND d.id = $2 AND d.account_id = $3

-- name: delivery_purge
DELETE FROM delivery WHERE (webhook_id, id) IN (
    SELECT webhook_id, id FROM (
        SELECT webhook_id, id FROM delivery {by delivery_status}
        WHERE status IN ('delivered', 'failed', 'canceled') AND id < $1
        LIMIT 1000) AS old
    LIMIT $2)
