-- The state of the background work, for metrics and the operator. Each count ends at $1, however many rows there are.

-- name: status_counts
SELECT (SELECT count(*) FROM (SELECT 1 FROM delivery WHERE status = 'pending' LIMIT $1) AS d) AS deliveries,
    (SELECT min(due_at) FROM (SELECT min(due_at) AS due_at FROM delivery_lane
        UNION ALL SELECT min(due_at) FROM building_webhook) AS l) AS delivery_due_at,
    (SELECT count(*) FROM (SELECT 1 FROM job WHERE due_at <= $2 LIMIT $1) AS j) AS jobs,
    (SELECT min(due_at) FROM job) AS job_due_at,
    (SELECT count(*) FROM (SELECT 1 FROM building_operation WHERE status IN ('running', 'reconciliation_required')
        AND status = 'reconciliation_required' LIMIT $1) AS o) AS operations

-- name: status_failing
-- Of the next $1 jobs, those that have failed and will be repeated, by kind.
SELECT kind, count(*) AS jobs
FROM (SELECT kind, attempts, leased_until FROM job ORDER BY due_at LIMIT $1) AS next
WHERE attempts > 1 OR (attempts = 1 AND leased_until = 0)
GROUP BY kind
