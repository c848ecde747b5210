-- All that is held of a person (privacy/personal.c): at most $limit rows of the owner $owner, after the key in the first
-- columns.

-- name: export_account
SELECT id:id, email:text, created_at:time, plan:text, subscription_status:text, subscription_ended_at:time,
    phone:text, phone_verified_at:time, customer_id:text, subscription_id:text, billed_status:text,
    billed_plan:text, earlier_revision:bool, exported_at:time, minutes_mailed_at:time,
    quiet_from:int?, quiet_to:int?
FROM account WHERE id = $owner:text LIMIT $limit:int

-- name: export_building
SELECT id:id, created_at:time, is_primary:bool, label:text, street:text, city:text, state:text, zip:text,
    country:text, virtual_number:text, forward_phone:text, unlock_tone:text, greeting_welcome:text,
    greeting_granted:text, greeting_denied:text, greeting_forwarding:text, greeting_message:text, last_buzz_at:time, unlock_count:int,
    timezone:text, call_box_name:text, {release}, {ring}, {callers}
FROM building WHERE account_id = $owner:text AND id > $after:any ORDER BY id LIMIT $limit:int

-- name: export_number
SELECT n.number:text, n.country:text, n.building_id:id, n.held_since:time
FROM building b JOIN number n ON n.number = b.virtual_number
WHERE b.account_id = $owner:text LIMIT $limit:int

-- name: export_member
SELECT id:id, building_id:id, name:text, email:text, phone:text, role:int, language:text, created_at:time,
    invited_until:time?, mail_notices:int, phone_verified_at:time,
    quiet_from:int?, quiet_to:int?
FROM member WHERE building_id = $owner:text AND id > $after:any ORDER BY id LIMIT $limit:int

-- name: export_membership
SELECT id:id, building_id:id, name:text, email:text, phone:text, role:int, language:text, created_at:time,
    invited_until:time?, mail_notices:int, phone_verified_at:time,
    quiet_from:int?, quiet_to:int?
FROM member WHERE email = $owner:text LIMIT $limit:int

-- name: export_challenge
SELECT id:text, email:text, attempts:int, expires_at:time, used_at:time
FROM challenge WHERE email = $owner:text LIMIT $limit:int

-- name: export_key
SELECT id:id, building_id:id, member_id:id, kind:text, name:text, prefix:text, scopes:int, created_at:time,
    expires_at:time, last_used_at:time, revoked_at:time
FROM api_key WHERE account_id = $owner:text AND id > $after:any ORDER BY id LIMIT $limit:int

-- name: export_oauth_grant
-- Clients and tokens are kept as hashes.
SELECT key_id:id, scopes:int, resource:int, created_at:time, expires_at:time
FROM oauth_grant
WHERE account_id = $owner:text AND key_id > $after:any ORDER BY key_id LIMIT $limit:int

-- name: export_oauth_code
SELECT scopes:int, resource:int, expires_at:time, used:bool, key_id:id, client_name:text
FROM oauth_code WHERE account_id = $owner:text ORDER BY expires_at LIMIT $limit:int

-- name: export_browser
SELECT id:id, program:text, system:text, remembered:bool, created_at:time
FROM browser WHERE account_id = $owner:text AND id > $after:any ORDER BY id LIMIT $limit:int

-- name: export_push
-- Endpoint and keys are secrets of the browser.
SELECT p.building_id:id, b.id AS browser_id:id, p.member_id:id, p.notices:int, p.language:text, p.created_at:time
FROM browser b JOIN push p ON p.hash = b.hash
WHERE b.account_id = $owner:text AND (p.building_id, b.id) > ($after:any, $then_after:any)
ORDER BY p.building_id, b.id LIMIT $limit:int

-- name: export_notice_mail
SELECT building_id:id, notices:int, language:text
FROM notice_mail WHERE building_id = $owner:text LIMIT $limit:int

-- name: export_grant
SELECT revoked:int, id:idbytes,
    CASE type WHEN 0 THEN 'timer' WHEN 1 THEN 'passcode' ELSE 'routine' END AS type:text, label:text, enabled:bool,
    version:int, created_at:time, updated_at:time, starts_at:time, ends_at:time, remaining_uses:int, max_uses:int,
    access_code:text, voice:bool, {schedule}, request_id:text, created_by:idbytes, member_id:idbytes
FROM access_grant WHERE building = (SELECT number FROM grant_building WHERE id = $owner:text)
    AND (revoked, id) > ($after:any, $then_after:any)
ORDER BY revoked, id LIMIT $limit:int

-- name: export_pass
SELECT revoked:int, id:idbytes,
    CASE type WHEN 0 THEN 'timer' WHEN 1 THEN 'passcode' ELSE 'routine' END AS type:text, label:text, enabled:bool,
    version:int, created_at:time, updated_at:time, starts_at:time, ends_at:time, remaining_uses:int, max_uses:int,
    access_code:text, voice:bool, timezone:text, windows:text, note:text, request_id:text, created_by:idbytes,
    member_id:idbytes
FROM pass WHERE building_id = $owner:text AND (revoked, id) > ($after:any, $then_after:any)
ORDER BY revoked, id LIMIT $limit:int

-- name: export_guest_link
-- The token is a secret of the guest.
SELECT grant_id:idbytes, building_id:id, timezone:text, created_at:time
FROM guest_link WHERE building_id = $owner:text AND grant_id > $after:any
ORDER BY grant_id LIMIT $limit:int

