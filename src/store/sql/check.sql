-- Checks of the whole store (porterod check-store). Each returns how many rows are wrong, and the least of them. Buildings
-- that are being removed are left out where their removal takes several transactions.

-- name: check_integrity (sqlite)
SELECT count(*) AS faults:int,
    min(integrity_check) AS example:text FROM pragma_integrity_check WHERE integrity_check <> 'ok'

-- name: check_integrity (postgresql)
-- See amcheck: docs/operations.md.
SELECT CAST(0 AS BIGINT) AS faults, CAST(NULL AS TEXT) AS example

-- name: check_building_account
SELECT count(*) AS faults:int, min(b.id) AS example:text FROM building b
WHERE NOT EXISTS (SELECT 1 FROM account a WHERE a.id = b.account_id)

-- name: check_primary
SELECT count(*) AS faults:int, min(p.account_id) AS example:text FROM
    (SELECT account_id FROM building GROUP BY account_id HAVING sum(is_primary) <> 1) AS p

-- name: check_building_number
SELECT count(*) AS faults:int, min(b.id) AS example:text FROM building b
WHERE EXISTS (SELECT 1 FROM number n
    WHERE n.number = b.virtual_number AND (n.building_id IS NULL OR n.building_id <> b.id))

-- name: check_member
SELECT count(*) AS faults:int, min(m.id) AS example:text FROM member m
WHERE NOT EXISTS (SELECT 1 FROM building b WHERE b.id = m.building_id AND b.account_id = m.account_id)

-- name: check_key
SELECT count(*) AS faults:int, min(k.id) AS example:text FROM api_key k
WHERE k.revoked_at IS NULL AND (NOT EXISTS (SELECT 1 FROM account a WHERE a.id = k.account_id)
    OR (k.building_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM building b WHERE b.id = k.building_id)))

-- name: check_browser
SELECT count(*) AS faults:int, min(b.id) AS example:text FROM browser b
WHERE NOT EXISTS (SELECT 1 FROM api_key k WHERE k.hash = b.hash AND k.account_id = b.account_id
    AND k.kind = 'web_session')

-- name: check_oauth_grant
SELECT count(*) AS faults:int, min(g.key_id) AS example:text FROM oauth_grant g
WHERE NOT EXISTS (SELECT 1 FROM api_key k WHERE k.account_id = g.account_id AND k.id = g.key_id AND k.kind = 'agent'
    AND (k.scopes & ~g.scopes) = 0)

-- name: check_oauth_code
-- An erasure deletes the keys of an account before its codes.
SELECT count(*) AS faults:int, min(c.account_id) AS example:text FROM oauth_code c
WHERE NOT EXISTS (SELECT 1 FROM account a WHERE a.id = c.account_id
    AND (a.email = a.id OR c.key_id IS NULL OR c.key_id = ''
    OR EXISTS (SELECT 1 FROM api_key k WHERE k.account_id = c.account_id AND k.id = c.key_id)))

-- name: check_grant_building
SELECT count(*) AS faults:int, min(CAST(g.building AS TEXT)) AS example:text FROM
    (SELECT DISTINCT building FROM access_grant) AS g
WHERE NOT EXISTS (SELECT 1 FROM grant_building n JOIN building b ON b.id = n.id WHERE n.number = g.building)

-- name: check_grant_count
SELECT count(*) AS faults:int, min(n.id) AS example:text FROM grant_building n
WHERE coalesce((SELECT c.enabled FROM grant_count c WHERE c.building = n.number), 0) <>
        (SELECT count(*) FROM access_grant g WHERE g.building = n.number AND g.revoked = 0 AND g.enabled = 1)
    AND NOT EXISTS (SELECT 1 FROM building_operation o WHERE o.building_id = n.id AND o.action = 'remove'
        AND o.status IN ('running', 'reconciliation_required'))
    AND NOT EXISTS (SELECT 1 FROM building b JOIN account a ON a.id = b.account_id WHERE b.id = n.id AND a.email = a.id)

-- name: check_activity
SELECT count(*) AS faults:int, min(e.building_id) AS example:text FROM (SELECT DISTINCT building_id,
    kind FROM activity) AS e
WHERE NOT EXISTS (SELECT 1 FROM activity_kind k WHERE k.building_id = e.building_id AND k.kind = e.kind)

-- name: check_recording
SELECT count(*) AS faults:int, min(r.id) AS example:text FROM recording r
WHERE NOT EXISTS (SELECT 1 FROM building b WHERE b.id = r.building_id)

-- name: check_delivery
SELECT count(*) AS faults:int, min(d.id) AS example:text FROM delivery d
WHERE d.status = 'pending' AND NOT EXISTS
    (SELECT 1 FROM event e WHERE e.account_id = d.account_id AND e.id = d.event_id)

-- name: check_delivery_lane
SELECT count(*) AS faults:int, min(d.webhook_id) AS example:text FROM
    (SELECT webhook_id, min(due_at) AS due_at FROM delivery WHERE status = 'pending' GROUP BY webhook_id) AS d
WHERE NOT EXISTS (SELECT 1 FROM delivery_lane l WHERE l.webhook_id = d.webhook_id AND l.due_at <= d.due_at)
    AND NOT EXISTS (SELECT 1 FROM building_webhook b WHERE b.id = d.webhook_id AND b.due_at <= d.due_at)
