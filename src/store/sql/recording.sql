-- Recorded greetings.

-- name: recording_put
INSERT INTO recording (building_id, which, id, created_at, length, audio) VALUES ($building_id:id, $which:int, $id:id,
    $created_at:time, $length:int, $audio:blob)
ON CONFLICT (building_id, which) DO UPDATE SET id = excluded.id, created_at = excluded.created_at,
    length = excluded.length, audio = excluded.audio

-- name: recording_list
SELECT which:int, id:id, created_at:time, length:int FROM recording WHERE building_id = $building_id:id ORDER BY which

-- name: recording_remove
DELETE FROM recording WHERE building_id = $building_id:id AND which = $which:int

-- name: recording_audio
SELECT audio:blob FROM recording WHERE id = $id:id
