-- Deciding at the door.

-- name: access_by_number
SELECT b.account_id, b.id, b.label, b.unlock_tone, b.greeting_welcome, b.greeting_granted, b.greeting_denied,
    b.greeting_forwarding, b.codes_closed_until, b.forward_phone, a.subscription_status, a.phone
FROM building b JOIN account a ON a.id = b.account_id WHERE b.virtual_number = $1

-- name: access_by_building
SELECT b.account_id, b.id, b.label, b.unlock_tone, b.greeting_welcome, b.greeting_granted, b.greeting_denied,
    b.greeting_forwarding, b.codes_closed_until, b.forward_phone, a.subscription_status, a.phone
FROM building b JOIN account a ON a.id = b.account_id WHERE b.id = $1

-- name: access_usable
-- The building's grants of type $2 that may be used at $3, oldest first.
SELECT id, label, remaining_uses, access_code, voice, days, start_minute, end_minute, timezone
FROM access_grant {by access_grant_usable}
WHERE building_id = $1 AND enabled = 1 AND revoked = 0 AND (remaining_uses IS NULL OR remaining_uses > 0)
    AND type = $2 AND ends_at > $3 AND starts_at <= $3
ORDER BY id

-- name: access_passcodes
-- How many passcodes may be used at $2, and how many of them may be spoken.
SELECT count(*), CAST(coalesce(sum(voice), 0) AS BIGINT)
FROM access_grant {by access_grant_usable}
WHERE building_id = $1 AND enabled = 1 AND revoked = 0 AND (remaining_uses IS NULL OR remaining_uses > 0)
    AND type = 'passcode' AND ends_at > $2

-- name: access_take_use
UPDATE access_grant SET remaining_uses = remaining_uses - 1
WHERE building_id = $1 AND revoked = 0 AND id = $2 AND enabled = 1 AND remaining_uses > 0

-- name: access_released
UPDATE building SET last_buzz_at = $3, unlock_count = unlock_count + 1 WHERE account_id = $1 AND id = $2

-- name: access_refused
UPDATE building SET codes_closed_until = $3, unlock_count = unlock_count + 1 WHERE account_id = $1 AND id = $2

-- name: access_wrong_codes
SELECT count(*) FROM activity
WHERE building_id = $1 AND created_at > $2 AND type = 'unlock' AND unlock_type = 'passcode' AND succeeded = 0
