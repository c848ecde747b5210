-- One text for both engines. {int} {blob} {clustered} {desc} become each engine's own:
--   SQLite: INTEGER, BLOB, "STRICT, WITHOUT ROWID", DESC; PostgreSQL: BIGINT, BYTEA, nothing, nothing.
-- Every table that grows with use starts its key with its owner (account or building), so that it can be spread later.
-- Times are microseconds since the Unix epoch, booleans 0 or 1.

CREATE TABLE account (
    id TEXT NOT NULL PRIMARY KEY,
    email TEXT NOT NULL,
    created_at {int} NOT NULL,
    plan TEXT,                          -- NULL while there is no subscription
    subscription_status TEXT NOT NULL DEFAULT 'none' CHECK (subscription_status IN ('none', 'active', 'past_due')),
    phone TEXT,                         -- the verified forwarding phone, E.164
    phone_verified_at {int},
    subscription_ended_at {int}         -- its numbers are released 30 days later
) {clustered};
CREATE UNIQUE INDEX account_email ON account (email);
CREATE INDEX account_phone ON account (phone) WHERE phone IS NOT NULL;

CREATE TABLE building (
    account_id TEXT NOT NULL,
    id TEXT NOT NULL,
    created_at {int} NOT NULL,
    is_primary {int} NOT NULL,
    label TEXT NOT NULL,
    street TEXT, city TEXT, state TEXT, zip TEXT, country TEXT,
    virtual_number TEXT,                -- NULL while unprovisioned
    forward_phone TEXT,                 -- its own forwarding phone; NULL: the account's
    unlock_tone TEXT,
    greeting_welcome TEXT, greeting_granted TEXT, greeting_denied TEXT, greeting_forwarding TEXT, -- NULL: the default
    settings_version {int} NOT NULL DEFAULT 0,
    last_buzz_at {int},                 -- last successful rule unlock
    unlock_count {int} NOT NULL DEFAULT 0, -- log entries of type unlock
    codes_closed_until {int} NOT NULL DEFAULT 0, -- brute-force guard: no code is collected before
    PRIMARY KEY (account_id, id)
) {clustered};
CREATE UNIQUE INDEX building_id ON building (id);
CREATE UNIQUE INDEX building_number ON building (virtual_number) WHERE virtual_number IS NOT NULL;

CREATE TABLE number (                   -- the service's virtual numbers and who holds them
    number TEXT NOT NULL PRIMARY KEY,   -- E.164
    country TEXT NOT NULL,
    building_id TEXT,                   -- NULL: free
    held_since {int},
    released_at {int} NOT NULL DEFAULT 0 -- when it was last given back; 0: never held
) {clustered};
CREATE INDEX number_free ON number (country, released_at, number) WHERE building_id IS NULL;
CREATE INDEX number_country ON number (country, number);

CREATE TABLE member (
    building_id TEXT NOT NULL,
    id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    phone TEXT,
    created_at {int} NOT NULL,
    PRIMARY KEY (building_id, id)
) {clustered};
CREATE UNIQUE INDEX member_id ON member (id);
CREATE INDEX member_email ON member (email);

CREATE TABLE challenge (
    id TEXT NOT NULL PRIMARY KEY,       -- chl_ and 32 hex
    email TEXT NOT NULL,
    otp_mac {blob} NOT NULL,
    attempts {int} NOT NULL DEFAULT 0,
    expires_at {int} NOT NULL,
    used_at {int}
) {clustered};
CREATE INDEX challenge_email ON challenge (email, expires_at);
CREATE INDEX challenge_expiry ON challenge (expires_at);

CREATE TABLE api_key (
    hash {blob} NOT NULL PRIMARY KEY,   -- SHA-256 of the key
    id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    building_id TEXT,                   -- a child or member key's one building
    member_id TEXT,
    kind TEXT NOT NULL CHECK (kind IN ('web_session', 'agent')),
    name TEXT NOT NULL,
    prefix TEXT NOT NULL,
    scopes {int} NOT NULL,              -- bits in the order of tbl/scopes.def
    created_at {int} NOT NULL,
    expires_at {int},
    last_used_at {int},
    revoked_at {int}
) {clustered};
CREATE UNIQUE INDEX api_key_id ON api_key (account_id, id);
CREATE INDEX api_key_expiry ON api_key (expires_at);

