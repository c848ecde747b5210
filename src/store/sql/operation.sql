-- Building operations.

-- name: operation_account
SELECT subscription_status, subscription_id, phone,
    (SELECT count(*) FROM building b WHERE b.account_id = account.id) AS buildings
FROM account WHERE id = $1

-- name: operation_insert
INSERT INTO building_operation (account_id, id, action, created_at, expires_at, building_id, label,
    street, city, state, zip, country, unlock_tone, phone_number, virtual_number, building_count,
    subscription_id, price_id, current_quantity, new_quantity, currency, next_invoice_minor, per_building_minor,
    billing_interval, proration_s, phone_given)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24,
    $25, $26)

-- Reading.

-- columns: operation
id, account_id, action, status, created_at, expires_at, building_id, label, street, city, state, zip, country,
    unlock_tone, phone_number, virtual_number, building_count, subscription_id, price_id, currency, billing_interval,
    current_quantity, new_quantity, next_invoice_minor, per_building_minor, proration_s, request_id, request_hash,
    step, attempt, progressed_at, error, result_number, phone_given

-- name: operation_get
SELECT {operation}
FROM building_operation WHERE account_id = $1 AND id = $2

-- name: operation_find
SELECT {operation}
FROM building_operation WHERE id = $1

-- name: operation_by_request
SELECT {operation}
FROM building_operation WHERE account_id = $1 AND request_id = $2

-- name: operation_current
SELECT {operation}
FROM building_operation WHERE account_id = $1 AND status IN ('running', 'reconciliation_required')

-- name: operation_list_current
SELECT {operation o}, a.email
FROM building_operation o LEFT JOIN account a ON a.id = o.account_id
WHERE o.status IN ('running', 'reconciliation_required')
ORDER BY o.created_at, o.id

-- Execution.

-- name: operation_start
UPDATE building_operation SET status = 'running', step = $3, progressed_at = $4, building_id = $5, request_id = $6,
    request_hash = $7
WHERE account_id = $1 AND id = $2 AND status = 'quoted'

-- name: operation_step
UPDATE building_operation SET step = $5, attempt = $6, progressed_at = $7
WHERE account_id = $1 AND id = $2 AND status = $3 AND step = $4

-- name: operation_end
UPDATE building_operation SET step = NULL, status = $5, error = $6, progressed_at = $7
WHERE account_id = $1 AND id = $2 AND status = $3 AND step = $4

-- name: operation_set_number
UPDATE building_operation SET result_number = $3 WHERE account_id = $1 AND id = $2

-- name: operation_stall
UPDATE building_operation SET status = 'reconciliation_required'
WHERE id = $1 AND status = 'running' AND progressed_at <= $2

-- name: operation_stall_all
-- The first condition is for the index.
UPDATE building_operation SET status = 'reconciliation_required'
WHERE status IN ('running', 'reconciliation_required') AND status = 'running' AND progressed_at <= $1

-- name: operation_insert_building
-- A phone that another account has verified meanwhile is void.
INSERT INTO building (account_id, id, created_at, is_primary, label, street, city, state, zip, country, forward_phone,
    unlock_tone)
VALUES ($1, $2, $3, 0, $4, $5, $6, $7, $8, $9,
    (SELECT CAST($10 AS TEXT) WHERE NOT EXISTS (SELECT 1 FROM account o WHERE o.phone = $10 AND o.id <> $1)), $11) ON CONFLICT (account_id, id) DO NOTHING
