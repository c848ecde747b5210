-- oldest program: 21
-- The feed of each building: what happened at its door and to its grants and settings, for the stream of events. Kept
-- for a day. A number is taken from the building's counter in the transaction that writes the row, so that the numbers
-- of a building have no gap and ascend in the order of the commits. The counter has a table of its own, because each
-- write of a building changes it: its rows are short, and reading a building meets no lock.

CREATE TABLE feed_counter (
    building_id TEXT NOT NULL PRIMARY KEY,
    seq {int} NOT NULL   -- the last number that was taken
) {clustered};

CREATE TABLE feed (
    building_id TEXT NOT NULL,
    seq {int} NOT NULL,
    at {int} NOT NULL,
    type TEXT NOT NULL,  -- "call.ring"
    data TEXT NOT NULL,  -- JSON: the members of the type
    PRIMARY KEY (building_id, seq)
) {clustered};
