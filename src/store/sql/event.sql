-- Events and their webhook deliveries, inserted in the transaction of their cause.

-- name: event_listeners
-- The active endpoints of an account (at most five) that listen to the event types $2 (bits), and the next time the engine
-- looks at them.
SELECT w.id, l.due_at FROM webhook w {by webhook_live} LEFT JOIN delivery_lane l ON l.webhook_id = w.id
WHERE w.account_id = $1 AND w.deleted_at IS NULL AND w.active <> 0 AND (w.events & $2) <> 0

-- name: event_insert
INSERT INTO event (account_id, id, building_id, type, created_at, data, trace) VALUES ($1, $2, $3, $4, $5, $6, $7)

-- name: event_deliver
INSERT INTO delivery (webhook_id, id, account_id, event_id, created_at, due_at) VALUES ($1, $2, $3, $4, $5, $5)

-- name: event_purge
-- Deletes old events without deliveries.
DELETE FROM event WHERE (account_id, id) IN (
    SELECT account_id, id FROM (
        SELECT e.account_id, e.id FROM event e
        WHERE e.created_at < $1 AND NOT EXISTS (
            SELECT 1 FROM delivery d WHERE d.account_id = e.account_id AND d.event_id = e.id)
        ORDER BY e.created_at LIMIT 1000) AS old
    LIMIT $2)
