-- oldest program: 21
-- Browsers that residents are signed in with. The key of a browser's website session has the hash of the browser's cookie
-- in place of that of a text, so keys are checked, revoked and deleted as before, whichever program does it.

CREATE TABLE browser (
    hash {blob} NOT NULL PRIMARY KEY REFERENCES api_key (hash) ON DELETE CASCADE, -- of the cookie, and of its key
    id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    program TEXT,               -- "Firefox"; NULL: not known
    system TEXT,                -- "Android"; NULL: not known
    remembered {int} NOT NULL,  -- 1: its session is renewed
    created_at {int} NOT NULL
) {clustered};
CREATE UNIQUE INDEX browser_id ON browser (account_id, id);
