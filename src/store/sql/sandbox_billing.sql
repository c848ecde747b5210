-- Customers, sessions and subscriptions of the built-in billing provider.

-- name: sandbox_customer_insert
INSERT INTO sandbox_customer (id, account_id, email) VALUES ($1, $2, $3)

-- name: sandbox_customer_get
SELECT email FROM sandbox_customer WHERE id = $1

-- name: sandbox_customer_delete
DELETE FROM sandbox_customer WHERE id = $1

-- name: sandbox_customer_cancel
UPDATE sandbox_subscription SET status = 'canceled' WHERE customer_id = $1

-- name: sandbox_session_insert
INSERT INTO sandbox_session (id, request_key, account_id, email, customer_id, plan, quantity, success_url, cancel_url,
    url, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (request_key) DO NOTHING

-- name: sandbox_session_by_key
SELECT id FROM sandbox_session WHERE request_key = $1

-- name: sandbox_session_get
SELECT account_id, email, customer_id, plan, quantity, success_url, cancel_url, url, status, subscription_id, expires_at
FROM sandbox_session WHERE id = $1

-- name: sandbox_session_end
UPDATE sandbox_session SET status = $2, customer_id = $3, subscription_id = $4 WHERE id = $1

-- name: sandbox_subscription_insert
INSERT INTO sandbox_subscription (id, customer_id, account_id, status, plan, quantity) VALUES ($1, $2, $3, $4, $5, $6)

-- name: sandbox_subscription_get
SELECT customer_id, account_id, status, plan, quantity FROM sandbox_subscription WHERE id = $1

-- name: sandbox_subscription_of
SELECT id FROM sandbox_subscription WHERE customer_id = $1 ORDER BY id DESC LIMIT 1

-- name: sandbox_subscription_put
UPDATE sandbox_subscription SET status = $2, quantity = $3 WHERE id = $1

-- name: sandbox_subscription_set_quantity
UPDATE sandbox_subscription SET quantity = $2 WHERE id = $1

-- name: sandbox_quantity_insert
INSERT INTO sandbox_quantity (request_key, subscription_id, quantity) VALUES ($1, $2, $3)
ON CONFLICT (request_key) DO NOTHING
