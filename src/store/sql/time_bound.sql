-- Stored times that lie further ahead than their kind can, because the clock was ahead when they were written
-- (domain/time_bound.h). $1 is the latest time that the kind can have now, $2 the time to store in its place. A minute
-- (60000000) is allowed for clocks of other nodes.

-- name: time_bound_job
-- Jobs of the kind $3.
UPDATE job SET due_at = $2, created_at = CASE WHEN created_at > $2 THEN $2 ELSE created_at END
WHERE kind = $3 AND due_at > $2 AND (due_at > $1 OR created_at > CAST($2 AS BIGINT) + 60000000)

-- name: time_bound_job_lease
UPDATE job SET leased_until = $2, leased_by = NULL WHERE leased_until > $1

-- name: time_bound_delivery
-- The first attempt is due at once, later ones after that of attempted_at.
UPDATE delivery SET due_at = $2, attempted_at = CASE WHEN attempted_at > $2 THEN $2 ELSE attempted_at END
WHERE status = 'pending' AND due_at > CAST($2 AS BIGINT) + 60000000
    AND (due_at > $1 OR attempts = 0 OR attempted_at > CAST($2 AS BIGINT) + 60000000)
    AND webhook_id IN (
        SELECT webhook_id FROM delivery_lane WHERE due_at > $2 AND due_at < 9223372036854775807
        UNION ALL SELECT id FROM building_webhook WHERE due_at > $2 AND due_at < 9223372036854775807)

-- name: time_bound_delivery_lane
UPDATE delivery_lane SET due_at = $2
WHERE due_at > $1 AND due_at < 9223372036854775807 AND EXISTS (SELECT 1 FROM delivery d
    WHERE d.webhook_id = delivery_lane.webhook_id AND d.status = 'pending' AND d.due_at <= $2)

-- name: time_bound_building_webhook
UPDATE building_webhook SET due_at = $2
WHERE due_at > $1 AND due_at < 9223372036854775807 AND EXISTS (SELECT 1 FROM delivery d
    WHERE d.webhook_id = building_webhook.id AND d.status = 'pending' AND d.due_at <= $2)

-- name: time_bound_push_message
UPDATE push_message SET due_at = $2, leased_until = 0, at = CASE WHEN at > $2 THEN $2 ELSE at END
WHERE due_at > $1 OR at > CAST($2 AS BIGINT) + 60000000

-- name: time_bound_notice_mail
UPDATE notice_mail SET paid_until = $2 WHERE paid_until > $1

-- name: time_bound_door_guard
-- The wrong codes that were counted by such a clock, and the closing that followed.
UPDATE door_guard SET failed_1 = $2, closed_until = 0, failed_day = '',
    failed_2 = CASE WHEN failed_2 > $2 THEN $2 ELSE failed_2 END, failed_3 = CASE WHEN failed_3 > $2 THEN $2 ELSE failed_3 END,
    failed_4 = CASE WHEN failed_4 > $2 THEN $2 ELSE failed_4 END, mailed_at = CASE WHEN mailed_at > $2 THEN $2 ELSE mailed_at END
WHERE failed_1 > $1

-- name: time_bound_door_caller
UPDATE door_caller SET released_at = $2 WHERE released_at > $1

-- name: time_bound_challenge
UPDATE challenge SET expires_at = $2 WHERE expires_at > $1

-- name: time_bound_phone_code
UPDATE phone_code SET expires_at = $2, created_at = CASE WHEN created_at > $2 THEN $2 ELSE created_at END WHERE expires_at > $1

-- name: time_bound_phone_change
UPDATE phone_change SET created_at = $2 WHERE created_at > $1

-- name: time_bound_web_session
UPDATE api_key SET expires_at = $2, last_used_at = CASE WHEN last_used_at > $2 THEN $2 ELSE last_used_at END
WHERE expires_at > $1 AND expires_at < 9223372036854775807 AND kind = 'web_session'

-- name: time_bound_oauth_code
UPDATE oauth_code SET expires_at = $2 WHERE expires_at > $1

-- name: time_bound_oauth_grant
UPDATE oauth_grant SET expires_at = $2 WHERE expires_at > $1

-- name: time_bound_quote
UPDATE building_operation SET expires_at = $2 WHERE expires_at > $1 AND status = 'quoted'

-- name: time_bound_operation
UPDATE building_operation SET progressed_at = $2 WHERE progressed_at > $1

-- name: time_bound_webhook
UPDATE webhook SET previous_until = $2 WHERE previous_until > $1

-- name: time_bound_box
UPDATE box SET registered_until = $2 WHERE registered_until > $1

-- name: time_bound_checkout
UPDATE checkout SET checked_at = $2 WHERE checked_at > $1

-- name: time_bound_twilio_call
UPDATE twilio_call SET updated_at = $2 WHERE updated_at > $1

-- name: time_bound_number_purchase
UPDATE number_purchase SET open_until = $2 WHERE open_until > $1

-- name: time_bound_subscription
UPDATE account SET subscription_ended_at = $2 WHERE subscription_ended_at > $1

-- name: time_bound_last
-- When the job was last added or dated, by the clock of that time.
SELECT created_at FROM job WHERE id = $1
