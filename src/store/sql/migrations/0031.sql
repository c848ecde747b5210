-- oldest program: 21
-- Links to the page that tells a guest how to use a grant. The token in a link is found by its hash, and kept sealed so
-- that the same link can be given again.

CREATE TABLE guest_link (
    building_id TEXT NOT NULL,
    grant_id {blob} NOT NULL,    -- 12 bytes
    hash TEXT NOT NULL,          -- SHA-256 of the token, in hexadecimal
    token {blob} NOT NULL,       -- sealed
    timezone TEXT,               -- IANA name, for a building without one; NULL: not given
    created_at {int} NOT NULL,
    PRIMARY KEY (building_id, grant_id)
) {clustered};
CREATE UNIQUE INDEX guest_link_hash ON guest_link (hash);
