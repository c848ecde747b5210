-- Deletion of a linked building and its rows.

-- name: removal_grants
DELETE FROM access_grant WHERE building = (SELECT number FROM grant_building WHERE id = $building_id:id) AND (revoked,
    id) IN
    (SELECT revoked, id FROM access_grant WHERE building = (SELECT number FROM grant_building
    WHERE id = $building_id) LIMIT $limit:int)

-- name: removal_passes
DELETE FROM pass WHERE building_id = $building_id:id AND (revoked, id) IN
    (SELECT revoked, id FROM pass WHERE building_id = $building_id LIMIT $limit:int)

-- name: removal_guest_links
DELETE FROM guest_link WHERE building_id = $building_id:id AND grant_id IN
    (SELECT grant_id FROM guest_link WHERE building_id = $building_id LIMIT $limit:int)

-- name: removal_grant_count
DELETE FROM grant_count WHERE building = (SELECT number FROM grant_building WHERE id = $building_id:id)

-- name: removal_grant_building (sqlite)
-- Deletes the number of a building without grants. The highest number is kept, so that no number is assigned twice: a
-- client may still hold it.
DELETE FROM grant_building WHERE id = $building_id:id AND number < (SELECT max(number) FROM grant_building)

-- name: removal_grant_building (postgresql)
-- Random numbers are not assigned twice.
DELETE FROM grant_building WHERE id = $building_id

-- name: removal_activity
DELETE FROM activity WHERE building_id = $building_id:id AND (created_at, id) IN
    (SELECT created_at, id FROM activity WHERE building_id = $building_id LIMIT $limit:int)

-- name: removal_activity_kinds
DELETE FROM activity_kind WHERE building_id = $building_id:id AND kind IN
    (SELECT kind FROM activity_kind WHERE building_id = $building_id LIMIT $limit:int)

-- name: removal_callers
DELETE FROM door_caller WHERE building_id = $building_id:id

-- name: removal_guard
DELETE FROM door_guard WHERE building_id = $building_id:id

-- name: removal_recordings
DELETE FROM recording WHERE building_id = $building_id:id

-- name: removal_messages
DELETE FROM call_message WHERE building_id = $building_id:id

-- name: removal_members
DELETE FROM member WHERE building_id = $building_id:id

-- name: removal_keys
UPDATE api_key SET revoked_at = $revoked_at:time WHERE account_id = $account_id:id
    AND building_id = $building_id:id AND revoked_at IS NULL

-- name: removal_building
DELETE FROM building WHERE account_id = $account_id:id AND id = $id:id AND is_primary = 0

-- name: removal_calls
DELETE FROM call_record WHERE building_id = $building_id:id AND id IN
    (SELECT id FROM call_record WHERE building_id = $building_id LIMIT $limit:int)

-- name: removal_visits
DELETE FROM visit WHERE building_id = $building_id:id AND id IN
    (SELECT id FROM visit WHERE building_id = $building_id LIMIT $limit:int)

-- name: removal_push
-- And the messages for them.
DELETE FROM push WHERE building_id = $building_id:id

-- name: removal_notice_mail
DELETE FROM notice_mail WHERE building_id = $building_id:id

-- name: removal_feed
DELETE FROM feed WHERE building_id = $building_id:id AND seq IN
    (SELECT seq FROM feed WHERE building_id = $building_id LIMIT $limit:int)

-- name: removal_feed_counter
DELETE FROM feed_counter WHERE building_id = $building_id:id
