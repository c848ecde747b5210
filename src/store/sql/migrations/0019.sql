-- Recorded greetings of a building, played in place of the texts.

CREATE TABLE recording (
    building_id TEXT NOT NULL,
    which {int} NOT NULL,               -- enum greeting
    id TEXT NOT NULL,                   -- another one after each change
    created_at {int} NOT NULL,
    length {int} NOT NULL,              -- bytes of audio: samples
    audio {blob} NOT NULL,              -- mu-law, 8 kHz
    PRIMARY KEY (building_id, which)
) {clustered};
CREATE UNIQUE INDEX recording_id ON recording (id);
