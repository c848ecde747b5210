-- The forwarding phone.

-- name: phone_account
SELECT phone, phone_verified_at, subscription_status,
    (SELECT min(b.virtual_number) FROM building b WHERE b.account_id = $1) AS number
FROM account WHERE id = $1

-- name: phone_of_another
SELECT 1 FROM account WHERE phone = $2 AND id <> $1 LIMIT 1

-- name: phone_set
UPDATE account SET phone = $2, phone_verified_at = $3 WHERE id = $1

-- name: phone_take_from_others
-- Buildings of other accounts for which the number was given follow their account's phone again.
UPDATE building SET forward_phone = NULL, settings_version = settings_version + 1 WHERE forward_phone = $2 AND account_id <> $1

-- name: phone_code_insert
INSERT INTO phone_code (account_id, id, phone, code_mac, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6)

-- columns: phone_nth
created_at

-- name: phone_code_nth
-- The time of the code with $3 later codes, if it is after $2.
SELECT {phone_nth} FROM phone_code WHERE account_id = $1 AND created_at > $2
ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET $3

-- name: phone_code_sent
UPDATE phone_code SET sent_at = $3 WHERE account_id = $1 AND id = $2

-- name: phone_code_newest
SELECT id, phone, code_mac, attempts, expires_at, used_at FROM phone_code
WHERE account_id = $1 AND sent_at IS NOT NULL
ORDER BY created_at DESC, id DESC LIMIT 1

-- name: phone_code_attempt
UPDATE phone_code SET attempts = attempts + 1 WHERE account_id = $1 AND id = $2

-- name: phone_code_use
UPDATE phone_code SET used_at = $3 WHERE account_id = $1 AND id = $2

-- name: phone_code_purge
DELETE FROM phone_code
WHERE (account_id, id) IN
    (SELECT account_id, id FROM
        (SELECT account_id, id FROM phone_code WHERE expires_at < $1 ORDER BY expires_at LIMIT 1000) AS old
     LIMIT $2)

-- name: phone_change_insert
INSERT INTO phone_change (account_id, id, phone, created_at) VALUES ($1, $2, $3, $4)

-- name: phone_change_nth
SELECT {phone_nth} FROM phone_change WHERE account_id = $1 AND created_at > $2
ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET $3

-- name: phone_verified
-- Returns a row if this account has verified the number, now or before, and no other account has it now.
SELECT 1 FROM account a
WHERE a.id = $1
    AND (a.phone = $2 OR EXISTS (SELECT 1 FROM phone_change c WHERE c.account_id = $1 AND c.phone = $2))
    AND NOT EXISTS (SELECT 1 FROM account o WHERE o.phone = $2 AND o.id <> $1)
