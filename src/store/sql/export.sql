-- All that is held of a person (domain/personal.c): at most $limit rows of the owner $owner, after the key in the first
-- columns.

-- name: export_account
SELECT id, email, created_at, plan, subscription_status, subscription_ended_at, phone, phone_verified_at, customer_id,
    subscription_id, billed_status, billed_plan, earlier_revision, exported_at,
    minutes_mailed_at FROM account WHERE id = $owner:text LIMIT $limit:int

-- name: export_building
SELECT id, created_at, is_primary, label, street, city, state, zip, country, virtual_number, forward_phone,
    unlock_tone, greeting_welcome, greeting_granted, greeting_denied, greeting_forwarding, last_buzz_at, unlock_count,
    timezone, {release}, {ring},
    {callers} FROM building WHERE account_id = $owner:text AND id > $after:any ORDER BY id LIMIT $limit:int

-- name: export_number
SELECT n.number, n.country, n.building_id, n.held_since FROM building b JOIN number n ON n.number = b.virtual_number
WHERE b.account_id = $owner:text LIMIT $limit:int

-- name: export_member
SELECT id, building_id, name, email, phone,
    created_at FROM member WHERE building_id = $owner:text AND id > $after:any ORDER BY id LIMIT $limit:int

-- name: export_membership
SELECT id, building_id, name, email, phone, created_at FROM member WHERE email = $owner:text LIMIT $limit:int

-- name: export_challenge
SELECT id, email, attempts, expires_at, used_at FROM challenge WHERE email = $owner:text LIMIT $limit:int

-- name: export_key
SELECT id, building_id, member_id, kind, name, prefix, scopes, created_at, expires_at, last_used_at, revoked_at
FROM api_key WHERE account_id = $owner:text AND id > $after:any ORDER BY id LIMIT $limit:int

-- name: export_oauth_grant
-- Clients and tokens are kept as hashes.
SELECT key_id, scopes, resource, created_at, expires_at FROM oauth_grant
WHERE account_id = $owner:text AND key_id > $after:any ORDER BY key_id LIMIT $limit:int

-- name: export_oauth_code
SELECT scopes, resource, expires_at, used, key_id,
    client_name FROM oauth_code WHERE account_id = $owner:text ORDER BY expires_at LIMIT $limit:int

-- name: export_browser
SELECT id, program, system, remembered,
    created_at FROM browser WHERE account_id = $owner:text AND id > $after:any ORDER BY id LIMIT $limit:int

-- name: export_push
-- Endpoint and keys are secrets of the browser.
SELECT p.building_id, b.id AS browser_id, p.notices, p.language, p.created_at
FROM browser b JOIN push p ON p.hash = b.hash
WHERE b.account_id = $owner:text AND (p.building_id, b.id) > ($after:any, $then_after:any) ORDER BY p.building_id,
    b.id LIMIT $limit:int

-- name: export_notice_mail
SELECT building_id, notices, language FROM notice_mail WHERE building_id = $owner:text LIMIT $limit:int

-- name: export_grant
SELECT revoked, id, CASE type WHEN 0 THEN 'timer' WHEN 1 THEN 'passcode' ELSE 'routine' END AS type, label, enabled,
    version,
    created_at, updated_at, starts_at, ends_at, remaining_uses, max_uses, access_code, voice, {schedule}, request_id,
    created_by, member_id
FROM access_grant WHERE building = (SELECT number FROM grant_building WHERE id = $owner:text) AND (revoked,
    id) > ($after:any, $then_after:any)
ORDER BY revoked, id LIMIT $limit:int

-- name: export_guest_link
-- The token is a secret of the guest.
SELECT grant_id, building_id, timezone,
    created_at FROM guest_link WHERE building_id = $owner:text AND grant_id > $after:any
ORDER BY grant_id LIMIT $limit:int

-- name: export_activity
SELECT a.created_at, a.id, a.building_id, k.type, k.unlock_type, a.unlock_id, k.name, k.succeeded
FROM activity a JOIN activity_kind k ON k.building_id = a.building_id AND k.kind = a.kind
WHERE a.building_id = $owner:text AND (a.created_at, a.id) > ($after:any, $then_after:any) ORDER BY a.created_at,
    a.id LIMIT $limit:int

