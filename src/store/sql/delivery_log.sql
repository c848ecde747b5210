-- The results of deliveries.

-- columns: delivery_log
d.id:id, d.webhook_id:id, d.event_id:text, e.type:text, d.status:text, d.attempts:int, d.created_at:time,
    d.due_at:time, d.attempted_at:time?,
    d.status_code:int?, d.failure:text, d.account_id:id

-- name: delivery_log
SELECT {delivery_log}
FROM delivery d JOIN event e ON e.account_id = d.account_id AND e.id = d.event_id
WHERE d.webhook_id = $webhook_id:id AND d.id < $before:text
ORDER BY d.id DESC LIMIT $limit:int

-- name: delivery_log_status
SELECT {delivery_log}
FROM delivery d {by delivery_history} JOIN event e ON e.account_id = d.account_id AND e.id = d.event_id
WHERE d.webhook_id = $webhook_id:id AND d.id < $before:text AND d.status = $status:text
ORDER BY d.id DESC LIMIT $limit:int

-- name: delivery_log_account
SELECT {delivery_log}
FROM delivery d {by delivery_event} JOIN event e ON e.account_id = d.account_id AND e.id = d.event_id
WHERE d.account_id = $account_id:id AND (CAST($status:text AS TEXT) IS NULL OR d.status = $status)
ORDER BY d.event_id DESC, d.id DESC LIMIT $limit:int

-- name: delivery_log_all
SELECT {delivery_log}
FROM delivery d {by delivery_status} JOIN event e ON e.account_id = d.account_id AND e.id = d.event_id
WHERE d.status = $status:text
ORDER BY d.id DESC LIMIT $limit:int

-- name: delivery_find
SELECT d.account_id:id, d.webhook_id:id FROM delivery d {by delivery_status}
WHERE d.status IN ('pending', 'delivered', 'failed', 'canceled') AND d.id = $id:id

-- name: delivery_replay
SELECT d.status:text, d.event_id:text, w.deleted_at:time?
FROM delivery d JOIN webhook w ON w.account_id = d.account_id AND w.id = d.webhook_id
WHERE d.webhook_id = $webhook_id:id AND d.id = $id:id AND d.account_id = $account_id:id

-- name: delivery_purge
DELETE FROM delivery WHERE (webhook_id, id) IN (
    SELECT webhook_id, id FROM (
        SELECT webhook_id, id FROM delivery {by delivery_status}
        WHERE status IN ('delivered', 'failed', 'canceled') AND id < $before:id
        LIMIT 1000) AS old
    LIMIT $limit:int)
