-- Events and their webhook deliveries, inserted in the transaction of their cause.

-- name: event_listeners
-- The active endpoints of an account (at most five) that listen to the event types $events (bits), and the endpoints
-- of the building $building_id (at most five) that listen to $earlier_events, if the account is of the earlier revision; and
-- the next time the engine looks at them.
SELECT w.id:id, l.due_at:time?,
    0 AS earlier:bool FROM webhook w {by webhook_live} LEFT JOIN delivery_lane l ON l.webhook_id = w.id
WHERE w.account_id = $account_id:id AND w.deleted_at IS NULL AND w.active <> 0 AND (w.events & $events:int) <> 0
UNION ALL
SELECT b.id, b.due_at, 1 FROM building_webhook b {by building_webhook_live}
WHERE b.building_id = $building_id:id AND b.deleted_at IS NULL AND b.active <> 0
    AND (b.events & $earlier_events:int) <> 0
    AND EXISTS (SELECT 1 FROM account a WHERE a.id = $account_id AND a.earlier_revision <> 0)

-- name: event_insert
INSERT INTO event (account_id, id, building_id, type, created_at, data, trace) VALUES ($account_id:id, $id:text,
    $building_id:id, $type:text, $created_at:time, $data:text, $trace:text)

-- name: event_deliver
INSERT INTO delivery (webhook_id, id, account_id, event_id, created_at, due_at) VALUES ($webhook_id:id, $id:id,
    $account_id:id, $event_id:text, $created_at:time, $created_at)

-- name: event_purge
-- Deletes old events without deliveries.
DELETE FROM event WHERE (account_id, id) IN (
    SELECT account_id, id FROM (
        SELECT e.account_id, e.id FROM event e
        WHERE e.created_at < $before:time AND NOT EXISTS (
            SELECT 1 FROM delivery d WHERE d.account_id = e.account_id AND d.event_id = e.id)
        ORDER BY e.created_at LIMIT 1000) AS old
    LIMIT $limit:int)
