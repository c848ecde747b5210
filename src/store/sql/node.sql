-- The processes that share the store. A node without a heartbeat for ten seconds (NODE_SILENT_US) is dead.

-- columns: node
id:id, version:text, schema_version:int, host:text, address:text, started_at:time, heartbeat_at:time, ended_at:time,
    ahead_us:int

-- name: node_clock
SELECT {real} AS now:time

-- name: node_join
INSERT INTO node ({node}) VALUES ($id:id, $version:text, $schema_version:int, $host:text, $address:text, {real},
    {real}, NULL, $ahead_us:int)

-- name: node_beat
-- Returns everything that a node asks for regularly, so that an idle node sends few statements.
UPDATE node SET heartbeat_at = {real}, ahead_us = $ahead_us:int WHERE id = $id:id AND ended_at IS NULL
RETURNING heartbeat_at:time,
    (SELECT count(*) FROM node n
     WHERE n.id <> $id AND n.ended_at IS NULL AND n.heartbeat_at > {real} - 10000000) AS others:int,
    (SELECT min(n.id) FROM node n
     WHERE n.id <> $id AND n.ended_at IS NULL AND n.heartbeat_at <= {real} - 10000000) AS dead:id,
    (SELECT value FROM setting WHERE name = 'sandbox_clock_offset_s') AS clock_offset_s:text

-- name: node_end (sqlite)
UPDATE node SET ended_at = {real} WHERE id = $id:id AND ended_at IS NULL AND heartbeat_at <= {real} - $silent:int
    AND $now:time > 0
RETURNING 0 AS jobs:int, 0 AS deliveries:int

-- name: node_end (postgresql)
-- Ends a node that has been silent for $silent microseconds, together with its leases. $now is the service's clock:
-- leased jobs and deliveries are due, but clocks may differ; the lanes with some are due within a minute, when the
-- leases would end.
WITH ended AS MATERIALIZED (
    UPDATE node SET ended_at = {real} WHERE id = $id AND ended_at IS NULL
    AND heartbeat_at <= {real} - CAST($silent AS BIGINT) RETURNING id
), jobs AS (
    UPDATE job SET leased_until = 0, leased_by = NULL FROM ended
    WHERE job.due_at <= CAST($now AS BIGINT) + 61000000 AND job.leased_by = ended.id
    RETURNING job.id
), due AS MATERIALIZED (
    SELECT webhook_id FROM delivery_lane WHERE due_at <= CAST($now AS BIGINT) + 61000000
    UNION ALL SELECT id FROM building_webhook WHERE due_at <= CAST($now AS BIGINT) + 61000000
), deliveries AS (
    UPDATE delivery SET leased_until = 0, leased_by = NULL FROM ended, due l
    WHERE delivery.webhook_id = l.webhook_id AND delivery.status = 'pending'
        AND delivery.due_at <= $now AND delivery.leased_by = ended.id
    RETURNING delivery.webhook_id
), lanes AS (
    UPDATE delivery_lane SET due_at = CAST($now AS BIGINT)
    WHERE due_at > $now AND webhook_id IN (SELECT webhook_id FROM deliveries)
), building_lanes AS (
    UPDATE building_webhook SET due_at = CAST($now AS BIGINT)
    WHERE due_at > $now AND id IN (SELECT webhook_id FROM deliveries)
)
SELECT (SELECT count(*) FROM jobs) AS jobs, (SELECT count(*) FROM deliveries) AS deliveries FROM ended

-- name: node_list
SELECT {node}, CASE WHEN ended_at IS NULL AND heartbeat_at > {real} - 10000000 THEN 1 ELSE 0 END AS alive:bool
FROM node ORDER BY started_at, id LIMIT $limit:int

-- name: node_purge
DELETE FROM node WHERE id IN (SELECT id FROM node WHERE ended_at < $before:time ORDER BY id LIMIT $limit:int)

-- name: node_clear
DELETE FROM node
