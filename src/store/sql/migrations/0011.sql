-- Grants take half the space: under their building's number in place of its ID, with IDs in bytes, types as numbers,
-- and a short hash of the request in its index.

CREATE TABLE grant_building (           -- the numbers of buildings that have had a grant
    id TEXT NOT NULL PRIMARY KEY,       -- the building's
    number {int} NOT NULL
) {clustered};
CREATE UNIQUE INDEX grant_building_number ON grant_building (number);
INSERT INTO grant_building (id, number)
SELECT building_id, row_number() OVER (ORDER BY building_id) FROM (SELECT DISTINCT building_id FROM access_grant) AS b;

-- The new rows take the room of the old indexes. They are inserted in the order of the key, so that the new indexes,
-- which all begin with the building, grow at their ends.
DROP INDEX access_grant_request;
DROP INDEX access_grant_code;
DROP INDEX access_grant_usable;
DROP INDEX access_grant_exhausted;
DROP INDEX access_grant_disabled;
ALTER TABLE access_grant RENAME TO access_grant_old;

CREATE TABLE access_grant (
    building {int} NOT NULL,            -- its number in grant_building
    revoked {int} NOT NULL DEFAULT 0,   -- part of the key: a list reads nothing but grants that are not revoked
    id {blob} NOT NULL,                 -- 12 bytes
    type {int} NOT NULL CHECK (type IN (0, 1, 2)), -- enum grant_type: timer, passcode, routine
    label TEXT NOT NULL,
    enabled {int} NOT NULL,
    version {int} NOT NULL DEFAULT 0,
    created_at {int} NOT NULL,
    updated_at {int},
    starts_at {int} NOT NULL DEFAULT 0, -- of a timer
    ends_at {int} NOT NULL,             -- 9223372036854775807: no end
    remaining_uses {int},               -- NULL: unlimited
    access_code TEXT,
    voice {int} NOT NULL DEFAULT 0,
    days {int},                         -- bit 0 is sunday
    start_minute {int},                 -- of the day
    end_minute {int},
    timezone TEXT,
    request_id TEXT,                    -- the create's Idempotency-Key
    request_key {int},                  -- the first 8 bytes of its SHA-256
    request_hash {blob},                -- the first 16 bytes of the SHA-256 of its canonical body
    PRIMARY KEY (building, revoked, id)
) {clustered};
CREATE UNIQUE INDEX access_grant_request ON access_grant (building, request_key) WHERE request_key IS NOT NULL;
CREATE UNIQUE INDEX access_grant_code ON access_grant (building, access_code)
    WHERE enabled = 1 AND revoked = 0 AND access_code IS NOT NULL;
-- The stored part of each status, so that the door and a filtered list read little more than what they want.
CREATE INDEX access_grant_usable ON access_grant (building, type, ends_at, starts_at, id, enabled, remaining_uses)
    WHERE enabled = 1 AND revoked = 0 AND (remaining_uses IS NULL OR remaining_uses > 0);
CREATE INDEX access_grant_exhausted ON access_grant (building, id)
    WHERE enabled = 1 AND revoked = 0 AND remaining_uses = 0;
CREATE INDEX access_grant_disabled ON access_grant (building, id) WHERE enabled = 0 AND revoked = 0;

INSERT INTO access_grant (building, revoked, id, type, label, enabled, version, created_at, updated_at, starts_at,
    ends_at, remaining_uses, access_code, voice, days, start_minute, end_minute, timezone, request_id, request_key,
    request_hash)
SELECT b.number, o.revoked, {bytes o.id}, CASE o.type WHEN 'timer' THEN 0 WHEN 'passcode' THEN 1 ELSE 2 END, o.label,
    o.enabled, o.version, o.created_at, o.updated_at, o.starts_at, o.ends_at, o.remaining_uses, o.access_code, o.voice,
    o.days, o.start_minute, o.end_minute, o.timezone, o.request_id, {hash o.request_id}, substr(o.request_hash, 1, 16)
FROM grant_building b CROSS JOIN access_grant_old o
WHERE o.building_id = b.id
ORDER BY b.id, o.revoked, o.id;
DROP TABLE access_grant_old;
