-- The activity log, newest first: by time, and within a millisecond by ID, both descending. The keys have IDs ascending:
-- an engine sorts the entries of one millisecond, and no more. A page continues after the position ($4, $5): entries older
-- than $4, and of those at $4 the ones whose ID is below $5.
-- $2 since and $3 until, both inclusive; $6 type, $7 outcome and $8 name pattern, each NULL for any; $9 the most rows.

-- name: activity_insert
INSERT INTO activity (building_id, created_at, id, type, unlock_id, unlock_type, name, name_folded, succeeded)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)

-- name: activity_list
SELECT id, created_at, type, unlock_id, unlock_type, name, succeeded
FROM activity
WHERE building_id = $1 AND created_at >= $2 AND created_at <= $3 AND (created_at < $4 OR id < $5)
    AND (CAST($6 AS TEXT) IS NULL OR type = $6)
    AND (CAST($7 AS BIGINT) IS NULL OR succeeded = $7)
    AND (CAST($8 AS TEXT) IS NULL OR name_folded LIKE $8 ESCAPE '!')
ORDER BY created_at DESC, id DESC LIMIT $9

-- name: activity_list_unlock
-- The same for the entries of one grant, $10.
SELECT id, created_at, type, unlock_id, unlock_type, name, succeeded
FROM activity {by activity_unlock}
WHERE building_id = $1 AND unlock_id = $10 AND created_at >= $2 AND created_at <= $3
    AND (created_at < $4 OR id < $5)
    AND (CAST($6 AS TEXT) IS NULL OR type = $6)
    AND (CAST($7 AS BIGINT) IS NULL OR succeeded = $7)
    AND (CAST($8 AS TEXT) IS NULL OR name_folded LIKE $8 ESCAPE '!')
ORDER BY created_at DESC, id DESC LIMIT $9
