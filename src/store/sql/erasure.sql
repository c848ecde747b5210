-- The end of an account (billing/erasure.h). First what must end at once; $id is the account.

-- name: erasure_name
-- The account has its ID in place of an e-mail address from then on. It looks as if it had been unbilled without a
-- subscription, so that a start without billing does not make it active.
UPDATE account SET email = id, phone = NULL, phone_verified_at = NULL, plan = NULL, subscription_status = 'none',
    subscription_ended_at = NULL, billed_status = 'none', billed_plan = NULL
WHERE id = $id:id

-- name: erasure_revoke
UPDATE api_key {by api_key_live} SET revoked_at = $revoked_at:time WHERE account_id = $account_id:text
    AND revoked_at IS NULL

-- name: erasure_unlist
-- For a number that is not in the inventory.
UPDATE building SET virtual_number = NULL WHERE account_id = $account_id:id

-- name: erasure_challenges
DELETE FROM challenge WHERE email = $email:text

-- name: erasure_memberships
-- The memberships of a person in buildings of others.
SELECT id:id, account_id:id FROM member WHERE email = $email:text LIMIT $limit:int

-- name: erasure_member_keys
DELETE FROM api_key WHERE account_id = $account_id:id AND member_id = $member_id:id

-- name: erasure_messages
-- Messages that the sandbox sent to e-mail address $recipient and to the account's phones.
DELETE FROM sandbox_message WHERE recipient = $recipient:text
    OR recipient IN (SELECT phone FROM account WHERE id = $id:id AND phone IS NOT NULL)
    OR recipient IN (SELECT phone FROM phone_change WHERE account_id = $id)
    OR recipient IN (SELECT phone FROM phone_code WHERE account_id = $id)

-- name: erasure_jobs
-- That release the numbers of an account later: it has none any more.
DELETE FROM job WHERE kind = 'release_numbers' AND payload = $payload:blob

-- The rest, at most $limit rows in a transaction; in the order of billing/erasure.c.

-- name: erasure_lanes
DELETE FROM delivery_lane WHERE webhook_id IN (SELECT id FROM webhook
    WHERE account_id = $account_id:id ORDER BY id LIMIT $limit:int)

-- name: erasure_deliveries
DELETE FROM delivery WHERE (webhook_id, id) IN (SELECT webhook_id,
    id FROM delivery WHERE account_id = $account_id:id LIMIT $limit:int)

-- name: erasure_events
DELETE FROM event WHERE account_id = $account_id:id AND id IN (SELECT id FROM event
    WHERE account_id = $account_id LIMIT $limit:int)

-- name: erasure_webhooks
DELETE FROM webhook WHERE account_id = $account_id:id AND id IN (SELECT id FROM webhook
    WHERE account_id = $account_id ORDER BY id LIMIT $limit:int)

-- name: erasure_building_webhooks
DELETE FROM building_webhook WHERE account_id = $account_id:id AND id IN
    (SELECT id FROM building_webhook WHERE account_id = $account_id ORDER BY id LIMIT $limit:int)

-- name: erasure_keys
-- And the browsers and grants by OAuth of them.
DELETE FROM api_key WHERE account_id = $account_id:id AND id IN (SELECT id FROM api_key
    WHERE account_id = $account_id LIMIT $limit:int)

-- name: erasure_codes
DELETE FROM oauth_code WHERE account_id = $account_id:id AND hash IN
    (SELECT hash FROM oauth_code WHERE account_id = $account_id LIMIT $limit:int)

-- name: erasure_operations
DELETE FROM building_operation WHERE account_id = $account_id:id AND id IN
    (SELECT id FROM building_operation WHERE account_id = $account_id LIMIT $limit:int)

-- name: erasure_phone_codes
DELETE FROM phone_code WHERE account_id = $account_id:id AND id IN (SELECT id FROM phone_code
    WHERE account_id = $account_id LIMIT $limit:int)

-- name: erasure_phone_changes
DELETE FROM phone_change WHERE account_id = $account_id:id AND id IN (SELECT id FROM phone_change
    WHERE account_id = $account_id LIMIT $limit:int)

-- name: erasure_aliases
DELETE FROM checkout_alias WHERE account_id = $account_id:id AND request_id IN
    (SELECT request_id FROM checkout_alias WHERE account_id = $account_id LIMIT $limit:int)

-- name: erasure_checkouts
DELETE FROM checkout WHERE account_id = $account_id:id AND id IN (SELECT id FROM checkout
    WHERE account_id = $account_id LIMIT $limit:int)

-- name: erasure_sandbox_quantities
DELETE FROM sandbox_quantity WHERE request_key IN
    (SELECT q.request_key FROM sandbox_subscription s JOIN sandbox_quantity q ON q.subscription_id = s.id
     WHERE s.account_id = $account_id:id LIMIT $limit:int)

-- name: erasure_sandbox_subscriptions
DELETE FROM sandbox_subscription WHERE id IN (SELECT id FROM sandbox_subscription
    WHERE account_id = $account_id:id LIMIT $limit:int)

-- name: erasure_sandbox_sessions
DELETE FROM sandbox_session WHERE id IN (SELECT id FROM sandbox_session
    WHERE account_id = $account_id:id LIMIT $limit:int)

-- name: erasure_sandbox_customers
DELETE FROM sandbox_customer WHERE id IN (SELECT id FROM sandbox_customer
    WHERE account_id = $account_id:id LIMIT $limit:int)

-- name: erasure_building_number
-- The highest number is kept with SQLite (removal_grant_building), under its own name.
UPDATE grant_building SET id = CAST(number AS TEXT) WHERE id = $id:id

-- name: erasure_buildings
DELETE FROM building WHERE account_id = $account_id:id

-- name: erasure_account
DELETE FROM account WHERE id = $account_id:id
