-- oldest program: 21
-- Passes: grants with a calendar of their own. In a table of their own, because an earlier program would open the door
-- at other times. It does not find them, and deletes them with their building. The columns are the same as in
-- access_grant, so that a list reads both alike.

CREATE TABLE pass (
    building_id TEXT NOT NULL REFERENCES building (id) ON DELETE CASCADE,
    revoked {int} NOT NULL DEFAULT 0,
    id {blob} NOT NULL,                 -- 12 bytes
    type {int} NOT NULL,                -- of the grant that is nearest to it
    label TEXT NOT NULL,
    enabled {int} NOT NULL,
    version {int} NOT NULL DEFAULT 0,
    created_at {int} NOT NULL,
    updated_at {int},
    starts_at {int} NOT NULL,           -- 0: no start
    ends_at {int} NOT NULL,             -- 9223372036854775807: no end
    remaining_uses {int},               -- NULL: unlimited
    max_uses {int},
    access_code TEXT,                   -- four to eight digits
    voice {int} NOT NULL DEFAULT 0,
    days {int},                         -- NULL, as the next two: windows has them
    start_minute {int},
    end_minute {int},
    timezone TEXT NOT NULL,
    windows TEXT NOT NULL,              -- "0010010 09:00-12:00;…", the days from sunday; empty: always
    note TEXT,                          -- for the resident alone
    request_id TEXT,                    -- the create's Idempotency-Key
    request_key {int},                  -- the first 8 bytes of its SHA-256
    request_hash {blob},                -- the first 16 bytes of the SHA-256 of its canonical body
    created_by {blob},
    member_id {blob},
    PRIMARY KEY (building_id, revoked, id)
) {clustered};
CREATE UNIQUE INDEX pass_request ON pass (building_id, request_key) WHERE request_key IS NOT NULL;
CREATE INDEX pass_code ON pass (building_id, access_code)
    WHERE enabled = 1 AND revoked = 0 AND access_code IS NOT NULL;
CREATE INDEX pass_usable ON pass (building_id, type, ends_at, starts_at, id, enabled, remaining_uses)
    WHERE enabled = 1 AND revoked = 0 AND (remaining_uses IS NULL OR remaining_uses > 0);
CREATE INDEX pass_exhausted ON pass (building_id, id) WHERE enabled = 1 AND revoked = 0 AND remaining_uses = 0;
CREATE INDEX pass_disabled ON pass (building_id, id) WHERE enabled = 0 AND revoked = 0;

ALTER TABLE access_grant ADD COLUMN windows TEXT; -- NULL, as the next one: of table pass
ALTER TABLE access_grant ADD COLUMN note TEXT;
