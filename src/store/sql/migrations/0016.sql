-- The record of each call to a building, kept for 30 days.

CREATE TABLE call_record (
    building_id TEXT NOT NULL,
    id TEXT NOT NULL,                   -- ascends with the start of the call
    account_id TEXT NOT NULL,
    started_at {int} NOT NULL,
    ended_at {int},                     -- NULL: in progress, or the process ended first
    front_end TEXT NOT NULL,
    source TEXT NOT NULL,               -- address or provider
    dialled TEXT NOT NULL,              -- E.164
    caller TEXT NOT NULL,               -- E.164; '': no number
    outcome TEXT NOT NULL,
    reason TEXT NOT NULL,               -- of the decision
    grant_id TEXT,                      -- of a release
    resident_opened {int} NOT NULL,
    ended_by TEXT,                      -- NULL with ended_at
    steps TEXT NOT NULL,                -- a line each: domain/call_record.h
    PRIMARY KEY (building_id, id)
) {clustered};
CREATE UNIQUE INDEX call_record_id ON call_record (id);
