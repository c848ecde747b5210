-- What the sandbox's billing provider keeps: it outlives a crash of the service, as an outside provider does.

CREATE TABLE sandbox_customer (
    id TEXT NOT NULL PRIMARY KEY,       -- cus_…
    account_id TEXT NOT NULL,
    email TEXT NOT NULL
) {clustered};

CREATE TABLE sandbox_session (          -- hosted checkouts
    id TEXT NOT NULL PRIMARY KEY,       -- cs_…
    request_key TEXT NOT NULL,          -- the idempotency key it was made with
    account_id TEXT NOT NULL,
    email TEXT NOT NULL,
    customer_id TEXT,                   -- NULL: a new customer, made by the payment
    plan TEXT NOT NULL,
    quantity {int} NOT NULL,
    success_url TEXT NOT NULL,
    cancel_url TEXT NOT NULL,
    url TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'complete', 'expired')),
    subscription_id TEXT,               -- once complete
    expires_at {int} NOT NULL
) {clustered};
CREATE UNIQUE INDEX sandbox_session_request ON sandbox_session (request_key);

CREATE TABLE sandbox_subscription (
    id TEXT NOT NULL PRIMARY KEY,       -- sub_…
    customer_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'past_due', 'canceled')),
    plan TEXT NOT NULL,
    quantity {int} NOT NULL
) {clustered};
CREATE INDEX sandbox_subscription_customer ON sandbox_subscription (customer_id, id);

CREATE TABLE sandbox_quantity (         -- idempotency keys of changed quantities
    request_key TEXT NOT NULL PRIMARY KEY,
    subscription_id TEXT NOT NULL,
    quantity {int} NOT NULL
) {clustered};
