-- Messages of visitors. IDs of calls ascend with their start.

-- name: call_message_insert
INSERT INTO call_message (call_id, building_id, seconds, audio) VALUES ($1, $2, $3, $4) ON CONFLICT (call_id) DO NOTHING

-- name: call_message_trim
-- Keeps the newest $2 messages of the building.
DELETE FROM call_message WHERE building_id = $1 AND call_id <=
    (SELECT call_id FROM call_message WHERE building_id = $1 ORDER BY call_id DESC LIMIT 1 OFFSET CAST($2 AS BIGINT))

-- name: call_message_get
SELECT audio FROM call_message WHERE call_id = $1 AND building_id = $2

-- name: call_message_owner
-- The address that hears of a message, and the label of the building.
SELECT a.email, b.label FROM building b JOIN account a ON a.id = b.account_id WHERE b.id = $1

-- name: call_message_purge
DELETE FROM call_message WHERE call_id IN
    (SELECT call_id FROM (SELECT call_id FROM call_message WHERE call_id < $1 ORDER BY call_id LIMIT 1000) AS old LIMIT $2)

-- name: sealed_messages
SELECT call_id, audio FROM call_message WHERE call_id > $1 ORDER BY call_id LIMIT $2

-- name: sealed_message_replace
UPDATE call_message SET audio = $2 WHERE call_id = $1
