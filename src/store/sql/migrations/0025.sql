-- oldest program: 21
-- A key's check is remembered as long as nothing it was read from has changed: the key, the account, and the account's
-- buildings, for which this number stands. A trigger changes it, so that an earlier program does, too. Random, because
-- after a failover that loses commits a counter would return to values that it had before. With SQLite nobody reads it.

ALTER TABLE account ADD COLUMN buildings_version {int} NOT NULL DEFAULT 0;

{postgresql
CREATE FUNCTION building_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE account SET buildings_version = CAST(floor(random() * 9007199254740992) AS BIGINT)
    WHERE id = coalesce(NEW.account_id, OLD.account_id);
    RETURN NULL;
END $$;
CREATE TRIGGER building_changed AFTER INSERT OR DELETE OR UPDATE OF id, is_primary ON building
FOR EACH ROW EXECUTE FUNCTION building_changed();
}