-- name: export_call
SELECT id, building_id, started_at, ended_at, front_end, source, dialled, caller, outcome, reason, grant_id,
    resident_opened, ended_by, steps,
    minutes FROM call_record WHERE building_id = $owner:text AND id > $after:any ORDER BY id LIMIT $limit:int

-- name: export_feed
SELECT seq, building_id, at, type,
    data FROM feed WHERE building_id = $owner:text AND seq > $after:any ORDER BY seq LIMIT $limit:int

-- name: export_message
SELECT call_id, building_id, seconds,
    audio FROM call_message WHERE building_id = $owner:text AND call_id > $after:any ORDER BY call_id LIMIT $limit:int

-- name: export_recording
SELECT id, building_id, which, created_at, length, audio FROM recording WHERE building_id = $owner:text LIMIT $limit:int

-- name: export_caller
SELECT number, building_id,
    released_at FROM door_caller WHERE building_id = $owner:text
    AND number > $after:any ORDER BY number LIMIT $limit:int

-- name: export_guard
SELECT building_id, known, failed_1, failed_2, failed_3, failed_4, closed_until, closings, mailed_at, failed_day
FROM door_guard WHERE building_id = $owner:text LIMIT $limit:int

-- name: export_webhook
SELECT id, created_at, url, events, active, request_id, previous_until, rotation_id,
    deleted_at FROM webhook WHERE account_id = $owner:text AND id > $after:any ORDER BY id LIMIT $limit:int

-- name: export_building_webhook
SELECT id, building_id, created_at, url, events, description, active, failures, request_id, deleted_at
FROM building_webhook WHERE account_id = $owner:text AND id > $after:any ORDER BY id LIMIT $limit:int

-- name: export_event
SELECT id, building_id, type, created_at,
    data FROM event WHERE account_id = $owner:text AND id > $after:any ORDER BY id LIMIT $limit:int

-- name: export_delivery
SELECT id, webhook_id, event_id, created_at, status, attempts, due_at, attempted_at, status_code, failure, took_ms
FROM delivery WHERE webhook_id = $owner:text AND id > $after:any ORDER BY id LIMIT $limit:int

-- name: export_checkout
SELECT id, request_id, status, created_at, checked_at, plan, quantity, email, customer_id, return_url, session_id,
    subscription_id, canceled_at FROM checkout WHERE account_id = $owner:text
    AND id > $after:any ORDER BY id LIMIT $limit:int

-- name: export_alias
SELECT request_id, checkout_id FROM checkout_alias WHERE account_id = $owner:text
    AND request_id > $after:any ORDER BY request_id LIMIT $limit:int

-- name: export_operation
SELECT id, action, status, created_at, expires_at, building_id, label, street, city, state, zip, country, unlock_tone,
    phone_number, virtual_number, subscription_id, currency, next_invoice_minor, request_id, step, error, result_number
FROM building_operation WHERE account_id = $owner:text AND id > $after:any ORDER BY id LIMIT $limit:int

-- name: export_phone_code
SELECT id, phone, created_at, expires_at, attempts, sent_at, used_at
FROM phone_code WHERE account_id = $owner:text AND id > $after:any ORDER BY id LIMIT $limit:int

-- name: export_phone_change
SELECT id, phone, created_at FROM phone_change WHERE account_id = $owner:text
    AND id > $after:any ORDER BY id LIMIT $limit:int

-- name: export_sent
SELECT id, channel, recipient, subject,
    created_at FROM sandbox_message WHERE recipient = $owner:text AND id > $after:any ORDER BY id LIMIT $limit:int

-- name: export_next_building
-- The first owner behind $from; $inside = 1: or $from itself.
SELECT id FROM building WHERE account_id = $account_id:id AND id >= $from:text
    AND (id > $from OR $inside:bool = 1) ORDER BY id LIMIT 1

-- name: export_next_webhook
SELECT id FROM webhook WHERE account_id = $account_id:id AND id >= $from:text AND (id > $from OR $inside:bool = 1)
UNION ALL SELECT id FROM building_webhook WHERE account_id = $account_id AND id >= $from AND (id > $from OR $inside = 1)
ORDER BY id LIMIT 1
