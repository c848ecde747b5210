-- The forwarding phone of an account, and the phones of members. An empty $member_id stands for the owner.

-- name: phone_account
SELECT phone:text, phone_verified_at:time, email:text, subscription_status:text,
    (SELECT min(b.virtual_number) FROM building b WHERE b.account_id = $account_id:id) AS number:text
FROM account WHERE id = $account_id

-- name: phone_member
SELECT CASE WHEN m.phone_verified_at IS NULL THEN NULL ELSE m.phone END AS phone:text, m.phone_verified_at:time,
    m.email:text, a.subscription_status:text, b.virtual_number AS number:text
FROM member m JOIN building b ON b.id = m.building_id JOIN account a ON a.id = b.account_id
WHERE m.id = $member_id:id AND m.account_id = $account_id:id

-- name: phone_of_another
-- Returns a row if an account has verified the number whose address is not $email.
SELECT 1 FROM account WHERE phone = $phone:text AND email <> $email:text LIMIT 1

-- name: phone_member_set
UPDATE member SET phone = $phone:text, phone_verified_at = $phone_verified_at:time
WHERE id = $member_id:id AND account_id = $account_id:id

-- name: phone_member_clear
UPDATE member SET phone = NULL, phone_verified_at = NULL
WHERE id = $member_id:id AND account_id = $account_id:id AND phone_verified_at IS NOT NULL

-- name: phone_take_from_members
-- The number is verified by somebody with the address $email: the phones of other members ring no more.
UPDATE member {by member_phone} SET phone_verified_at = NULL
WHERE phone = $phone:text AND phone_verified_at IS NOT NULL AND email <> $email:text

-- name: phone_members
-- The other members of the member's building whose phones ring.
SELECT count(*) AS phones:int FROM member
WHERE building_id = (SELECT m.building_id FROM member m WHERE m.id = $member_id:id) AND phone_verified_at IS NOT NULL
    AND id <> $member_id

-- name: phone_end_member
DELETE FROM phone_code WHERE account_id = $account_id:id AND member_id = $member_id:id

-- name: phone_set
UPDATE account SET phone = $phone:text, phone_verified_at = $phone_verified_at:time WHERE id = $id:id

-- name: phone_take_from_others
-- Buildings of other accounts for which the number was given follow their account's phone again.
UPDATE building SET forward_phone = NULL,
    settings_version = settings_version + 1 WHERE forward_phone = $forward_phone:text AND account_id <> $account_id:id

-- name: phone_code_insert
INSERT INTO phone_code (account_id, id, member_id, phone, code_mac, created_at, expires_at) VALUES ($account_id:id,
    $id:id, $member_id:id, $phone:text, $code_mac:blob, $created_at:time, $expires_at:time)

-- columns: phone_nth
created_at:time

-- name: phone_code_nth
-- The time of the code with $skip later codes, if it is after $after.
SELECT {phone_nth} FROM phone_code WHERE account_id = $account_id:id
    AND coalesce(member_id, '') = coalesce($member_id:id, '') AND created_at > $after:time
ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET $skip:int

-- name: phone_code_members_nth
-- The same for the codes of all members of the member's building.
SELECT {phone_nth} FROM phone_code WHERE account_id = $account_id:id
    AND member_id IN (SELECT o.id FROM member m JOIN member o ON o.building_id = m.building_id WHERE m.id = $member_id:id)
    AND created_at > $after:time
ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET $skip:int

-- name: phone_code_used_nth
-- The same for codes that were used. They are kept for a day at least.
SELECT used_at AS created_at:time FROM phone_code WHERE account_id = $account_id:id
    AND coalesce(member_id, '') = coalesce($member_id:id, '') AND used_at > $after:time
ORDER BY used_at DESC, id DESC LIMIT 1 OFFSET $skip:int

-- name: phone_code_sent
UPDATE phone_code SET sent_at = $sent_at:time WHERE account_id = $account_id:id AND id = $id:id

-- name: phone_code_newest
SELECT id:id, phone:text, code_mac:blob, attempts:int, expires_at:time, used_at:time? FROM phone_code
WHERE account_id = $account_id:id AND coalesce(member_id, '') = coalesce($member_id:id, '') AND sent_at IS NOT NULL
ORDER BY created_at DESC, id DESC LIMIT 1

-- name: phone_code_attempt
UPDATE phone_code SET attempts = attempts + 1 WHERE account_id = $account_id:id AND id = $id:id

-- name: phone_code_use
UPDATE phone_code SET used_at = $used_at:time WHERE account_id = $account_id:id AND id = $id:id

-- name: phone_code_purge
DELETE FROM phone_code
WHERE (account_id, id) IN
    (SELECT account_id, id FROM
        (SELECT account_id, id FROM phone_code WHERE expires_at < $before:time ORDER BY expires_at LIMIT 1000) AS old
     LIMIT $limit:int)

-- name: phone_change_insert
INSERT INTO phone_change (account_id, id, phone, created_at) VALUES ($account_id:id, $id:id, $phone:text,
    $created_at:time)

-- name: phone_change_nth
-- Of an owner; a member's changes are codes that were used.
SELECT {phone_nth} FROM phone_change WHERE account_id = $account_id:id AND coalesce($member_id:id, '') = ''
    AND created_at > $after:time
ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET $skip:int

-- name: phone_verified
-- Returns a row if this account has verified the number, now or before, and no other account has it now.
SELECT 1 FROM account a
WHERE a.id = $id:id
    AND (a.phone = $phone:text OR EXISTS (SELECT 1 FROM phone_change c WHERE c.account_id = $id AND c.phone = $phone))
    AND NOT EXISTS (SELECT 1 FROM account o WHERE o.phone = $phone AND o.id <> $id)
