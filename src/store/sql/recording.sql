-- Recorded greetings.

-- name: recording_put
INSERT INTO recording (building_id, which, id, created_at, length, audio) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (building_id, which) DO UPDATE SET id = excluded.id, created_at = excluded.created_at, length = excluded.length, audio = excluded.audio

-- name: recording_list
SELECT which, id, created_at, length FROM recording WHERE building_id = $1 ORDER BY which

-- name: recording_remove
DELETE FROM recording WHERE building_id = $1 AND which = $2

-- name: recording_audio
SELECT audio FROM recording WHERE id = $1
