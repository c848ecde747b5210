-- The log keeps what an entry says apart from when it was written: buildings say few different things, often. A search
-- looks through those few, and reads the entries of the ones it wants by an index.

CREATE TABLE activity_kind (            -- what a building's entries say; never changed
    building_id TEXT NOT NULL,
    kind {int} NOT NULL,                -- counts from 1 in each building
    type TEXT NOT NULL CHECK (type IN ('unlock', 'call')),
    unlock_type TEXT NOT NULL,          -- '': none
    name TEXT NOT NULL,
    name_folded TEXT NOT NULL,          -- for the case-insensitive search
    succeeded {int} NOT NULL,
    PRIMARY KEY (building_id, kind)
) {clustered};
CREATE UNIQUE INDEX activity_kind_text ON activity_kind (building_id, name, type, unlock_type, succeeded);

DROP INDEX activity_unlock;
ALTER TABLE activity RENAME TO activity_before;
CREATE TABLE activity (
    building_id TEXT NOT NULL,
    created_at {int} NOT NULL,
    id TEXT NOT NULL,
    kind {int} NOT NULL,
    unlock_id TEXT,
    PRIMARY KEY (building_id, created_at {desc}, id {desc})
) {clustered};
CREATE INDEX activity_of_kind ON activity (building_id, kind, created_at DESC, id DESC);
CREATE INDEX activity_unlock ON activity (building_id, unlock_id, created_at DESC, id DESC)
    WHERE unlock_id IS NOT NULL;

INSERT INTO activity_kind (building_id, kind, type, unlock_type, name, name_folded, succeeded)
SELECT building_id, ROW_NUMBER() OVER (PARTITION BY building_id ORDER BY name, type, unlock_type, succeeded), type,
    unlock_type, name, name_folded, succeeded
FROM (SELECT DISTINCT building_id, type, coalesce(unlock_type, '') AS unlock_type, name, name_folded, succeeded
      FROM activity_before) AS said;
-- In the order of the key, so that it is appended to.
INSERT INTO activity (building_id, created_at, id, kind, unlock_id)
SELECT a.building_id, a.created_at, a.id, k.kind, a.unlock_id
FROM activity_before a CROSS JOIN activity_kind k
WHERE k.building_id = a.building_id AND k.name = a.name AND k.type = a.type
    AND k.unlock_type = coalesce(a.unlock_type, '') AND k.succeeded = a.succeeded;
DROP TABLE activity_before;
