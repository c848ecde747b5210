-- oldest program: 21
-- Visits: what became of each call, for as long as the log is kept.

CREATE TABLE visit (
    building_id TEXT NOT NULL,
    id TEXT NOT NULL,                   -- of the call; ascends with its start
    started_at {int} NOT NULL,
    outcome TEXT NOT NULL,
    opened_by TEXT,                     -- NULL: the door did not open
    opener TEXT,                        -- the resident's key by its name, or phone by its last digits
    reason TEXT,                        -- why no grant opened
    grant_id TEXT,                      -- that opened, or of the reason
    grant_name TEXT,
    PRIMARY KEY (building_id, id)
) {clustered};

ALTER TABLE activity ADD COLUMN call_id TEXT; -- of the visit; NULL: not known
CREATE INDEX activity_alone ON activity (building_id, id) WHERE call_id IS NULL;

-- The codes that are switched off, so that a visitor's is found.
CREATE INDEX access_grant_code_off ON access_grant (building, access_code)
    WHERE enabled = 0 AND revoked = 0 AND access_code IS NOT NULL;
CREATE INDEX pass_code_off ON pass (building_id, access_code)
    WHERE enabled = 0 AND revoked = 0 AND access_code IS NOT NULL;
