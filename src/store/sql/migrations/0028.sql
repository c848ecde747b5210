-- oldest program: 21
-- Notices of events at the door: pushed to browsers (Web Push), or sent by e-mail. An earlier program records none.

-- Moments that may be of interest to a subscriber; gone once messages are made of them.
CREATE TABLE notice (
    id TEXT NOT NULL PRIMARY KEY,
    building_id TEXT NOT NULL,
    notices {int} NOT NULL,     -- bits of enum notice (domain/notice.h)
    at {int} NOT NULL,
    label TEXT,                 -- of the grant that was used
    minutes {int} NOT NULL      -- that the keypad is closed
) {clustered};

-- A browser's subscription to a building's notices. All rows of a browser have the same endpoint and keys.
CREATE TABLE push (
    building_id TEXT NOT NULL,
    hash {blob} NOT NULL REFERENCES browser (hash) ON DELETE CASCADE,
    account_id TEXT NOT NULL,
    notices {int} NOT NULL,     -- bits of enum notice; never 0
    language TEXT NOT NULL,     -- "es"
    endpoint TEXT NOT NULL,     -- the push service's URL for this browser
    p256dh {blob} NOT NULL,     -- the browser's keys
    auth {blob} NOT NULL,
    created_at {int} NOT NULL,
    PRIMARY KEY (building_id, hash)
) {clustered};
CREATE INDEX push_browser ON push (hash);

-- Messages to be pushed: the newest of each kind, for each subscription.
CREATE TABLE push_message (
    building_id TEXT NOT NULL,
    hash {blob} NOT NULL,
    notice {int} NOT NULL,
    account_id TEXT NOT NULL,
    at {int} NOT NULL,
    payload TEXT NOT NULL,
    due_at {int} NOT NULL,
    leased_until {int} NOT NULL DEFAULT 0,  -- real time; until then a process sends it
    attempts {int} NOT NULL DEFAULT 0,
    PRIMARY KEY (building_id, hash, notice),
    FOREIGN KEY (building_id, hash) REFERENCES push (building_id, hash) ON DELETE CASCADE
) {clustered};
CREATE INDEX push_message_due ON push_message (due_at);

-- The service's key pair, by which push services know it. Browsers are subscribed with it, so it never changes.
CREATE TABLE push_key (
    id TEXT NOT NULL PRIMARY KEY,
    point {blob} NOT NULL,
    secret {blob} NOT NULL      -- sealed
) {clustered};

-- Notices of a building that are sent to the account's e-mail address.
CREATE TABLE notice_mail (
    building_id TEXT NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL,
    notices {int} NOT NULL,     -- never 0
    language TEXT NOT NULL,
    paid_until {int} NOT NULL   -- each mail moves it on, which bounds their number
) {clustered};
