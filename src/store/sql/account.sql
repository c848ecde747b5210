-- Accounts.

-- name: account_by_email
SELECT id:id FROM account WHERE email = $email:text

-- For the operator: the accounts by address, from the one after $after. Accounts that are being deleted have no address.

-- name: account_list
SELECT a.id:id, a.email:text, a.created_at:time, b.virtual_number:text,
    CASE WHEN EXISTS (SELECT 1 FROM api_key k WHERE k.account_id = a.id) THEN 1 ELSE 0 END AS signed_in:bool
FROM account a JOIN building b ON b.account_id = a.id AND b.is_primary = 1
WHERE a.email > $after:text AND a.email <> a.id ORDER BY a.email LIMIT $limit:int

-- Whether somebody has signed in to the account, or set it up.

-- name: account_used
SELECT 1 FROM account a WHERE a.id = $id:id AND (EXISTS (SELECT 1 FROM api_key k WHERE k.account_id = a.id)
    OR EXISTS (SELECT 1 FROM building b WHERE b.account_id = a.id AND (b.unlock_tone IS NOT NULL OR b.is_primary = 0)))

-- name: account_insert
INSERT INTO account (id, email, created_at) VALUES ($id:id, $email:text, $created_at:time)

-- name: account_get
SELECT email:text, created_at:time, plan:text, subscription_status:text, phone:text,
    earlier_revision:bool FROM account WHERE id = $id:id

-- name: account_set_revision
UPDATE account SET earlier_revision = $earlier_revision:bool WHERE id = $id:id

-- name: account_exported
-- $exported_before: an hour before $exported_at. A time that is ahead of the clock is void. An account that is being
-- deleted has no address.
UPDATE account SET exported_at = $exported_at:time WHERE id = $id:id AND email <> id
    AND (exported_at IS NULL OR exported_at <= $exported_before:time OR exported_at > $exported_at)

-- name: account_usage
SELECT CAST(coalesce(sum(b.unlock_count), 0) AS BIGINT) AS unlocks:int,
    CAST(coalesce(sum((SELECT c.enabled FROM grant_building n JOIN grant_count c ON c.building = n.number
        WHERE n.id = b.id)), 0)
        + coalesce(sum((SELECT count(*) FROM (SELECT 1 FROM pass p WHERE p.building_id = b.id AND p.revoked = 0
        AND p.enabled = 1 LIMIT 10000) AS passes)), 0) AS BIGINT) AS grants:int
FROM building b WHERE b.account_id = $account_id:id AND (CAST($id:id AS TEXT) IS NULL OR b.id = $id)

-- name: account_subscribe
UPDATE account SET plan = $plan:text, subscription_status = $subscription_status:text,
    subscription_ended_at = NULL WHERE id = $id:id

-- name: account_unsubscribe
UPDATE account SET plan = NULL, subscription_status = 'none',
    subscription_ended_at = $subscription_ended_at:time WHERE id = $id:id

-- name: account_ended
SELECT subscription_ended_at:time? FROM account WHERE id = $id:id AND subscription_status = 'none'

-- Accounts without billing (billing/unbilled.h). $plan is their plan.

-- name: account_unbill
UPDATE account SET billed_plan = CASE WHEN billed_status IS NULL THEN plan ELSE billed_plan END,
    billed_status = coalesce(billed_status, subscription_status),
    plan = $plan:text, subscription_status = 'active', subscription_ended_at = NULL
WHERE id = $id:id

-- name: account_list_billed
SELECT id:id FROM account WHERE billed_status IS NULL OR plan <> $plan:text ORDER BY id LIMIT $limit:int

-- name: account_list_unbilled
SELECT id:id, billed_status:text, billed_plan:text,
    subscription_id:text FROM account WHERE billed_status IS NOT NULL ORDER BY id LIMIT $limit:int

-- name: account_bill
UPDATE account SET billed_status = NULL, billed_plan = NULL WHERE id = $id:id
