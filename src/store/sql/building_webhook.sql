-- Webhook endpoints of buildings, from the earlier revision of the interface. A deleted endpoint keeps its row, because
-- the receipt of its creation never expires.

-- name: building_webhook_insert
INSERT INTO building_webhook (account_id, building_id, id, created_at, url, events, description, secret, request_id,
    request_hash)
VALUES ($account_id:id, $building_id:id, $id:id, $created_at:time, $url:text, $events:int, $description:text,
    $secret:blob, $request_id:text, $request_hash:blob)
ON CONFLICT DO NOTHING

-- columns: building_webhook
id:id, building_id:id, created_at:time, url:text, events:int, description:text, active:bool

-- name: building_webhook_by_request
SELECT {building_webhook}, secret:blob,
    request_hash:blob FROM building_webhook WHERE building_id = $building_id:id AND request_id = $request_id:text

-- name: building_webhook_count
SELECT count(*) AS webhooks:int FROM building_webhook {by building_webhook_live}
WHERE building_id = $building_id:id AND deleted_at IS NULL

-- name: building_webhook_list
SELECT {building_webhook} FROM building_webhook {by building_webhook_live}
WHERE building_id = $building_id:id AND deleted_at IS NULL
ORDER BY id DESC

-- name: building_webhook_exists
SELECT 1 FROM building_webhook WHERE building_id = $building_id:id AND id = $id:id AND deleted_at IS NULL

-- name: building_webhook_update
-- Changes what is not NULL; the description if $described is 1. An endpoint that is switched on begins without
-- failures.
UPDATE building_webhook SET url = coalesce($url:text, url), events = coalesce($events:int?, events),
    description = CASE WHEN CAST($described:bool AS BIGINT) = 1 THEN CAST($description:text AS TEXT) ELSE description END,
    failures = CASE WHEN CAST($active:bool? AS BIGINT) = 1 THEN 0 ELSE failures END, active = coalesce($active, active)
WHERE building_id = $building_id:id AND id = $id:id AND deleted_at IS NULL RETURNING {building_webhook}

-- name: building_webhook_delete
UPDATE building_webhook SET deleted_at = $deleted_at:time WHERE building_id = $building_id:id AND id = $id:id
    AND deleted_at IS NULL

-- name: building_webhook_end_all
UPDATE building_webhook SET deleted_at = $deleted_at:time WHERE account_id = $account_id:id AND deleted_at IS NULL

-- name: building_webhook_cancel
UPDATE delivery SET status = 'canceled' WHERE webhook_id = $webhook_id:id AND status = 'pending'

-- name: building_webhook_cancel_all
UPDATE delivery SET status = 'canceled'
WHERE webhook_id IN (SELECT id FROM building_webhook WHERE account_id = $account_id:id) AND status = 'pending'

-- name: building_webhook_lower
UPDATE building_webhook SET due_at = $due_at:time WHERE id = $webhook_id:id AND due_at > $due_at

-- name: building_webhook_settle (sqlite)
-- As delivery_lane_settle.
UPDATE building_webhook SET due_at =
    coalesce((SELECT d.due_at FROM delivery d {by delivery_due} WHERE d.webhook_id = building_webhook.id
              AND d.status = 'pending' AND d.due_at > $now:time ORDER BY d.due_at LIMIT 1), 9223372036854775807)
WHERE id IN (SELECT value FROM json_each($ids:json))
    AND NOT EXISTS (SELECT 1 FROM delivery d {by delivery_due} WHERE d.webhook_id = building_webhook.id
                    AND d.status = 'pending' AND d.due_at <= $now AND d.leased_until <= {real})

-- name: building_webhook_settle (postgresql)
UPDATE building_webhook SET due_at =
    least((SELECT d.due_at FROM delivery d WHERE d.webhook_id = building_webhook.id
           AND d.status = 'pending' AND d.due_at > $now ORDER BY d.due_at LIMIT 1),
          (SELECT $now + min(d.leased_until) - {real} FROM delivery d WHERE d.webhook_id = building_webhook.id
           AND d.status = 'pending' AND d.due_at <= $now), 9223372036854775807)
WHERE id IN (SELECT json_array_elements_text(CAST(CAST($ids AS TEXT) AS JSON)))
    AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.webhook_id = building_webhook.id
                    AND d.status = 'pending' AND d.due_at <= $now AND d.leased_until <= {real})

-- name: building_webhook_success
UPDATE building_webhook SET failures = 0 WHERE id = $id:id AND failures > 0

-- name: building_webhook_failure
-- $most failures in a row switch the endpoint off.
UPDATE building_webhook SET failures = failures + 1, active = CASE WHEN failures + 1 >= $most:int THEN 0 ELSE active END
WHERE id = $id:id RETURNING active:bool, failures:int

-- name: building_webhook_outcome
SELECT status:text, status_code:int?, failure:text,
    took_ms:int? FROM delivery WHERE webhook_id = $webhook_id:id AND id = $id:id
