-- Keys that were given a checkout of another key.

CREATE TABLE checkout_alias (
    account_id TEXT NOT NULL,
    request_id TEXT NOT NULL,           -- the client's Idempotency-Key
    request_hash {blob} NOT NULL,       -- SHA-256 of its canonical body
    checkout_id TEXT NOT NULL,          -- what it was answered with, for good
    PRIMARY KEY (account_id, request_id)
) {clustered};
