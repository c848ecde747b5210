-- oldest program: 21
-- Assistants that residents have connected by OAuth (domain/oauth.h). The access token of a grant is the text of an agent
-- key, so keys are checked, listed, revoked and deleted as before, whichever program does it. Secrets are kept as hashes.

CREATE TABLE oauth_grant (
    account_id TEXT NOT NULL,
    key_id TEXT NOT NULL,        -- stays, while the key's text changes with each refresh
    family {blob} NOT NULL,      -- SHA-256 of the part that all its refresh tokens share
    token {blob} NOT NULL,       -- SHA-256 of the newest refresh token
    client {blob} NOT NULL,      -- SHA-256 of the client's ID
    scopes {int} NOT NULL,       -- that the resident allowed; the key may have fewer
    resource {int} NOT NULL,     -- enum oauth_resource
    created_at {int} NOT NULL,
    expires_at {int} NOT NULL,   -- unless it is used
    PRIMARY KEY (account_id, key_id),
    FOREIGN KEY (account_id, key_id) REFERENCES api_key (account_id, id) ON DELETE CASCADE
) {clustered};
CREATE UNIQUE INDEX oauth_grant_family ON oauth_grant (family);

CREATE TABLE oauth_code (
    hash {blob} NOT NULL PRIMARY KEY, -- SHA-256 of the code
    account_id TEXT NOT NULL,
    client {blob} NOT NULL,           -- SHA-256 of the client's ID
    redirect {blob} NOT NULL,         -- SHA-256 of the address that the code was sent to
    challenge TEXT NOT NULL,          -- S256
    scopes {int} NOT NULL,
    resource {int} NOT NULL,
    expires_at {int} NOT NULL,
    used {int} NOT NULL,              -- 1: a client has presented it
    key_id TEXT                       -- of the grant that it was exchanged for
) {clustered};
CREATE INDEX oauth_code_owner ON oauth_code (account_id, expires_at);
CREATE INDEX oauth_code_expiry ON oauth_code (expires_at);
