-- Webhook endpoints and their deliveries (the outbox: rows written in the transaction of their cause).

CREATE TABLE webhook (
    account_id TEXT NOT NULL,
    id TEXT NOT NULL,
    created_at {int} NOT NULL,
    url TEXT NOT NULL,
    events {int} NOT NULL,              -- bits in the order of tbl/events.def
    secret {blob} NOT NULL,             -- sealed
    request_id TEXT,                    -- the create's Idempotency-Key
    request_hash {blob},                -- SHA-256 of its canonical body
    deleted_at {int},                   -- kept, so that the create's receipt is never erased
    PRIMARY KEY (account_id, id)
) {clustered};
CREATE UNIQUE INDEX webhook_id ON webhook (id);
CREATE UNIQUE INDEX webhook_request ON webhook (account_id, request_id) WHERE request_id IS NOT NULL;
CREATE INDEX webhook_live ON webhook (account_id, id, events) WHERE deleted_at IS NULL;

CREATE TABLE delivery (
    webhook_id TEXT NOT NULL,
    id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    event_id TEXT NOT NULL,
    created_at {int} NOT NULL,
    status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed', 'canceled')),
    attempts {int} NOT NULL DEFAULT 0,  -- that have ended
    due_at {int} NOT NULL,              -- of the next attempt, on the service's clock
    leased_until {int} NOT NULL DEFAULT 0, -- on the real clock; only where several processes share the store
    attempted_at {int},                 -- the last attempt's end
    status_code {int},                  -- of its answer; NULL: none came
    failure TEXT,                       -- why it failed, in a word; NULL: it did not
    PRIMARY KEY (webhook_id, id)
) {clustered};
CREATE INDEX delivery_due ON delivery (webhook_id, due_at, id) WHERE status = 'pending';
CREATE INDEX delivery_history ON delivery (webhook_id, status, id);
CREATE INDEX delivery_status ON delivery (status, id);
CREATE INDEX delivery_event ON delivery (account_id, event_id);
CREATE INDEX event_age ON event (created_at);
