-- oldest program: 21
-- The processes that use the store. Times are those of the database server's real clock.

CREATE TABLE node (
    id TEXT NOT NULL PRIMARY KEY,
    version TEXT NOT NULL,             -- of the program
    schema_version {int} NOT NULL,     -- the newest that it knows
    host TEXT NOT NULL,
    address TEXT NOT NULL,             -- of its HTTPS or HTTP listener
    started_at {int} NOT NULL,
    heartbeat_at {int} NOT NULL,
    ended_at {int},                    -- it stopped, or another node found that it no longer responds
    ahead_us {int} NOT NULL            -- its clock's lead over the server's
);

-- The node that has the lease. NULL: no lease, or one of a program that does not know nodes.
ALTER TABLE job ADD COLUMN leased_by TEXT;
ALTER TABLE delivery ADD COLUMN leased_by TEXT;
