-- The feed of a building.

-- name: feed_count
-- Takes the next number. The lock on the row keeps the order.
INSERT INTO feed_counter (building_id, seq) VALUES ($building_id:id, 1)
ON CONFLICT (building_id) DO UPDATE SET seq = feed_counter.seq + 1

-- name: feed_count_again
-- The same for a building that perhaps exists no more.
UPDATE feed_counter SET seq = seq + 1 WHERE building_id = $building_id:id

-- name: feed_insert
-- With the number that this transaction has taken.
INSERT INTO feed (building_id, seq, at, type, data) SELECT building_id, seq, $at:time, $type:text,
    $data:json FROM feed_counter WHERE building_id = $building_id:id

-- name: feed_newest
SELECT seq:int FROM feed_counter WHERE building_id = $building_id:id

-- name: feed_leap
-- After a restore: the numbers of events that came after the copy are not given again.
UPDATE feed_counter SET seq = seq + 1000000000

-- name: feed_read
SELECT seq:int, at:time, type:text, data:text FROM feed WHERE building_id = $building_id:id
    AND seq > $after:int ORDER BY seq LIMIT $limit:int

-- name: feed_tell (sqlite)
-- Only one process uses the store: nobody listens.
SELECT seq AS told:int FROM feed_counter WHERE building_id = $building_id:text

-- name: feed_tell (postgresql)
-- Tells the other nodes.
SELECT CASE WHEN pg_notify('portero_feed', $building_id) IS NULL THEN 0 ELSE 1 END AS told

-- name: feed_of_grant
-- The events whose data matches $pattern: of a grant that opened the door.
SELECT seq:int, data:text FROM feed WHERE building_id = $building_id:id AND type = 'call.released' AND data LIKE $pattern:text
ORDER BY seq DESC LIMIT $limit:int

-- name: feed_data
UPDATE feed SET data = $data:json WHERE building_id = $building_id:id AND seq = $seq:int

-- name: feed_purge
-- The oldest rows from before $before, at most $limit.
DELETE FROM feed WHERE (building_id, seq) IN
    (SELECT building_id, seq FROM feed {by feed_at} WHERE at < $before:time ORDER BY at, building_id,
    seq LIMIT $limit:int)
