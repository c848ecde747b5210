-- The state of the background work, for metrics and the operator. Each count ends at $most, however many rows there
-- are.

-- name: status_counts
SELECT (SELECT count(*) FROM (SELECT 1 FROM delivery WHERE status = 'pending' LIMIT $most:int) AS d) AS deliveries:int,
    (SELECT min(due_at) FROM (SELECT min(due_at) AS due_at FROM delivery_lane
        UNION ALL SELECT min(due_at) FROM building_webhook) AS l) AS delivery_due_at:time?,
    (SELECT count(*) FROM (SELECT 1 FROM job WHERE due_at <= $now:time LIMIT $most) AS j) AS jobs:int,
    (SELECT min(due_at) FROM job) AS job_due_at:time?,
    (SELECT count(*) FROM (SELECT 1 FROM building_operation WHERE status IN ('running', 'reconciliation_required')
        AND status = 'reconciliation_required' LIMIT $most) AS o) AS operations:int

-- name: status_failing
-- Of the next $limit jobs, the ones that have failed and will be repeated, by kind.
SELECT kind:text, count(*) AS jobs:int
FROM (SELECT kind, attempts, leased_until FROM job ORDER BY due_at LIMIT $limit:int) AS next
WHERE attempts > 1 OR (attempts = 1 AND leased_until = 0)
GROUP BY kind
