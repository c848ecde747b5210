-- The delivery engine's side of deliveries. due_at is the service's clock, leased_until the real one.

-- name: delivery_lanes
-- The endpoints behind $1 that have pending deliveries, $2 at most, and when the first of each is due: one seek each.
WITH RECURSIVE lane (webhook_id, n) AS (
    SELECT (SELECT d.webhook_id FROM delivery d {by delivery_due}
            WHERE d.status = 'pending' AND d.webhook_id > $1 ORDER BY d.webhook_id LIMIT 1), 1
    UNION ALL
    SELECT (SELECT d.webhook_id FROM delivery d {by delivery_due}
            WHERE d.status = 'pending' AND d.webhook_id > lane.webhook_id ORDER BY d.webhook_id LIMIT 1), lane.n + 1
    FROM lane WHERE lane.webhook_id IS NOT NULL AND lane.n < $2
)
SELECT lane.webhook_id, (SELECT d.due_at FROM delivery d {by delivery_due}
                         WHERE d.status = 'pending' AND d.webhook_id = lane.webhook_id ORDER BY d.due_at LIMIT 1)
FROM lane WHERE lane.webhook_id IS NOT NULL

-- name: delivery_take (sqlite)
-- Besides those the caller has, which $4 lists (JSON). One process has the store: there are no leases to write.
SELECT d.id, d.attempts, w.url, w.secret, d.event_id, e.type, e.created_at, e.data
FROM delivery d {by delivery_due}
LEFT JOIN webhook w {by webhook_id} ON w.id = d.webhook_id
LEFT JOIN event e ON e.account_id = d.account_id AND e.id = d.event_id
WHERE d.webhook_id = $1 AND d.status = 'pending' AND d.due_at <= $2 AND d.leased_until <= $5
    AND d.id NOT IN (SELECT value FROM json_each($4))
ORDER BY d.due_at, d.id LIMIT $3

-- name: delivery_take (postgresql)
-- The lease is a minute. MATERIALIZED: a subquery that locks rows finds others each time it is carried out.
WITH due AS MATERIALIZED (
    SELECT id FROM delivery
    WHERE webhook_id = $1 AND status = 'pending' AND due_at <= $2 AND leased_until <= $5
        AND id NOT IN (SELECT json_array_elements_text(CAST(CAST($4 AS TEXT) AS JSON)))
    ORDER BY due_at, id LIMIT $3 FOR UPDATE SKIP LOCKED
), taken AS (
    UPDATE delivery d SET leased_until = $5 + 60000000
    FROM due WHERE d.webhook_id = $1 AND d.id = due.id
    RETURNING d.webhook_id, d.account_id, d.event_id, d.id, d.attempts, d.due_at
)
SELECT t.id, t.attempts, w.url, w.secret, t.event_id, e.type, e.created_at, e.data
FROM taken t
LEFT JOIN webhook w ON w.id = t.webhook_id
LEFT JOIN event e ON e.account_id = t.account_id AND e.id = t.event_id
ORDER BY t.due_at, t.id

-- name: delivery_next
-- When the first of an endpoint's is due that are not due yet.
SELECT d.due_at FROM delivery d {by delivery_due}
WHERE d.webhook_id = $1 AND d.status = 'pending' AND d.due_at > $2
ORDER BY d.due_at LIMIT 1

-- name: delivery_record
UPDATE delivery SET status = $4, attempts = $3, due_at = $5, leased_until = 0, attempted_at = $6, status_code = $7,
    failure = $8
WHERE webhook_id = $1 AND id = $2 AND status = 'pending' AND attempts + 1 = $3
