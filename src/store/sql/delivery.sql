-- Deliveries for the delivery engine. due_at uses the service's clock, leased_until the server's real one; leased_by is the
-- node, whose end frees its leases (node.sql).

-- name: delivery_lanes (sqlite)
-- The endpoints in the order of their next due delivery, after the position ($after, $after_id); at most $limit. A
-- deleted one has no account.
SELECT l.webhook_id:id, l.due_at:time, 0 AS earlier:bool, w.account_id:id FROM delivery_lane l {by delivery_lane_due}
LEFT JOIN webhook w {by webhook_id} ON w.id = l.webhook_id WHERE (l.due_at, l.webhook_id) > ($after:time,
    $after_id:text)
UNION ALL
SELECT id, due_at, 1, account_id FROM building_webhook {by building_webhook_due} WHERE (due_at, id) > ($after,
    $after_id)
ORDER BY due_at, webhook_id LIMIT $limit:int

-- name: delivery_lanes (postgresql)
-- Each half has order and limit, too: without them PostgreSQL reads and sorts both tables.
SELECT l.webhook_id, l.due_at, 0 AS earlier, w.account_id FROM (SELECT webhook_id, due_at FROM delivery_lane
    WHERE (due_at, webhook_id) > ($after, $after_id) ORDER BY due_at,
    webhook_id LIMIT $limit) AS l LEFT JOIN webhook w ON w.id = l.webhook_id
UNION ALL
SELECT b.id, b.due_at, 1, b.account_id FROM (SELECT id, due_at, account_id FROM building_webhook
    WHERE (due_at, id) > ($after, $after_id) ORDER BY due_at, id LIMIT $limit) AS b
ORDER BY due_at, webhook_id LIMIT $limit

-- name: delivery_lane_lower
-- The subquery reads the lane, which ON CONFLICT alone does not. So a transaction that settles the lane meanwhile, and
-- does not see the new delivery, fails to serialize and runs again. "+ 0" keeps PostgreSQL from reading it through
-- delivery_lane_due, where the transaction would conflict with transactions of other endpoints that are due.
INSERT INTO delivery_lane (webhook_id, due_at)
SELECT CAST($webhook_id:id AS TEXT), CAST($due_at:time AS BIGINT)
WHERE NOT EXISTS (SELECT 1 FROM delivery_lane l WHERE l.webhook_id = $webhook_id AND l.due_at + 0 <= $due_at)
ON CONFLICT (webhook_id) DO UPDATE SET due_at = excluded.due_at WHERE delivery_lane.due_at > excluded.due_at

-- name: delivery_lane_settle (sqlite)
-- Sets the next due time of those endpoints in the list $ids (JSON) that have no delivery to take now. $now is the
-- service's clock.
UPDATE delivery_lane SET due_at =
    coalesce((SELECT d.due_at FROM delivery d {by delivery_due} WHERE d.webhook_id = delivery_lane.webhook_id
              AND d.status = 'pending' AND d.due_at > $now:time ORDER BY d.due_at LIMIT 1), 9223372036854775807)
WHERE webhook_id IN (SELECT value FROM json_each($ids:json))
    AND NOT EXISTS (SELECT 1 FROM delivery d {by delivery_due} WHERE d.webhook_id = delivery_lane.webhook_id
                    AND d.status = 'pending' AND d.due_at <= $now AND d.leased_until <= {real})

-- name: delivery_lane_settle (postgresql)
-- A leased delivery is still due, and may be taken when its lease ends.
UPDATE delivery_lane SET due_at =
    least((SELECT d.due_at FROM delivery d WHERE d.webhook_id = delivery_lane.webhook_id
           AND d.status = 'pending' AND d.due_at > $now ORDER BY d.due_at LIMIT 1),
          (SELECT $now + min(d.leased_until) - {real} FROM delivery d WHERE d.webhook_id = delivery_lane.webhook_id
           AND d.status = 'pending' AND d.due_at <= $now), 9223372036854775807)
