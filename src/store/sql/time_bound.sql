-- Stored times that lie further ahead than their kind can, because the clock was ahead when they were written
-- (jobs/time_bound.h). $beyond is the latest time that the kind can have now, $at the time to store in its place. A
-- minute (60000000) is allowed for clocks of other nodes.

-- name: time_bound_job
-- Jobs of the kind $kind.
UPDATE job SET due_at = $at:time, created_at = CASE WHEN created_at > $at THEN $at ELSE created_at END
WHERE kind = $kind:text AND due_at > $at AND (due_at > $beyond:time OR created_at > CAST($at AS BIGINT) + 60000000)

-- name: time_bound_job_lease
UPDATE job SET leased_until = $at:time, leased_by = NULL WHERE leased_until > $beyond:time

-- name: time_bound_delivery
-- The first attempt is due at once, later ones after the attempt of attempted_at.
UPDATE delivery SET due_at = $at:time, attempted_at = CASE WHEN attempted_at > $at THEN $at ELSE attempted_at END
WHERE status = 'pending' AND due_at > CAST($at AS BIGINT) + 60000000
    AND (due_at > $beyond:time OR attempts = 0 OR attempted_at > CAST($at AS BIGINT) + 60000000)
    AND webhook_id IN (
        SELECT webhook_id FROM delivery_lane WHERE due_at > $at AND due_at < 9223372036854775807
        UNION ALL SELECT id FROM building_webhook WHERE due_at > $at AND due_at < 9223372036854775807)

-- name: time_bound_delivery_lane
UPDATE delivery_lane SET due_at = $at:time
WHERE due_at > $beyond:time AND due_at < 9223372036854775807 AND EXISTS (SELECT 1 FROM delivery d
    WHERE d.webhook_id = delivery_lane.webhook_id AND d.status = 'pending' AND d.due_at <= $at)

-- name: time_bound_building_webhook
UPDATE building_webhook SET due_at = $at:time
WHERE due_at > $beyond:time AND due_at < 9223372036854775807 AND EXISTS (SELECT 1 FROM delivery d
    WHERE d.webhook_id = building_webhook.id AND d.status = 'pending' AND d.due_at <= $at)

-- name: time_bound_push_message
-- A lease is of seconds.
UPDATE push_message SET due_at = $at:time, leased_until = 0, at = CASE WHEN at > $at THEN $at ELSE at END
WHERE due_at > $beyond:time OR at > CAST($at AS BIGINT) + 60000000 OR leased_until > CAST($at AS BIGINT) + 120000000

-- name: time_bound_notice_mail
UPDATE notice_mail SET paid_until = $at:time WHERE paid_until > $beyond:time

-- name: time_bound_member_mail
UPDATE member SET mail_paid_until = $at:time WHERE mail_paid_until > $beyond:time

-- name: time_bound_door_guard
-- The wrong codes that were counted by such a clock, the closing that followed and its mail.
UPDATE door_guard SET closed_until = 0, failed_day = '',
    failed_1 = CASE WHEN failed_1 > $at:time THEN $at ELSE failed_1 END,
    failed_2 = CASE WHEN failed_2 > $at THEN $at ELSE failed_2 END,
    failed_3 = CASE WHEN failed_3 > $at THEN $at ELSE failed_3 END,
    failed_4 = CASE WHEN failed_4 > $at THEN $at ELSE failed_4 END,
    mailed_at = CASE WHEN mailed_at > $at THEN $at ELSE mailed_at END
WHERE failed_1 > $beyond:time OR failed_2 > $beyond OR failed_3 > $beyond OR failed_4 > $beyond OR mailed_at > $beyond

-- name: time_bound_door_caller
UPDATE door_caller SET released_at = $at:time WHERE released_at > $beyond:time

-- name: time_bound_challenge
UPDATE challenge SET expires_at = $at:time WHERE expires_at > $beyond:time

-- name: time_bound_phone_code
UPDATE phone_code SET expires_at = $at:time,
    created_at = CASE WHEN created_at > $at THEN $at ELSE created_at END WHERE expires_at > $beyond:time

-- name: time_bound_phone_change
UPDATE phone_change SET created_at = $at:time WHERE created_at > $beyond:time

-- name: time_bound_web_session
UPDATE api_key SET expires_at = $at:time
WHERE expires_at > $beyond:time AND expires_at < 9223372036854775807 AND kind = 'web_session'

-- name: time_bound_key_used
UPDATE api_key SET last_used_at = $at:time WHERE last_used_at > $beyond:time

-- name: time_bound_oauth_code
UPDATE oauth_code SET expires_at = $at:time WHERE expires_at > $beyond:time

-- name: time_bound_oauth_grant
UPDATE oauth_grant SET expires_at = $at:time WHERE expires_at > $beyond:time

-- name: time_bound_quote
UPDATE building_operation SET expires_at = $at:time WHERE expires_at > $beyond:time AND status = 'quoted'

-- name: time_bound_operation
UPDATE building_operation SET progressed_at = $at:time WHERE progressed_at > $beyond:time

-- name: time_bound_webhook
UPDATE webhook SET previous_until = $at:time WHERE previous_until > $beyond:time

-- name: time_bound_member
UPDATE member SET invited_until = $at:time WHERE invited_until > $beyond:time

-- name: time_bound_box
UPDATE box SET registered_until = $at:time WHERE registered_until > $beyond:time

-- name: time_bound_checkout
UPDATE checkout SET checked_at = $at:time WHERE checked_at > $beyond:time

-- name: time_bound_twilio_call
UPDATE twilio_call SET updated_at = $at:time WHERE updated_at > $beyond:time

-- name: time_bound_number_purchase
UPDATE number_purchase SET open_until = $at:time WHERE open_until > $beyond:time

-- name: time_bound_subscription
UPDATE account SET subscription_ended_at = $at:time WHERE subscription_ended_at > $beyond:time

-- name: time_bound_last
-- When the job was last added or dated, by the clock of that time.
SELECT created_at:time FROM job WHERE id = $id:text
