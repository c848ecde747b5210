-- The guard against guessing codes counts for two groups of callers.

CREATE TABLE door_caller (              -- numbers whose calls released the building's door: its known callers
    building_id TEXT NOT NULL,
    number TEXT NOT NULL,
    released_at {int} NOT NULL,         -- the last time, to the hour
    PRIMARY KEY (building_id, number)
) {clustered};
CREATE INDEX door_caller_newest ON door_caller (building_id, released_at);
CREATE INDEX door_caller_age ON door_caller (released_at);

CREATE TABLE door_guard (
    building_id TEXT NOT NULL,
    known {int} NOT NULL,               -- 1: of known callers, 0: of all others
    failed_1 {int} NOT NULL,            -- the last wrong codes of the group, newest first; 0: none
    failed_2 {int} NOT NULL DEFAULT 0,
    failed_3 {int} NOT NULL DEFAULT 0,
    failed_4 {int} NOT NULL DEFAULT 0,
    closed_until {int} NOT NULL DEFAULT 0, -- no code is collected from the group before
    closings {int} NOT NULL DEFAULT 0,  -- since the last day without a wrong code
    mailed_at {int} NOT NULL DEFAULT 0, -- when the owner was last told
    PRIMARY KEY (building_id, known)
) {clustered};
CREATE INDEX door_guard_age ON door_guard (failed_1);

-- A keypad that is closed stays closed: to strangers, as nobody is known yet. It was closed for ten minutes.
INSERT INTO door_guard (building_id, known, failed_1, closed_until, closings)
SELECT id, 0, codes_closed_until - 600000000, codes_closed_until, 1 FROM building WHERE codes_closed_until > 0;
ALTER TABLE building DROP COLUMN codes_closed_until;
