-- The migrations that the database has had, one row each. The table must be readable before the first migration.

-- name: schema_has (sqlite)
SELECT count(*) AS tables:int FROM sqlite_schema WHERE name = $name:text

-- name: schema_has (postgresql)
SELECT count(*) AS tables FROM pg_class WHERE oid = to_regclass($name)

-- name: schema_users
-- Services that are running, with a program that does not know schema $needed.
SELECT count(*) AS services:int FROM node
WHERE ended_at IS NULL AND heartbeat_at > {real} - 10000000 AND schema_version < $needed:int

-- name: schema_lock (sqlite)
SELECT 1 AS taken:int, '1h' AS statement_timeout:text, '2s' AS lock_timeout:text

-- name: schema_lock (postgresql)
-- For this transaction and this schema. A migration of a large table takes its time, but it waits only briefly for the
-- lock of a table: meanwhile the requests of running services queue up behind it.
SELECT CASE WHEN pg_try_advisory_xact_lock(1886351988, hashtext(current_schema())) THEN 1 ELSE 0 END AS taken,
    set_config('statement_timeout', '1h', true) AS statement_timeout,
    set_config('lock_timeout', '2s', true) AS lock_timeout

-- name: schema_create
CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL PRIMARY KEY)

-- name: schema_version
SELECT coalesce(max(version), 0) AS version:int FROM schema_version

-- name: schema_oldest
SELECT max(oldest) AS oldest:int FROM schema_version

-- name: schema_advance
INSERT INTO schema_version (version) VALUES ($version:int)

-- name: schema_admit
UPDATE schema_version SET oldest = $oldest:int WHERE version = $version:int
