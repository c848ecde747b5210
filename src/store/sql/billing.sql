-- Events and subscriptions of the billing provider.

-- name: billing_event_insert
INSERT INTO billing_event (id, received_at) VALUES ($id:text, $received_at:time) ON CONFLICT (id) DO NOTHING

-- name: billing_event_purge
DELETE FROM billing_event WHERE id IN
    (SELECT id FROM (SELECT id FROM billing_event WHERE received_at <= $before:time LIMIT 1000) AS old LIMIT $limit:int)

-- name: billing_account
SELECT email:text, subscription_status:text, customer_id:text, subscription_id:text, plan:text,
    (SELECT count(*) FROM building b WHERE b.account_id = account.id) AS buildings:int
FROM account WHERE id = $id:id

-- name: billing_account_by_subscription
SELECT id:id FROM account WHERE subscription_id = $subscription_id:text

-- name: billing_subscription_known
SELECT 1 FROM account WHERE subscription_id = $subscription_id:text
UNION ALL SELECT 1 FROM checkout {by checkout_subscription} WHERE subscription_id = $subscription_id
    AND canceled_at IS NULL LIMIT 1

-- name: billing_account_set_customer
UPDATE account SET customer_id = $customer_id:text WHERE id = $id:id

-- name: billing_account_set_subscription
UPDATE account SET subscription_id = $subscription_id:text WHERE id = $id:id

-- name: billing_units
SELECT count(*) AS buildings:int FROM building WHERE account_id = $account_id:id
