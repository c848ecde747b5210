-- Invited members of buildings.

-- columns: membership
id:id, building_id:id, account_id:id, name:text, email:text, phone:text, role:int, language:text, created_at:time,
    invited_until:time?, phone_verified_at:time

-- name: member_insert
INSERT INTO member (building_id, id, account_id, name, email, phone, role, language, created_at, invited_until)
VALUES ($building_id:id, $id:id, $account_id:id, $name:text, $email:text, $phone:text, $role:int, $language:text,
    $created_at:time, $invited_until:time?)

-- name: member_by_email
SELECT {membership} FROM member WHERE building_id = $building_id:id AND email = $email:text ORDER BY id LIMIT 1

-- name: member_list
SELECT {membership m}, b.label:text
FROM member m JOIN building b ON b.id = m.building_id
ORDER BY m.building_id, m.id

-- name: member_of_building
SELECT {membership} FROM member WHERE building_id = $building_id:id ORDER BY id LIMIT $limit:int

-- name: member_get
SELECT {membership} FROM member WHERE id = $id:id

-- name: member_first
-- The oldest building of an address.
SELECT {membership} FROM member
WHERE email = $email:text AND (invited_until IS NULL OR invited_until > $now:time) ORDER BY building_id, id LIMIT 1

-- name: member_of_address
SELECT {membership}, (SELECT b.label FROM building b WHERE b.id = member.building_id AND b.account_id = member.account_id) AS label:text
FROM member WHERE email = $email:text AND (invited_until IS NULL OR invited_until > $now:time)
ORDER BY building_id, id LIMIT $limit:int

-- name: member_phones
-- The verified phones of residents, and their quiet hours.
SELECT phone:text, quiet_from:int?, quiet_to:int? FROM member
WHERE building_id = $building_id:id AND phone_verified_at IS NOT NULL AND role = 0 ORDER BY id LIMIT $limit:int

-- name: member_of_phone
-- The names of members whose phones end with $number, which no other phone of the building does; $among: the same
-- within a list.
SELECT m.name:text FROM member m JOIN building b ON b.id = m.building_id JOIN account a ON a.id = b.account_id
WHERE m.building_id = $building_id:id AND m.phone_verified_at IS NOT NULL AND m.phone LIKE $number:text
    AND ' ' || coalesce(b.forward_phone, a.phone, '') || ' ' || coalesce(b.ring_numbers, '') || ' ' NOT LIKE $among:text
ORDER BY m.id LIMIT 2

-- name: member_update
UPDATE member SET name = $name:text, role = $role:int WHERE building_id = $building_id:id AND id = $id:id

-- name: member_accept
UPDATE member SET invited_until = NULL WHERE building_id = $building_id:id AND id = $id:id AND invited_until > $now:time

-- name: member_delete
DELETE FROM member WHERE building_id = $building_id:id AND id = $id:id

-- name: member_count
SELECT count(*) AS members:int FROM member WHERE building_id = $building_id:id

-- name: member_invited
-- Counts an invitation of account $id, if it has sent fewer than $max on this day.
UPDATE account SET invited = CASE WHEN invited_day = $day:int THEN invited + 1 ELSE 1 END, invited_day = $day
WHERE id = $id:id AND (invited_day IS NULL OR invited_day <> $day OR invited < $max:int)
