-- Accounts.

-- name: account_by_email
SELECT id FROM account WHERE email = $1

-- name: account_insert
INSERT INTO account (id, email, created_at) VALUES ($1, $2, $3)

-- name: account_get
SELECT email, created_at, plan, subscription_status, phone, earlier_revision FROM account WHERE id = $1

-- name: account_set_revision
UPDATE account SET earlier_revision = $2 WHERE id = $1

-- name: account_usage
SELECT CAST(coalesce(sum(b.unlock_count), 0) AS BIGINT) AS unlocks,
    CAST(coalesce(sum((SELECT c.enabled FROM grant_building n JOIN grant_count c ON c.building = n.number
        WHERE n.id = b.id)), 0) AS BIGINT) AS grants
FROM building b WHERE b.account_id = $1 AND (CAST($2 AS TEXT) IS NULL OR b.id = $2)

-- name: account_subscribe
UPDATE account SET plan = $2, subscription_status = $3, subscription_ended_at = NULL WHERE id = $1

-- name: account_unsubscribe
UPDATE account SET plan = NULL, subscription_status = 'none', subscription_ended_at = $2 WHERE id = $1

-- name: account_ended
SELECT subscription_ended_at FROM account WHERE id = $1 AND subscription_status = 'none'

-- Accounts without billing (domain/unbilled.h). $2 is their plan.

-- name: account_unbill
UPDATE account SET billed_plan = CASE WHEN billed_status IS NULL THEN plan ELSE billed_plan END,
    billed_status = coalesce(billed_status, subscription_status),
    plan = $2, subscription_status = 'active', subscription_ended_at = NULL
WHERE id = $1

-- name: account_list_billed
SELECT id FROM account WHERE billed_status IS NULL OR plan <> $1 ORDER BY id LIMIT $2

-- name: account_list_unbilled
SELECT id, billed_status, billed_plan, subscription_id FROM account WHERE billed_status IS NOT NULL ORDER BY id LIMIT $1

-- name: account_bill
UPDATE account SET billed_status = NULL, billed_plan = NULL WHERE id = $1
