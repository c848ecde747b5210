-- oldest program: 21
-- Each schema says which programs may use it: those whose newest migration is `oldest` or later. Programs from before
-- this column use only the schema that they know.

ALTER TABLE schema_version ADD COLUMN oldest {int} NOT NULL DEFAULT 0;
UPDATE schema_version SET oldest = version;
