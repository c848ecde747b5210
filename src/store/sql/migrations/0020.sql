-- Messages that visitors left, kept as long as the record of their call.

CREATE TABLE call_message (
    call_id TEXT NOT NULL PRIMARY KEY,  -- of call_record
    building_id TEXT NOT NULL,
    seconds {int} NOT NULL,
    audio {blob} NOT NULL               -- a WAV file, sealed
) {clustered};
CREATE INDEX call_message_building ON call_message (building_id, call_id);
