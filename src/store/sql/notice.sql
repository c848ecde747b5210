-- Notices of events at the door, for browsers and by e-mail (domain/notice.h).

-- name: notice_insert
INSERT INTO notice (id, building_id, notices, at, label, minutes, quiet) VALUES ($id:id, $building_id:id, $notices:int,
    $at:time, $label:text, $minutes:int, $quiet:bool)

-- name: notice_list
SELECT id:id, building_id:id, notices:int, at:time, label:text, minutes:int, quiet:bool FROM notice ORDER BY id LIMIT $limit:int

-- name: notice_delete
DELETE FROM notice WHERE id = $id:id

-- name: owner_mail_place
-- Not of an account that is being deleted: its address is its ID.
SELECT b.label:text, a.email:text, coalesce((SELECT m.language FROM notice_mail m WHERE m.building_id = b.id),
    (SELECT min(p.language) FROM push p WHERE p.building_id = b.id AND p.member_id IS NULL)) AS language:text
FROM building b JOIN account a ON a.id = b.account_id WHERE b.id = $id:id AND a.email <> a.id

-- name: notice_place
-- The facts for messages about a building, and its account's choice for e-mail. An account that is being erased has no
-- address.
SELECT b.account_id:id, b.label:text, CASE WHEN a.email <> a.id THEN a.email END AS email:text, m.notices:int,
    m.language:text, m.paid_until:time
FROM building b JOIN account a ON a.id = b.account_id LEFT JOIN notice_mail m ON m.building_id = b.id
WHERE b.id = $id:id

-- name: notice_mail_get
SELECT notices:int FROM notice_mail WHERE building_id = $building_id:id

-- name: notice_mail_put
INSERT INTO notice_mail (building_id, account_id, notices, language, paid_until) VALUES ($building_id:id,
    $account_id:id, $notices:int, $language:text, 0)
ON CONFLICT (building_id) DO UPDATE SET notices = excluded.notices, language = excluded.language

-- name: notice_mail_delete
DELETE FROM notice_mail WHERE building_id = $building_id:id

-- name: notice_mail_pay
UPDATE notice_mail SET paid_until = $paid_until:time WHERE building_id = $building_id:id

-- name: member_mail_list
-- The members who want one of the notices $notice by e-mail.
SELECT id:id, email:text, role:int, mail_notices:int, language:text, mail_paid_until:time
FROM member WHERE building_id = $building_id:id AND mail_notices & $notice:int <> 0 ORDER BY id

-- name: member_mail_get
SELECT mail_notices AS notices:int FROM member WHERE building_id = $building_id:id AND id = $id:id

-- name: member_mail_put
UPDATE member SET mail_notices = $notices:int, language = $language:text
WHERE building_id = $building_id:id AND id = $id:id

-- name: member_mail_pay
UPDATE member SET mail_paid_until = $paid_until:time WHERE building_id = $building_id:id AND id = $id:id
