-- Marks of committed transactions, for lost answers to COMMIT. PostgreSQL only: the table stays empty with SQLite.

-- name: commit_mark_put
INSERT INTO commit_mark (worker, mark, created_at) VALUES ($1, $2, $3)

-- name: commit_mark_touch
UPDATE commit_mark SET created_at = $3 WHERE worker = $1 AND mark = $2

-- name: commit_mark_forget
DELETE FROM commit_mark WHERE worker = $1 AND mark <= $2

-- name: commit_mark_expire
DELETE FROM commit_mark WHERE created_at < $1
