-- Buildings and their settings.

-- name: building_of
SELECT is_primary:bool FROM building WHERE account_id = $account_id:id AND id = $id:id

-- name: building_insert_primary
INSERT INTO building (account_id, id, created_at, is_primary, label) VALUES ($account_id:id, $id:id, $created_at:time,
    1, $label:text)

-- columns: building
id:id, is_primary:bool, label:text, street:text, city:text, state:text, zip:text, country:text, virtual_number:text,
    unlock_tone:text, last_buzz_at:time?, timezone:text

-- name: building_get
SELECT {building}
FROM building WHERE account_id = $account_id:id AND id = $id:id

-- name: building_list
SELECT {building}
FROM building WHERE account_id = $account_id:id
ORDER BY created_at, id

-- columns: release
release_length_ms:int?, release_gap_ms:int?, release_delay_ms:int?, release_repeat:int?, release_mode:int?,
    release_before_greeting:bool?

-- columns: ring
ring_numbers:text, ring_strategy:int?, ring_seconds:int?, ring_accept:bool?, ring_message:bool?

-- columns: callers
callers_mode:int?, callers_numbers:text, callers_others:int?

-- name: building_settings
SELECT b.label:text, b.street:text, b.city:text, b.state:text, b.zip:text, b.country:text, b.call_box_name:text,
    b.virtual_number:text, b.unlock_tone:text, b.greeting_welcome:text, b.greeting_granted:text,
    b.greeting_denied:text,
    b.greeting_forwarding:text, b.greeting_message:text, b.settings_version:int, b.timezone:text, {release b}, {ring b}, {callers b},
    b.say_opening:bool?, coalesce(b.forward_phone, a.phone) AS phone:text,
    b.forward_phone:text,
    (SELECT count(*) FROM member m WHERE m.building_id = b.id AND m.phone_verified_at IS NOT NULL AND m.role = 0)
    AS members:int
FROM building b JOIN account a ON a.id = b.account_id
WHERE b.account_id = $account_id:id AND b.id = $id:id

-- name: building_settings_put
UPDATE building SET unlock_tone = $unlock_tone:text, greeting_welcome = $greeting_welcome:text,
    greeting_granted = $greeting_granted:text, greeting_denied = $greeting_denied:text,
    greeting_forwarding = $greeting_forwarding:text, greeting_message = $greeting_message:text,
    settings_version = settings_version + 1,
    release_length_ms = coalesce($release_length_ms:int?, release_length_ms),
    release_gap_ms = coalesce($release_gap_ms:int?, release_gap_ms),
    release_delay_ms = coalesce($release_delay_ms:int?, release_delay_ms),
    release_repeat = coalesce($release_repeat:int?, release_repeat),
    release_mode = coalesce($release_mode:int?, release_mode),
    release_before_greeting = coalesce($release_before_greeting:int?, release_before_greeting),
    ring_numbers = coalesce($ring_numbers:text, ring_numbers), ring_strategy = coalesce($ring_strategy:int?,
    ring_strategy),
    ring_seconds = coalesce($ring_seconds:int?, ring_seconds), ring_accept = coalesce($ring_accept:int?, ring_accept),
    ring_message = coalesce($ring_message:int?, ring_message), timezone = coalesce($timezone:text, timezone),
    callers_mode = coalesce($callers_mode:int?, callers_mode), callers_numbers = coalesce($callers_numbers:text,
    callers_numbers),
    callers_others = coalesce($callers_others:int?, callers_others),
    say_opening = coalesce($say_opening:int?, say_opening),
    forward_phone = CASE WHEN $phone_given:bool = 1 THEN CAST($forward_phone:text AS TEXT) ELSE forward_phone END
WHERE account_id = $account_id:id AND id = $id:id AND settings_version = $settings_version:int

-- name: building_put_place
-- A building without a time zone gets $timezone.
UPDATE building SET label = $label:text, street = $street:text, city = $city:text, state = $state:text, zip = $zip:text,
    country = $country:text, call_box_name = $call_box_name:text, timezone = coalesce(timezone, $timezone:text)
WHERE account_id = $account_id:id AND id = $id:id

-- The building's number is another one from now on: nobody has tried it yet.

-- name: building_give_number
UPDATE building SET virtual_number = $virtual_number:text,
    last_buzz_at = NULL WHERE account_id = $account_id:id AND id = $id:id

-- name: building_set_number
UPDATE building SET virtual_number = $virtual_number:text WHERE account_id = $account_id:id AND id = $id:id

-- name: building_for_number
SELECT account_id:id, virtual_number:text, country:text, unlock_tone:text FROM building WHERE id = $id:id

-- name: building_first_zone
-- The zone of the account's primary building, unless it has one.
UPDATE building SET timezone = $timezone:text, settings_version = settings_version + 1
WHERE account_id = $account_id:id AND is_primary = 1 AND timezone IS NULL
RETURNING id:id

-- name: building_zone
SELECT timezone:text FROM building WHERE id = $id:id

-- name: building_delete
DELETE FROM building WHERE account_id = $account_id:id AND id = $id:id

-- The $limit buildings without a number after the ID $after, whether their accounts have a subscription, and whether a
-- job gets one.

-- name: building_waiting
SELECT b.id:id, CASE WHEN a.subscription_status <> 'none' THEN 1 ELSE 0 END AS entitled:bool,
    CASE WHEN EXISTS (SELECT 1 FROM job j WHERE j.id = 'provision-' || b.id) THEN 1 ELSE 0 END AS expected:bool
FROM building b {by building_waiting} JOIN account a ON a.id = b.account_id
WHERE b.virtual_number IS NULL AND b.id > $after:text ORDER BY b.id LIMIT $limit:int

-- name: building_walk
-- The $limit buildings after the ID $after, of any account.
SELECT id:id FROM building {by building_id} WHERE id > $after:text ORDER BY id LIMIT $limit:int