CREATE TABLE access_grant (
    building_id TEXT NOT NULL,
    revoked {int} NOT NULL DEFAULT 0,   -- part of the key: a list reads nothing but grants that are not revoked
    id TEXT NOT NULL,
    type TEXT NOT NULL CHECK (type IN ('timer', 'passcode', 'routine')),
    label TEXT NOT NULL,
    enabled {int} NOT NULL,
    version {int} NOT NULL DEFAULT 0,
    created_at {int} NOT NULL,
    updated_at {int},
    starts_at {int} NOT NULL DEFAULT 0, -- of a timer
    ends_at {int} NOT NULL,             -- 9223372036854775807: no end
    remaining_uses {int},               -- NULL: unlimited
    access_code TEXT,
    voice {int} NOT NULL DEFAULT 0,
    days {int},                         -- bit 0 is sunday
    start_minute {int},                 -- of the day
    end_minute {int},
    timezone TEXT,
    request_id TEXT,                    -- the create's Idempotency-Key
    request_hash {blob},                -- SHA-256 of its canonical body
    PRIMARY KEY (building_id, revoked, id)
) {clustered};
CREATE UNIQUE INDEX access_grant_request ON access_grant (building_id, request_id) WHERE request_id IS NOT NULL;
CREATE UNIQUE INDEX access_grant_code ON access_grant (building_id, access_code)
    WHERE enabled = 1 AND revoked = 0 AND access_code IS NOT NULL;
-- The stored part of each status, so that the door and a filtered list read little more than what they want.
CREATE INDEX access_grant_usable ON access_grant (building_id, type, ends_at, starts_at, id, enabled, remaining_uses)
    WHERE enabled = 1 AND revoked = 0 AND (remaining_uses IS NULL OR remaining_uses > 0);
CREATE INDEX access_grant_exhausted ON access_grant (building_id, id)
    WHERE enabled = 1 AND revoked = 0 AND remaining_uses = 0;
CREATE INDEX access_grant_disabled ON access_grant (building_id, id) WHERE enabled = 0 AND revoked = 0;

CREATE TABLE activity (
    building_id TEXT NOT NULL,
    created_at {int} NOT NULL,
    id TEXT NOT NULL,
    type TEXT NOT NULL CHECK (type IN ('unlock', 'call')),
    unlock_id TEXT,
    unlock_type TEXT,
    name TEXT NOT NULL,
    name_folded TEXT NOT NULL,          -- for the case-insensitive search
    succeeded {int} NOT NULL,
    PRIMARY KEY (building_id, created_at {desc}, id)
) {clustered};
CREATE INDEX activity_unlock ON activity (building_id, unlock_id, created_at DESC, id) WHERE unlock_id IS NOT NULL;

CREATE TABLE event (                    -- what webhook deliveries are made from; written with its cause
    account_id TEXT NOT NULL,
    id TEXT NOT NULL,                   -- evt_ and 24 hex
    building_id TEXT,
    type TEXT NOT NULL,
    created_at {int} NOT NULL,
    data TEXT NOT NULL,                 -- JSON
    PRIMARY KEY (account_id, id)
) {clustered};

CREATE TABLE job (                      -- work to be done outside a transaction: rows with a due time and a lease
    id TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    created_at {int} NOT NULL,
    due_at {int} NOT NULL,              -- on the service's clock, which the sandbox moves
    leased_until {int} NOT NULL DEFAULT 0, -- on the real clock
    attempts {int} NOT NULL DEFAULT 0,
    payload {blob} NOT NULL             -- sealed where it holds a secret
) {clustered};
CREATE INDEX job_due ON job (due_at);

CREATE TABLE setting (                  -- the service's own few facts, e.g. the sandbox clock's offset
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) {clustered};

CREATE TABLE sandbox_message (          -- what the sandbox's mail and SMS providers "sent"
    id TEXT NOT NULL PRIMARY KEY,
    channel TEXT NOT NULL,
    recipient TEXT NOT NULL,
    subject TEXT NOT NULL,
    text TEXT NOT NULL,
    code TEXT,
    created_at {int} NOT NULL
) {clustered};
CREATE INDEX sandbox_message_recipient ON sandbox_message (recipient, id);

CREATE TABLE commit_mark (              -- PostgreSQL: one row per recent write transaction (postgresql_transaction.c)
    worker {int} NOT NULL,
    mark {int} NOT NULL,
    created_at {int} NOT NULL,
    PRIMARY KEY (worker, mark)
) {clustered};
