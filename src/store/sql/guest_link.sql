-- Links of grants for guests. $building_id is the building's ID and $grant_id the grant's, unless said otherwise.

-- name: guest_link_add
INSERT INTO guest_link (building_id, grant_id, hash, token, timezone, created_at) VALUES ($building_id:id,
    $grant_id:idbytes, $hash:text, $token:blob, $timezone:text, $created_at:time)
ON CONFLICT (building_id, grant_id) DO NOTHING

-- name: guest_link_get
SELECT token:blob, timezone:text,
    created_at:time FROM guest_link WHERE building_id = $building_id:id AND grant_id = $grant_id:idbytes

-- name: guest_link_zone
UPDATE guest_link SET timezone = $timezone:text WHERE building_id = $building_id:id AND grant_id = $grant_id:idbytes

-- name: guest_link_delete
DELETE FROM guest_link WHERE building_id = $building_id:id AND grant_id = $grant_id:idbytes

-- name: guest_link_find
-- By the hash $hash of the token. An account that is being erased has its ID as its address.
SELECT l.building_id:id, l.grant_id:idbytes, l.timezone AS given_timezone:text, b.label:text, b.street:text, b.city:text,
    b.call_box_name:text, b.timezone:text,
    b.virtual_number:text, b.unlock_tone:text, a.subscription_status:text
FROM guest_link l JOIN building b ON b.id = l.building_id JOIN account a ON a.id = b.account_id
WHERE l.hash = $hash:text AND a.email <> a.id
