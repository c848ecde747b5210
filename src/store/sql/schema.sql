-- The migrations that the database has had, one row each. The table must be readable before the first migration.

-- name: schema_create
CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL PRIMARY KEY)

-- name: schema_version
SELECT coalesce(max(version), 0) AS version FROM schema_version

-- name: schema_oldest
SELECT max(oldest) AS oldest FROM schema_version

-- name: schema_advance
INSERT INTO schema_version (version) VALUES ($1)

-- name: schema_admit
UPDATE schema_version SET oldest = $2 WHERE version = $1
