-- Sign-in challenges.

-- name: challenge_linked
SELECT 1 FROM member WHERE email = $email:text AND (invited_until IS NULL OR invited_until > $now:time)
    AND NOT EXISTS (SELECT 1 FROM account WHERE email = $email) LIMIT 1

-- name: challenge_count
-- The unused challenges of an address that expire after $now, all of them that expire after $since, and the end of the
-- newest.
SELECT count(CASE WHEN expires_at > $now:time THEN 1 END) AS pending:int, count(*) AS unused:int,
    max(expires_at) AS newest:time
FROM challenge WHERE email = $email:text AND expires_at > $since:time AND used_at IS NULL

-- name: challenge_insert
INSERT INTO challenge (id, email, otp_mac, expires_at) VALUES ($id:text, $email:text, $otp_mac:blob, $expires_at:time)

-- name: challenge_get
SELECT otp_mac:blob, attempts:int FROM challenge WHERE id = $id:text AND email = $email:text AND expires_at > $now:time
    AND used_at IS NULL

-- name: challenge_attempt
UPDATE challenge SET attempts = attempts + 1 WHERE id = $id:text

-- name: challenge_use
UPDATE challenge SET used_at = $used_at:time WHERE id = $id:text

-- name: challenge_purge
DELETE FROM challenge
WHERE id IN
    (SELECT id FROM (SELECT id FROM challenge
    WHERE expires_at < $before:time ORDER BY expires_at LIMIT 1000) AS old LIMIT $limit:int)