WHERE webhook_id IN (SELECT json_array_elements_text(CAST(CAST($ids AS TEXT) AS JSON)))
    AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.webhook_id = delivery_lane.webhook_id
                    AND d.status = 'pending' AND d.due_at <= $now AND d.leased_until <= {real})

-- columns: delivery
d.id:id, d.account_id:id, d.attempts:int, d.leased_until:time,
    CASE WHEN b.id IS NULL THEN w.url ELSE b.url END AS url:text,
    CASE WHEN b.id IS NULL THEN w.secret ELSE b.secret END AS secret:blob,
    CASE WHEN w.previous_until > $now THEN w.previous_secret END AS previous_secret:blob, d.event_id:text,
    e.type:text, e.created_at:time,
    e.data:text, e.trace:text, e.building_id:text

-- name: delivery_take (sqlite)
-- Excludes the deliveries that the caller has already taken, the list $held (JSON). Only one process uses the store, so
-- leases are not written, and one of another node does not count.
SELECT {delivery}
FROM delivery d {by delivery_due}
LEFT JOIN webhook w {by webhook_id} ON w.id = d.webhook_id
LEFT JOIN building_webhook b {by building_webhook_id} ON b.id = d.webhook_id
LEFT JOIN event e ON e.account_id = d.account_id AND e.id = d.event_id
WHERE d.webhook_id = $webhook_id:id AND d.status = 'pending' AND d.due_at <= $now:time
    AND (d.leased_until <= {real} OR d.leased_by IS NOT $leased_by:id) AND d.id NOT IN (SELECT value
    FROM json_each($held:json))
ORDER BY d.due_at, d.id LIMIT $limit:int

-- name: delivery_take (postgresql)
-- The lease is a minute. MATERIALIZED, because a subquery that locks rows finds other rows each time it runs.
WITH due AS MATERIALIZED (
    SELECT id FROM delivery
    WHERE webhook_id = $webhook_id AND status = 'pending' AND due_at <= $now AND leased_until <= {real}
        AND id NOT IN (SELECT json_array_elements_text(CAST(CAST($held AS TEXT) AS JSON)))
    ORDER BY due_at, id LIMIT $limit FOR UPDATE SKIP LOCKED
), taken AS (
    UPDATE delivery d SET leased_until = {real} + 60000000, leased_by = CAST($leased_by AS TEXT)
    FROM due WHERE d.webhook_id = $webhook_id AND d.id = due.id
    RETURNING d.webhook_id, d.account_id, d.event_id, d.id, d.attempts, d.leased_until, d.due_at
)
SELECT {delivery}
FROM taken d
LEFT JOIN webhook w ON w.id = d.webhook_id
LEFT JOIN building_webhook b ON b.id = d.webhook_id
LEFT JOIN event e ON e.account_id = d.account_id AND e.id = d.event_id
ORDER BY d.due_at, d.id

-- name: delivery_next
-- The time of the next delivery of an endpoint that is not due yet.
SELECT d.due_at:time FROM delivery d {by delivery_due}
WHERE d.webhook_id = $webhook_id:id AND d.status = 'pending' AND d.due_at > $now:time
ORDER BY d.due_at LIMIT 1

-- name: delivery_late
-- Gives up deliveries of an endpoint that have been due since before $before, at most $limit, for the reason $failure.
UPDATE delivery SET status = 'failed', failure = $failure:text
WHERE webhook_id = $webhook_id:id AND id IN (SELECT id FROM delivery {by delivery_due}
    WHERE webhook_id = $webhook_id AND status = 'pending' AND due_at < $before:time
    AND leased_until <= {real} ORDER BY due_at, id LIMIT $limit:int)

-- name: delivery_record
-- Not if the lease was lost: the node that has the delivery now records its own attempt.
UPDATE delivery SET status = $status:text, attempts = $attempts:int, due_at = $due_at:time, leased_until = 0,
    leased_by = NULL, attempted_at = $attempted_at:time,
    status_code = $status_code:int?, failure = $failure:text, took_ms = $took_ms:int
WHERE webhook_id = $webhook_id:id AND id = $id:id AND status = 'pending' AND attempts + 1 = $attempts
    AND leased_until = $leased_until:time
