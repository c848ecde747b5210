-- Which migrations the database has seen: one row each. It must be readable before any of them has run.

-- name: schema_create
CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL PRIMARY KEY)

-- name: schema_version
SELECT coalesce(max(version), 0) AS version FROM schema_version

-- name: schema_advance
INSERT INTO schema_version (version) VALUES ($1)
