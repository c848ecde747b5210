-- Building operations.

-- name: operation_account
SELECT subscription_status:text, subscription_id:text, phone:text,
    (SELECT count(*) FROM building b WHERE b.account_id = account.id) AS buildings:int
FROM account WHERE id = $id:id

-- name: operation_insert
INSERT INTO building_operation (account_id, id, action, created_at, expires_at, building_id, label,
    street, city, state, zip, country, unlock_tone, phone_number, virtual_number, building_count,
    subscription_id, price_id, current_quantity, new_quantity, currency, next_invoice_minor, per_building_minor,
    billing_interval, proration_s, phone_given, timezone)
VALUES ($account_id:id, $id:id, $action:text, $created_at:time, $expires_at:time, $building_id:id, $label:text,
    $street:text, $city:text, $state:text, $zip:text, $country:text, $unlock_tone:text, $phone_number:text,
    $virtual_number:text, $building_count:int, $subscription_id:text, $price_id:text, $current_quantity:int,
    $new_quantity:int, $currency:text, $next_invoice_minor:int, $per_building_minor:int?, $billing_interval:text,
    $proration_s:int, $phone_given:bool, $timezone:text)

-- Reading.

-- columns: operation
id:id, account_id:id, action:text, status:text, created_at:time, expires_at:time, building_id:id, label:text,
    street:text, city:text, state:text, zip:text, country:text,
    unlock_tone:text, phone_number:text, virtual_number:text, building_count:int, subscription_id:text, price_id:text,
    currency:text, billing_interval:text,
    current_quantity:int, new_quantity:int, next_invoice_minor:int, per_building_minor:int?, proration_s:int,
    request_id:text, request_hash:blob,
    step:text, attempt:int, progressed_at:time?, error:text, result_number:text, phone_given:bool,
    timezone:text

-- name: operation_get
SELECT {operation}
FROM building_operation WHERE account_id = $account_id:id AND id = $id:id

-- name: operation_find
SELECT {operation}
FROM building_operation WHERE id = $id:id

-- name: operation_by_request
SELECT {operation}
FROM building_operation WHERE account_id = $account_id:id AND request_id = $request_id:text

-- name: operation_current
SELECT {operation}
FROM building_operation WHERE account_id = $account_id:id AND status IN ('running', 'reconciliation_required')

-- name: operation_list_current
SELECT {operation o}, a.email:text
FROM building_operation o LEFT JOIN account a ON a.id = o.account_id
WHERE o.status IN ('running', 'reconciliation_required')
ORDER BY o.created_at, o.id

-- Execution.

-- name: operation_start
UPDATE building_operation SET status = 'running', step = $step:text, progressed_at = $progressed_at:time,
    building_id = $building_id:id, request_id = $request_id:text,
    request_hash = $request_hash:blob
WHERE account_id = $account_id:id AND id = $id:id AND status = 'quoted'

-- name: operation_step
UPDATE building_operation SET step = $step:text, attempt = $attempt:int, progressed_at = $progressed_at:time
WHERE account_id = $account_id:id AND id = $id:id AND status = $status:text AND step = $step_before:text

-- name: operation_end
UPDATE building_operation SET step = NULL, status = $status:text, error = $error:text,
    progressed_at = $progressed_at:time
WHERE account_id = $account_id:id AND id = $id:id AND status = $status_before:text AND step = $step:text

-- name: operation_set_number
UPDATE building_operation SET result_number = $result_number:text WHERE account_id = $account_id:id AND id = $id:id

-- name: operation_stall
UPDATE building_operation SET status = 'reconciliation_required'
WHERE id = $id:id AND status = 'running' AND progressed_at <= $before:time

-- name: operation_stall_all
-- The first condition is for the index.
UPDATE building_operation SET status = 'reconciliation_required'
WHERE status IN ('running', 'reconciliation_required') AND status = 'running' AND progressed_at <= $before:time

-- name: operation_insert_building
-- A phone that another account has verified meanwhile is void.
INSERT INTO building (account_id, id, created_at, is_primary, label, street, city, state, zip, country, forward_phone,
    unlock_tone, timezone)
VALUES ($account_id:id, $id:id, $created_at:time, 0, $label:text, $street:text, $city:text, $state:text, $zip:text,
    $country:text,
    (SELECT CAST($phone:text AS TEXT) WHERE NOT EXISTS (SELECT 1 FROM account o WHERE o.phone = $phone
    AND o.id <> $account_id)), $unlock_tone:text, $timezone:text) ON CONFLICT (account_id, id) DO NOTHING
