-- Checkouts.

-- columns: checkout
account_id:id, id:id, request_id:text, status:text, created_at:time, plan:text, quantity:int, email:text,
    customer_id:text, return_url:text, session_id:text, url:text,
    subscription_id:text, canceled_at:time?

-- name: checkout_by_id
SELECT {checkout}
FROM checkout WHERE account_id = $account_id:id AND id = $id:id

-- The checkout that a request made, or that it was answered with; and the hash of the request.

-- name: checkout_by_request
SELECT {checkout}, request_hash:blob
FROM checkout WHERE account_id = $account_id:id AND request_id = $request_id:text
UNION ALL
SELECT {checkout c}, a.request_hash
FROM checkout_alias a JOIN checkout c ON c.account_id = a.account_id AND c.id = a.checkout_id
WHERE a.account_id = $account_id AND a.request_id = $request_id

-- name: checkout_by_session
SELECT {checkout}
FROM checkout WHERE session_id = $session_id:text

-- name: checkout_latest
SELECT {checkout}
FROM checkout WHERE account_id = $account_id:id ORDER BY created_at DESC, id DESC LIMIT 1

-- name: checkout_pending
SELECT {checkout}
FROM checkout WHERE account_id = $account_id:id AND status IN ('preparing', 'open')

-- name: checkout_paid
SELECT {checkout}
FROM checkout WHERE account_id = $account_id:id AND status = 'complete' AND canceled_at IS NULL LIMIT 1

-- Checkouts whose result is unknown, least recently asked for first. Those prepared for too long are left to support.

-- name: checkout_unsettled
SELECT {checkout}
FROM checkout
WHERE status IN ('preparing',
    'open') AND checked_at <= $checked_before:time AND (status = 'open' OR created_at > $created_after:time)
ORDER BY checked_at LIMIT $limit:int

-- For the operator: unsettled checkouts, or all of an account, newest first.

-- name: checkout_list_pending
SELECT {checkout c}
FROM checkout c WHERE c.status IN ('preparing', 'open') ORDER BY c.id DESC LIMIT $limit:int

-- name: checkout_list_of
SELECT {checkout c}
FROM checkout c JOIN account a ON a.id = c.account_id WHERE a.email = $email:text ORDER BY c.id DESC LIMIT $limit:int

-- name: checkout_owner
SELECT account_id:id FROM checkout WHERE id = $id:id

-- name: checkout_insert
INSERT INTO checkout (account_id, id, request_id, request_hash, created_at, checked_at, plan, quantity, email,
    customer_id, return_url)
VALUES ($account_id:id, $id:id, $request_id:text, $request_hash:blob, $created_at:time, $created_at, $plan:text,
    $quantity:int, $email:text, $customer_id:text, $return_url:text)

-- name: checkout_alias_insert
INSERT INTO checkout_alias (account_id, request_id, request_hash, checkout_id) VALUES ($account_id:id,
    $request_id:text, $request_hash:blob, $checkout_id:id)

-- name: checkout_move
UPDATE checkout SET status = $status:text, session_id = $session_id:text, url = $url:text,
    subscription_id = $subscription_id:text, checked_at = $checked_at:time
WHERE account_id = $account_id:id AND id = $id:id

-- name: checkout_checked
UPDATE checkout SET checked_at = $checked_at:time WHERE account_id = $account_id:id AND id = $id:id

-- name: checkout_cancel
UPDATE checkout SET canceled_at = $canceled_at:time WHERE account_id = $account_id:id
    AND subscription_id = $subscription_id:text AND canceled_at IS NULL
