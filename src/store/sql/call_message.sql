-- Messages of visitors. IDs of calls ascend with their start.

-- name: call_message_insert
INSERT INTO call_message (call_id, building_id, seconds, audio) VALUES ($call_id:id, $building_id:id, $seconds:int,
    $audio:blob) ON CONFLICT (call_id) DO NOTHING

-- name: call_message_trim
-- Keeps the newest $keep messages of the building.
DELETE FROM call_message WHERE building_id = $building_id:id AND call_id <=
    (SELECT call_id FROM call_message
    WHERE building_id = $building_id ORDER BY call_id DESC LIMIT 1 OFFSET CAST($keep:int AS BIGINT))

-- name: call_message_get
SELECT audio:blob FROM call_message WHERE call_id = $call_id:id AND building_id = $building_id:id

-- name: call_message_owner
-- The address that hears of a message, and the label of the building.
SELECT a.email:text, b.label:text FROM building b JOIN account a ON a.id = b.account_id WHERE b.id = $id:id

-- name: call_message_purge
DELETE FROM call_message WHERE call_id IN
    (SELECT call_id FROM (SELECT call_id FROM call_message
    WHERE call_id < $before:id ORDER BY call_id LIMIT 1000) AS old LIMIT $limit:int)

-- name: sealed_messages
SELECT call_id AS id:text, audio AS sealed:blob FROM call_message WHERE call_id > $after:text ORDER BY call_id LIMIT $limit:int

-- name: sealed_message_replace
UPDATE call_message SET audio = $sealed:blob WHERE call_id = $id:text
