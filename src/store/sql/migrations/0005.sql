-- The forwarding phone: codes that were sent to verify one, and the numbers that were.

CREATE TABLE phone_code (
    account_id TEXT NOT NULL,
    id TEXT NOT NULL,
    phone TEXT NOT NULL,                -- E.164
    code_mac {blob} NOT NULL,
    created_at {int} NOT NULL,
    expires_at {int} NOT NULL,
    attempts {int} NOT NULL DEFAULT 0,
    sent_at {int},                      -- NULL: not known to have been sent, so it counts but confirms nothing
    used_at {int},
    PRIMARY KEY (account_id, id)
) {clustered};
CREATE INDEX phone_code_expiry ON phone_code (expires_at);

CREATE TABLE phone_change (             -- every number an account ever verified: kept
    account_id TEXT NOT NULL,
    id TEXT NOT NULL,
    phone TEXT NOT NULL,
    created_at {int} NOT NULL,
    PRIMARY KEY (account_id, id)
) {clustered};
CREATE INDEX phone_change_phone ON phone_change (account_id, phone);
