-- Marks of committed transactions, for lost answers to COMMIT. PostgreSQL only: the table stays empty with SQLite.

-- name: commit_mark_put
INSERT INTO commit_mark (worker, mark, created_at) VALUES ($worker:int, $mark:int, $created_at:time)

-- name: commit_mark_touch
UPDATE commit_mark SET created_at = $created_at:time WHERE worker = $worker:int AND mark = $mark:int

-- name: commit_mark_forget
DELETE FROM commit_mark WHERE worker = $worker:int AND mark <= $mark:int

-- name: commit_mark_expire
DELETE FROM commit_mark WHERE created_at < $before:time
