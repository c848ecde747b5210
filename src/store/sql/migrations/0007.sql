-- Checkouts, and which of the billing provider's events were seen.

CREATE TABLE checkout (
    account_id TEXT NOT NULL,
    id TEXT NOT NULL,                   -- also the provider's idempotency key of its session
    request_id TEXT NOT NULL,           -- the client's Idempotency-Key
    request_hash {blob} NOT NULL,       -- SHA-256 of its canonical body
    status TEXT NOT NULL DEFAULT 'preparing'
        CHECK (status IN ('preparing', 'open', 'complete', 'expired', 'failed')),
    created_at {int} NOT NULL,
    checked_at {int} NOT NULL,          -- when the provider was last asked about it
    plan TEXT NOT NULL,                 -- from here to return_url: what the provider is asked for, the same each time
    quantity {int} NOT NULL,
    email TEXT NOT NULL,
    customer_id TEXT,                   -- NULL: a new customer
    return_url TEXT NOT NULL,           -- the account page
    session_id TEXT,                    -- the provider's; NULL until it has answered
    url TEXT,                           -- of the hosted page
    subscription_id TEXT,               -- the provider's; once complete
    canceled_at {int},                  -- when its subscription had ended
    PRIMARY KEY (account_id, id)
) {clustered};
CREATE UNIQUE INDEX checkout_id ON checkout (id);
CREATE UNIQUE INDEX checkout_request ON checkout (account_id, request_id);
CREATE UNIQUE INDEX checkout_session ON checkout (session_id) WHERE session_id IS NOT NULL;
-- Never two at once for an account, whoever asks.
CREATE UNIQUE INDEX checkout_pending ON checkout (account_id) WHERE status IN ('preparing', 'open');
CREATE INDEX checkout_unsettled ON checkout (checked_at) WHERE status IN ('preparing', 'open');

CREATE TABLE billing_event (
    id TEXT NOT NULL PRIMARY KEY,       -- the provider's
    received_at {int} NOT NULL
) {clustered};
CREATE INDEX billing_event_age ON billing_event (received_at);
