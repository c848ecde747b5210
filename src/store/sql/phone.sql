-- The forwarding phone.

-- name: phone_account
SELECT phone:text, phone_verified_at:time, subscription_status:text,
    (SELECT min(b.virtual_number) FROM building b WHERE b.account_id = $account_id:id) AS number:text
FROM account WHERE id = $account_id

-- name: phone_of_another
SELECT 1 FROM account WHERE phone = $phone:text AND id <> $id:id LIMIT 1

-- name: phone_set
UPDATE account SET phone = $phone:text, phone_verified_at = $phone_verified_at:time WHERE id = $id:id

-- name: phone_take_from_others
-- Buildings of other accounts for which the number was given follow their account's phone again.
UPDATE building SET forward_phone = NULL,
    settings_version = settings_version + 1 WHERE forward_phone = $forward_phone:text AND account_id <> $account_id:id

-- name: phone_code_insert
INSERT INTO phone_code (account_id, id, phone, code_mac, created_at, expires_at) VALUES ($account_id:id, $id:id,
    $phone:text, $code_mac:blob, $created_at:time, $expires_at:time)

-- columns: phone_nth
created_at:time

-- name: phone_code_nth
-- The time of the code with $skip later codes, if it is after $after.
SELECT {phone_nth} FROM phone_code WHERE account_id = $account_id:id AND created_at > $after:time
ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET $skip:int

-- name: phone_code_sent
UPDATE phone_code SET sent_at = $sent_at:time WHERE account_id = $account_id:id AND id = $id:id

-- name: phone_code_newest
SELECT id:id, phone:text, code_mac:blob, attempts:int, expires_at:time, used_at:time? FROM phone_code
WHERE account_id = $account_id:id AND sent_at IS NOT NULL
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
SELECT {phone_nth} FROM phone_change WHERE account_id = $account_id:id AND created_at > $after:time
ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET $skip:int

-- name: phone_verified
-- Returns a row if this account has verified the number, now or before, and no other account has it now.
SELECT 1 FROM account a
WHERE a.id = $id:id
    AND (a.phone = $phone:text OR EXISTS (SELECT 1 FROM phone_change c WHERE c.account_id = $id AND c.phone = $phone))
    AND NOT EXISTS (SELECT 1 FROM account o WHERE o.phone = $phone AND o.id <> $id)
