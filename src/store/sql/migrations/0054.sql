-- oldest program: 21
-- The text that a visitor hears before leaving a message; and when grants ended, to take label, note and code from those
-- that ended long ago, with their names in visits. An earlier program does not note the last use: the last change counts
-- then.

ALTER TABLE building ADD COLUMN greeting_message TEXT; -- NULL: the default

ALTER TABLE access_grant ADD COLUMN used_at {int}; -- the last use of a grant whose uses are limited
ALTER TABLE pass ADD COLUMN used_at {int};

CREATE INDEX visit_of_grant ON visit (building_id, grant_id) WHERE grant_id IS NOT NULL;

CREATE INDEX access_grant_ended ON access_grant ((CASE WHEN revoked = 1 THEN coalesce(updated_at, created_at)
    WHEN remaining_uses = 0 THEN coalesce(used_at, updated_at, created_at) ELSE ends_at END)) WHERE label <> '';
CREATE INDEX pass_ended ON pass ((CASE WHEN revoked = 1 THEN coalesce(updated_at, created_at)
    WHEN remaining_uses = 0 THEN coalesce(used_at, updated_at, created_at) ELSE ends_at END)) WHERE label <> '';