-- name: export_activity
SELECT a.created_at:time, a.id:id, a.building_id:id, a.call_id:text, k.type:text, k.unlock_type:text, a.unlock_id:text, k.name:text,
    k.succeeded:bool
FROM activity a JOIN activity_kind k ON k.building_id = a.building_id AND k.kind = a.kind
WHERE a.building_id = $owner:text AND (a.created_at, a.id) > ($after:any, $then_after:any)
ORDER BY a.created_at, a.id LIMIT $limit:int

-- name: export_call
SELECT id:id, building_id:id, started_at:time, ended_at:time, front_end:text, source:text, dialled:text,
    caller:text, outcome:text, reason:text, grant_id:id, resident_opened:bool, ended_by:text, steps:text, minutes:int
FROM call_record WHERE building_id = $owner:text AND id > $after:any ORDER BY id LIMIT $limit:int

-- name: export_visit
SELECT id:id, building_id:id, started_at:time, outcome:text, opened_by:text, opener:text, person:text, reason:text,
    grant_id:id, grant_name:text
FROM visit WHERE building_id = $owner:text AND id > $after:any ORDER BY id LIMIT $limit:int

-- name: export_feed
SELECT seq:int, building_id:id, at:time, type:text, data:json
FROM feed WHERE building_id = $owner:text AND seq > $after:any ORDER BY seq LIMIT $limit:int

-- name: export_message
SELECT call_id:id, building_id:id, seconds:int, audio:blob
FROM call_message WHERE building_id = $owner:text AND call_id > $after:any ORDER BY call_id LIMIT $limit:int

-- name: export_recording
SELECT id:id, building_id:id, which:int, created_at:time, length:int, audio:blob
FROM recording WHERE building_id = $owner:text LIMIT $limit:int

-- name: export_caller
SELECT number:text, building_id:id, released_at:time
FROM door_caller WHERE building_id = $owner:text
    AND number > $after:any ORDER BY number LIMIT $limit:int

-- name: export_guard
SELECT building_id:id, known:bool, failed_1:time, failed_2:time, failed_3:time, failed_4:time, closed_until:time,
    closings:int, mailed_at:time, failed_day:text
FROM door_guard WHERE building_id = $owner:text LIMIT $limit:int

-- name: export_webhook
SELECT id:id, created_at:time, url:text, events:int, active:int, request_id:text, previous_until:time,
    rotation_id:text, deleted_at:time
FROM webhook WHERE account_id = $owner:text AND id > $after:any ORDER BY id LIMIT $limit:int

-- name: export_building_webhook
SELECT id:id, building_id:id, created_at:time, url:text, events:int, description:text, active:bool, failures:int,
    request_id:text, deleted_at:time
FROM building_webhook WHERE account_id = $owner:text AND id > $after:any ORDER BY id LIMIT $limit:int

-- name: export_event
SELECT id:text, building_id:id, type:text, created_at:time, data:json
FROM event WHERE account_id = $owner:text AND id > $after:any ORDER BY id LIMIT $limit:int

-- name: export_delivery
SELECT id:id, webhook_id:id, event_id:text, created_at:time, status:text, attempts:int, due_at:time,
    attempted_at:time, status_code:int, failure:text, took_ms:int
FROM delivery WHERE webhook_id = $owner:text AND id > $after:any ORDER BY id LIMIT $limit:int

-- name: export_checkout
SELECT id:id, request_id:text, status:text, created_at:time, checked_at:time, plan:text, quantity:int, email:text,
    customer_id:text, return_url:text, session_id:text, subscription_id:text, canceled_at:time
FROM checkout WHERE account_id = $owner:text
    AND id > $after:any ORDER BY id LIMIT $limit:int

-- name: export_alias
SELECT request_id:text, checkout_id:id
FROM checkout_alias WHERE account_id = $owner:text
    AND request_id > $after:any ORDER BY request_id LIMIT $limit:int

-- name: export_operation
SELECT id:id, action:text, status:text, created_at:time, expires_at:time, building_id:id, label:text, street:text,
    city:text, state:text, zip:text, country:text, unlock_tone:text, phone_number:text, virtual_number:text,
    subscription_id:text, currency:text, next_invoice_minor:int, request_id:text, step:text, error:text,
    result_number:text
FROM building_operation WHERE account_id = $owner:text AND id > $after:any ORDER BY id LIMIT $limit:int

-- name: export_phone_code
SELECT id:id, member_id:id, phone:text, created_at:time, expires_at:time, attempts:int, sent_at:time, used_at:time
FROM phone_code WHERE account_id = $owner:text AND id > $after:any ORDER BY id LIMIT $limit:int

-- name: export_phone_change
SELECT id:id, phone:text, created_at:time
FROM phone_change WHERE account_id = $owner:text
    AND id > $after:any ORDER BY id LIMIT $limit:int

-- name: export_sent
SELECT id:text, channel:text, recipient:text, subject:text, created_at:time
FROM sandbox_message WHERE recipient = $owner:text AND id > $after:any ORDER BY id LIMIT $limit:int

-- name: export_next_building
-- The first owner behind $from; $inside = 1: or $from itself.
SELECT id:id FROM building WHERE account_id = $account_id:id AND id >= $from:text
    AND (id > $from OR $inside:bool = 1) ORDER BY id LIMIT 1

-- name: export_next_webhook
SELECT id:id FROM webhook WHERE account_id = $account_id:id AND id >= $from:text AND (id > $from OR $inside:bool = 1)
UNION ALL SELECT id FROM building_webhook WHERE account_id = $account_id AND id >= $from AND (id > $from OR $inside = 1)
ORDER BY id LIMIT 1
