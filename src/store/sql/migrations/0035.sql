-- oldest program: 21
-- An account may be served the earlier revision of the interface, whose grants tell how many uses they were given.
-- Programs before this migration serve the current revision, and leave max_uses as it is: a reader takes
-- remaining_uses if that is more, or if there is no max_uses.

ALTER TABLE account ADD COLUMN earlier_revision {int} NOT NULL DEFAULT 0;
ALTER TABLE access_grant ADD COLUMN max_uses {int};   -- at the last change of remaining_uses by a person
