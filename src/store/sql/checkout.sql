-- Checkouts.

-- columns: checkout
account_id, id, request_id, status, created_at, plan, quantity, email, customer_id, return_url, session_id, url,
    subscription_id, canceled_at

-- name: checkout_by_id
SELECT {checkout}
FROM checkout WHERE account_id = $1 AND id = $2

-- The checkout that a request made, or that it was answered with; and the hash of the request.

-- name: checkout_by_request
SELECT {checkout}, request_hash
FROM checkout WHERE account_id = $1 AND request_id = $2
UNION ALL
SELECT {checkout c}, a.request_hash
FROM checkout_alias a JOIN checkout c ON c.account_id = a.account_id AND c.id = a.checkout_id
WHERE a.account_id = $1 AND a.request_id = $2

-- name: checkout_by_session
SELECT {checkout}
FROM checkout WHERE session_id = $1

-- name: checkout_latest
SELECT {checkout}
FROM checkout WHERE account_id = $1 ORDER BY created_at DESC, id DESC LIMIT 1

-- name: checkout_pending
SELECT {checkout}
FROM checkout WHERE account_id = $1 AND status IN ('preparing', 'open')

-- name: checkout_paid
SELECT {checkout}
FROM checkout WHERE account_id = $1 AND status = 'complete' AND canceled_at IS NULL LIMIT 1

-- Checkouts whose result is unknown, least recently asked for first. Those prepared for too long are left to support.

-- name: checkout_unsettled
SELECT {checkout}
FROM checkout
WHERE status IN ('preparing', 'open') AND checked_at <= $1 AND (status = 'open' OR created_at > $2)
ORDER BY checked_at LIMIT $3

-- For the operator: unsettled checkouts, or all of an account, newest first.

-- name: checkout_list_pending
SELECT {checkout c}
FROM checkout c WHERE c.status IN ('preparing', 'open') ORDER BY c.id DESC LIMIT $1

-- name: checkout_list_of
SELECT {checkout c}
FROM checkout c JOIN account a ON a.id = c.account_id WHERE a.email = $2 ORDER BY c.id DESC LIMIT $1

-- name: checkout_owner
SELECT account_id FROM checkout WHERE id = $1

-- name: checkout_insert
INSERT INTO checkout (account_id, id, request_id, request_hash, created_at, checked_at, plan, quantity, email,
    customer_id, return_url)
VALUES ($1, $2, $3, $4, $5, $5, $6, $7, $8, $9, $10)

-- name: checkout_alias_insert
INSERT INTO checkout_alias (account_id, request_id, request_hash, checkout_id) VALUES ($1, $2, $3, $4)

-- name: checkout_move
UPDATE checkout SET status = $3, session_id = $4, url = $5, subscription_id = $6, checked_at = $7
WHERE account_id = $1 AND id = $2

-- name: checkout_checked
UPDATE checkout SET checked_at = $3 WHERE account_id = $1 AND id = $2

-- name: checkout_cancel
UPDATE checkout SET canceled_at = $3 WHERE account_id = $1 AND subscription_id = $2 AND canceled_at IS NULL
