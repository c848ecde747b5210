-- Call boxes and telephones that sign in with a password (SIP digest).

CREATE TABLE box (
    name TEXT NOT NULL PRIMARY KEY,     -- of its digest
    number TEXT,                        -- E.164: its calls come from it; NULL: from the number in From
    secret {blob} NOT NULL,             -- the password, sealed
    created_at {int} NOT NULL,
    registered_until {int} NOT NULL DEFAULT 0,
    registered_from TEXT                -- address of its last registration
) {clustered};
