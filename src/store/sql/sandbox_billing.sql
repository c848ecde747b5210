-- Customers, sessions and subscriptions of the built-in billing provider.

-- name: sandbox_customer_insert
INSERT INTO sandbox_customer (id, account_id, email) VALUES ($id:text, $account_id:text, $email:text)

-- name: sandbox_customer_get
SELECT email:text FROM sandbox_customer WHERE id = $id:text

-- name: sandbox_customer_delete
DELETE FROM sandbox_customer WHERE id = $id:text

-- name: sandbox_customer_cancel
UPDATE sandbox_subscription SET status = 'canceled' WHERE customer_id = $customer_id:text

-- name: sandbox_session_insert
INSERT INTO sandbox_session (id, request_key, account_id, email, customer_id, plan, quantity, success_url, cancel_url,
    url, expires_at)
VALUES ($id:text, $request_key:text, $account_id:text, $email:text, $customer_id:text, $plan:text, $quantity:int,
    $success_url:text, $cancel_url:text, $url:text, $expires_at:time) ON CONFLICT (request_key) DO NOTHING

-- name: sandbox_session_by_key
SELECT id:text FROM sandbox_session WHERE request_key = $request_key:text

-- name: sandbox_session_get
SELECT account_id:text, email:text, customer_id:text, plan:text, quantity:int, success_url:text, cancel_url:text,
    url:text, status:text, subscription_id:text, expires_at:time
FROM sandbox_session WHERE id = $id:text

-- name: sandbox_session_end
UPDATE sandbox_session SET status = $status:text, customer_id = $customer_id:text,
    subscription_id = $subscription_id:text WHERE id = $id:text

-- name: sandbox_subscription_insert
INSERT INTO sandbox_subscription (id, customer_id, account_id, status, plan, quantity) VALUES ($id:text,
    $customer_id:text, $account_id:text, $status:text, $plan:text, $quantity:int)

-- name: sandbox_subscription_get
SELECT customer_id:text, account_id:text, status:text, plan:text,
    quantity:int FROM sandbox_subscription WHERE id = $id:text

-- name: sandbox_subscription_of
SELECT id:text FROM sandbox_subscription WHERE customer_id = $customer_id:text ORDER BY id DESC LIMIT 1

-- name: sandbox_subscription_put
UPDATE sandbox_subscription SET status = $status:text, quantity = $quantity:int WHERE id = $id:text

-- name: sandbox_subscription_set_quantity
UPDATE sandbox_subscription SET quantity = $quantity:int WHERE id = $id:text

-- name: sandbox_quantity_insert
INSERT INTO sandbox_quantity (request_key, subscription_id, quantity) VALUES ($request_key:text,
    $subscription_id:text, $quantity:int)
ON CONFLICT (request_key) DO NOTHING
