-- Virtual numbers that come from a provider, and building operations.

ALTER TABLE number ADD COLUMN pooled {int} NOT NULL DEFAULT 1; -- 1: the operator's, kept when it is free; 0: a provider's

CREATE TABLE sandbox_number (           -- the sandbox's numbers provider: what stands at an outside one's
    number TEXT NOT NULL PRIMARY KEY,   -- E.164
    country TEXT NOT NULL,
    reference TEXT,                     -- whom it was got for; NULL: given back
    held_since {int},
    released_at {int} NOT NULL DEFAULT 0
) {clustered};
CREATE UNIQUE INDEX sandbox_number_reference ON sandbox_number (reference) WHERE reference IS NOT NULL;
CREATE INDEX sandbox_number_free ON sandbox_number (country, released_at, number) WHERE reference IS NULL;
CREATE INDEX sandbox_number_country ON sandbox_number (country, number);

-- What the sandbox's provider gave before it had a table of its own.
INSERT INTO sandbox_number (number, country, reference, held_since, released_at)
SELECT number, country, building_id, held_since, released_at FROM number
WHERE number BETWEEN '+15550100000' AND '+15550299999' AND (building_id IS NOT NULL OR released_at > 0);
DELETE FROM number WHERE building_id IS NULL AND number IN (SELECT number FROM sandbox_number);
UPDATE number SET pooled = 0 WHERE number IN (SELECT number FROM sandbox_number);

CREATE TABLE building_operation (
    account_id TEXT NOT NULL,
    id TEXT NOT NULL,
    action TEXT NOT NULL CHECK (action IN ('add', 'remove')),
    status TEXT NOT NULL DEFAULT 'quoted'
        CHECK (status IN ('quoted', 'running', 'succeeded', 'failed', 'reconciliation_required')),
    created_at {int} NOT NULL,
    expires_at {int} NOT NULL,          -- of the quote
    building_id TEXT,                   -- of an addition: since its execution began
    label TEXT NOT NULL,
    street TEXT, city TEXT, state TEXT, zip TEXT, country TEXT, -- these to phone_number: of an addition
    unlock_tone TEXT,
    phone_number TEXT,
    virtual_number TEXT,                -- of a removal: at the quote
    building_count {int} NOT NULL,      -- at the quote, as is what follows
    subscription_id TEXT NOT NULL,
    price_id TEXT NOT NULL,
    current_quantity {int} NOT NULL,
    new_quantity {int} NOT NULL,
    currency TEXT NOT NULL,
    next_invoice_minor {int} NOT NULL,
    per_building_minor {int},           -- NULL: tiered
    billing_interval TEXT,
    proration_s {int} NOT NULL,         -- Unix seconds
    request_id TEXT,                    -- the execution's Idempotency-Key
    request_hash {blob},                -- SHA-256 of its canonical body
    step TEXT,                          -- what is to be done next; NULL before and after
    attempt {int} NOT NULL DEFAULT 0,   -- part of the keys that providers are given: counts what must be asked anew
    progressed_at {int},
    error TEXT,                         -- the code of a failed one
    result_number TEXT,                 -- the number that was got, or given back
    PRIMARY KEY (account_id, id)
) {clustered};
CREATE UNIQUE INDEX building_operation_id ON building_operation (id);
CREATE UNIQUE INDEX building_operation_request ON building_operation (account_id, request_id)
    WHERE request_id IS NOT NULL;
CREATE UNIQUE INDEX building_operation_current ON building_operation (account_id)
    WHERE status IN ('running', 'reconciliation_required'); -- one at a time
