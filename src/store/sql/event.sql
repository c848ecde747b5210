-- Events and their webhook deliveries, inserted in the transaction of their cause.

-- name: event_listeners
-- The active endpoints of an account (at most five) that listen to the event types $2 (bits), and those of the building $3 (at
-- most five) that listen to $4, if the account is of the earlier revision; and the next time the engine looks at them.
SELECT w.id, l.due_at, 0 AS earlier FROM webhook w {by webhook_live} LEFT JOIN delivery_lane l ON l.webhook_id = w.id
WHERE w.account_id = $1 AND w.deleted_at IS NULL AND w.active <> 0 AND (w.events & $2) <> 0
UNION ALL
SELECT b.id, b.due_at, 1 FROM building_webhook b {by building_webhook_live}
WHERE b.building_id = $3 AND b.deleted_at IS NULL AND b.active <> 0 AND (b.events & $4) <> 0
    AND EXISTS (SELECT 1 FROM account a WHERE a.id = $1 AND a.earlier_revision <> 0)

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
