-- The data of a person who is known by a telephone number or an e-mail address (privacy/person.c): rows of all
-- accounts in the order of their keys, the first columns, after $after; at most $limit. The columns after the keys have
-- the texts that are searched.

-- name: person_account
SELECT id:id, email:text, phone:text, created_at:time FROM account WHERE id > $after:any ORDER BY id LIMIT $limit:int

-- name: person_building
SELECT id:id, forward_phone:text, ring_numbers:text, callers_numbers:text, account_id:id
FROM building {by building_id} WHERE id > $after:any ORDER BY id LIMIT $limit:int

-- name: person_building_end
UPDATE building SET forward_phone = $forward_phone:text, ring_numbers = $ring_numbers:text,
    callers_numbers = $callers_numbers:text, settings_version = settings_version + 1
WHERE id = $id:any

-- name: person_member
SELECT id:id, email:text, phone:text, name:text, building_id:id, created_at:time
FROM member {by member_id} WHERE id > $after:any ORDER BY id LIMIT $limit:int

-- name: person_challenge
SELECT id:text, email:text, expires_at:time FROM challenge WHERE id > $after:any ORDER BY id LIMIT $limit:int

-- name: person_challenge_end
DELETE FROM challenge WHERE id = $id:any

-- name: person_grant
SELECT building:int, revoked:int, id:idbytes, label:text, note:text, created_at:time, ends_at:time
FROM access_grant WHERE (building, revoked, id) > ($after:any, $then_after:any, $last_after:any)
ORDER BY building, revoked, id LIMIT $limit:int

-- name: person_grant_end
UPDATE access_grant SET label = $label:text, note = $note:text, version = version + 1
WHERE building = $building:any AND revoked = $revoked:any AND id = $id:any

-- name: person_pass
SELECT building_id:id, revoked:int, id:idbytes, label:text, note:text, created_at:time, ends_at:time
FROM pass WHERE (building_id, revoked, id) > ($after:any, $then_after:any, $last_after:any)
ORDER BY building_id, revoked, id LIMIT $limit:int

-- name: person_pass_end
UPDATE pass SET label = $label:text, note = $note:text, version = version + 1
WHERE building_id = $building_id:any AND revoked = $revoked:any AND id = $id:any

-- name: person_kind
SELECT building_id:id, kind:int, name:text, name_folded:text, type:text
FROM activity_kind WHERE (building_id, kind) > ($after:any, $then_after:any)
ORDER BY building_id, kind LIMIT $limit:int

-- name: person_kind_end
-- With its number, because no two kinds of a building are the same.
UPDATE activity_kind SET name = 'erased ' || CAST(kind AS TEXT), name_folded = 'erased ' || CAST(kind AS TEXT)
WHERE building_id = $building_id:any AND kind = $kind:any

-- name: person_message
SELECT m.call_id:id, r.caller:text, m.building_id:id, m.seconds:int
FROM call_message m CROSS JOIN call_record r {by call_record_id}
WHERE m.call_id > $after:any AND r.id = m.call_id ORDER BY m.call_id LIMIT $limit:int

-- name: person_message_end
DELETE FROM call_message WHERE call_id = $call_id:any

-- name: person_call
SELECT building_id:id, id:id, caller:text, steps:text, started_at:time, ended_at:time, outcome:text, reason:text,
    grant_id:id
FROM call_record WHERE (building_id, id) > ($after:any, $then_after:any) ORDER BY building_id, id LIMIT $limit:int

-- name: person_call_end
UPDATE call_record SET caller = $caller:text, steps = $steps:text WHERE building_id = $building_id:any AND id = $id:any

-- name: person_visit
SELECT building_id:id, id:id, grant_name:text, opener:text, person:text, started_at:time, outcome:text
FROM visit WHERE (building_id, id) > ($after:any, $then_after:any) ORDER BY building_id, id LIMIT $limit:int

-- name: person_visit_end
UPDATE visit SET grant_name = $grant_name:text, opener = $opener:text, person = $person:text
WHERE building_id = $building_id:any AND id = $id:any

-- name: person_caller
SELECT building_id:id, number:text, number AS caller:text, released_at:time
FROM door_caller WHERE (building_id, number) > ($after:any, $then_after:any)
ORDER BY building_id, number LIMIT $limit:int

-- name: person_caller_end
DELETE FROM door_caller WHERE building_id = $building_id:any AND number = $number:any

-- name: person_feed
SELECT building_id:id, seq:int, data:text, at:time, type:text
FROM feed WHERE (building_id, seq) > ($after:any, $then_after:any) ORDER BY building_id, seq LIMIT $limit:int

-- name: person_feed_end
UPDATE feed SET data = $data:json WHERE building_id = $building_id:any AND seq = $seq:any

-- name: person_event
SELECT account_id:id, id:text, data:text, building_id:id, created_at:time, type:text
FROM event WHERE (account_id, id) > ($after:any, $then_after:any) ORDER BY account_id, id LIMIT $limit:int

-- name: person_event_end
UPDATE event SET data = $data:json WHERE account_id = $account_id:any AND id = $id:any

-- name: person_mail
SELECT id:text, payload:blob, created_at:time FROM job WHERE id > $after:any AND kind = 'mail' ORDER BY id LIMIT $limit:int

-- name: person_sent
SELECT id:text, recipient:text, subject:text, text:text, created_at:time
FROM sandbox_message WHERE id > $after:any ORDER BY id LIMIT $limit:int

-- name: person_sent_end
DELETE FROM sandbox_message WHERE id = $id:any
