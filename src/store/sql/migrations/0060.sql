-- oldest program: 21
-- The codes that were revoked, so that a visitor's is found.

CREATE INDEX access_grant_code_revoked ON access_grant (building, access_code)
    WHERE revoked = 1 AND access_code IS NOT NULL;
CREATE INDEX pass_code_revoked ON pass (building_id, access_code)
    WHERE revoked = 1 AND access_code IS NOT NULL;
