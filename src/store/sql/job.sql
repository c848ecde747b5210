-- Work to do outside a transaction. due_at uses the service's clock, leased_until the real one: the server's, whatever
-- clocks the nodes have. Its value is also the lease's name. leased_by is the node, whose end frees its leases (node.sql).

-- name: job_insert
INSERT INTO job (id, kind, created_at, due_at, payload) VALUES ($id:text, $kind:text, $created_at:time, $due_at:time,
    $payload:blob) ON CONFLICT (id) DO NOTHING

-- created_at is the time of the last request for the job. It tells a job that was added again from the one that was
-- taken.

-- name: job_insert_again
INSERT INTO job (id, kind, created_at, due_at, payload) VALUES ($id:text, $kind:text, $created_at:time, $due_at:time,
    $payload:blob)
ON CONFLICT (id) DO UPDATE SET
    created_at = CASE WHEN job.created_at < excluded.created_at THEN excluded.created_at ELSE job.created_at + 1 END,
    due_at = CASE WHEN job.due_at > excluded.due_at THEN excluded.due_at ELSE job.due_at END, attempts = 0

-- name: job_repeat
UPDATE job SET due_at = $due_at:time, leased_until = 0, leased_by = NULL,
    attempts = 0 WHERE id = $id:text AND created_at = $created_at:time

-- columns: job
id:text, kind:text, attempts:int, created_at:time

-- name: job_take (sqlite)
UPDATE job SET leased_until = {real} + $lasts:int, leased_by = $leased_by:id, attempts = attempts + 1
WHERE id = (SELECT id FROM job WHERE due_at <= $now:time AND leased_until <= {real} ORDER BY due_at LIMIT 1)
RETURNING {job}, payload:blob, leased_until:time

-- name: job_take (postgresql)
UPDATE job SET leased_until = {real} + CAST($lasts AS BIGINT), leased_by = $leased_by, attempts = attempts + 1
WHERE id = (SELECT id FROM job WHERE due_at <= $now AND leased_until <= {real} ORDER BY due_at LIMIT 1
    FOR UPDATE SKIP LOCKED)
RETURNING {job}, payload, leased_until

-- name: job_next
SELECT due_at:time FROM job WHERE leased_until <= {real} ORDER BY due_at LIMIT 1

-- name: job_waiting
SELECT due_at:time, CASE WHEN leased_until > {real} THEN 1 ELSE 0 END AS running:bool FROM job WHERE id = $id:text

-- name: job_reschedule
UPDATE job SET due_at = $due_at:time WHERE id = $id:text AND due_at > $due_at

-- name: job_reschedule_all
UPDATE job SET due_at = $due_at:time WHERE kind = $kind:text AND due_at > $due_at

-- name: job_hold
INSERT INTO job (id, kind, created_at, due_at, payload, leased_until, leased_by, attempts)
VALUES ($id:text, $kind:text, $created_at:time, $created_at, $payload:blob, {real} + CAST($lasts:int AS BIGINT),
    $leased_by:id, 1)
ON CONFLICT (id) DO UPDATE SET leased_until = excluded.leased_until, leased_by = excluded.leased_by,
    due_at = CASE WHEN job.due_at > excluded.due_at THEN excluded.due_at ELSE job.due_at END
WHERE job.leased_until <= {real}
RETURNING leased_until:time

-- name: job_release
DELETE FROM job WHERE id = $id:text AND leased_until = $leased_until:time

-- name: job_delete
DELETE FROM job WHERE id = $id:text

-- name: job_finish
DELETE FROM job WHERE id = $id:text AND leased_until = $leased_until:time AND created_at = $created_at:time

-- name: job_free
UPDATE job SET leased_until = 0, leased_by = NULL,
    attempts = 0 WHERE id = $id:text AND leased_until = $leased_until:time

-- name: job_retry
UPDATE job SET due_at = $due_at:time, leased_until = 0,
    leased_by = NULL WHERE id = $id:text AND leased_until = $leased_until:time AND created_at = $created_at:time

-- For the operator: jobs that have failed and will be repeated, those with the most attempts first.

-- name: job_list_failing
SELECT {job}, due_at:time FROM job WHERE attempts > 1 OR (attempts = 1 AND leased_until = 0)
ORDER BY attempts DESC, id LIMIT $limit:int

-- name: job_unlease
UPDATE job SET leased_until = 0, leased_by = NULL WHERE leased_until > 0
