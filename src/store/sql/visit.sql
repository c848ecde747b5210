-- Visits at the door (domain/visit.h). IDs ascend with the start of the visit.

-- columns: visit
id:id, call_id:id, started_at:time, ended_at:time?, caller:text, outcome:text, opened_by:text, opener:text, person:text,
    reason:text, grant_id:id, grant_name:text, message_seconds:int?

-- name: visit_write
-- Nothing if the building was deleted meanwhile. A name that is not known any more stays.
INSERT INTO visit (building_id, id, started_at, outcome, opened_by, opener, person, reason, grant_id, grant_name)
SELECT $building_id:id, $id:id, $started_at:time, $outcome:text, $opened_by:text, $opener:text, $person:text,
    $reason:text, $grant_id:id, $grant_name:text WHERE EXISTS (SELECT 1 FROM building b WHERE b.id = $building_id)
ON CONFLICT (building_id, id) DO UPDATE SET outcome = excluded.outcome, opened_by = excluded.opened_by,
    opener = excluded.opener, person = excluded.person, reason = excluded.reason, grant_id = excluded.grant_id,
    grant_name = CASE WHEN excluded.grant_name IS NULL AND excluded.grant_id = visit.grant_id THEN visit.grant_name
        ELSE excluded.grant_name END

-- name: visit_end
-- A visit in progress ends with outcome $outcome.
UPDATE visit SET outcome = $outcome:text WHERE building_id = $building_id:id AND id = $id:id AND outcome = 'in_progress'

-- name: visit_message
-- The visitor left a message, which may be fetched after the end.
UPDATE visit SET outcome = 'message' WHERE building_id = $building_id:id AND id = $id:id AND outcome = 'missed'

-- name: visit_grant
-- The name of a grant, revoked or not.
SELECT label:text FROM access_grant WHERE building = (SELECT number FROM grant_building
    WHERE id = $building_id:id) AND id = $id:idbytes
UNION ALL
SELECT label FROM pass WHERE building_id = $building_id AND id = $id

-- name: visit_list
-- The newest $limit visits of a building with IDs below $before and not below $first: visits by calls, and entries of the
-- log whose call is not known.
SELECT {visit} FROM (
    SELECT * FROM (SELECT v.id, c.id AS call_id, v.started_at, c.ended_at, c.caller, v.outcome, v.opened_by, v.opener,
            v.person, v.reason, v.grant_id, v.grant_name, (SELECT m.seconds FROM call_message m
                WHERE m.building_id = v.building_id AND m.call_id = v.id) AS message_seconds
        FROM visit v LEFT JOIN call_record c ON c.building_id = v.building_id AND c.id = v.id
        WHERE v.building_id = $building_id:id AND v.id < $before:text AND v.id >= $first:text
        ORDER BY v.id DESC LIMIT $limit:int) AS of_calls
    UNION ALL
    SELECT * FROM (SELECT a.id, CAST(NULL AS TEXT), a.created_at, CAST(NULL AS BIGINT), CAST(NULL AS TEXT),
            CASE WHEN k.type = 'call' THEN 'forwarded' WHEN k.succeeded = 1 THEN 'opened' ELSE 'refused' END,
            CASE WHEN k.succeeded = 1 AND k.unlock_type = 'passcode' THEN 'code'
                WHEN k.succeeded = 1 AND k.unlock_type IN ('timer', 'routine') THEN k.unlock_type END,
            CAST(NULL AS TEXT), CAST(NULL AS TEXT),
            CASE WHEN k.succeeded = 0 AND a.unlock_id IS NOT NULL THEN 'outside_window' END,
            a.unlock_id, CASE WHEN a.unlock_id IS NOT NULL THEN k.name END, CAST(NULL AS BIGINT)
        FROM (SELECT * FROM activity {by activity_alone} WHERE building_id = $building_id AND call_id IS NULL
            AND id < $before AND id >= $first ORDER BY id DESC LIMIT $limit) AS a
        JOIN activity_kind k ON k.building_id = a.building_id AND k.kind = a.kind) AS alone
) AS visits ORDER BY id DESC LIMIT $limit

-- name: visit_opener
-- The name of the key that opened, as it was then.
SELECT opener AS name:text FROM visit
WHERE building_id = $building_id:id AND id = $id:id AND opened_by IN ('browser', 'program')

-- name: visit_relabel
-- Gives at most $limit of the grant's visits its name.
UPDATE visit SET grant_name = $grant_name:text
FROM (SELECT id AS of_id FROM visit {by visit_of_grant}
    WHERE building_id = $building_id:id AND grant_id = $grant_id:id AND grant_name <> $grant_name LIMIT $limit:int) AS old
WHERE visit.building_id = $building_id AND visit.id = of_id

-- name: visit_purge
-- Deletes the oldest visits of a building with IDs below $before, at most $limit.
DELETE FROM visit WHERE building_id = $building_id:id AND id IN
    (SELECT id FROM visit WHERE building_id = $building_id AND id < $before:id ORDER BY id LIMIT $limit:int)
