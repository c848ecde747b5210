-- Sign-in challenges.

-- name: challenge_linked
SELECT 1 FROM member WHERE email = $1 AND NOT EXISTS (SELECT 1 FROM account WHERE email = $1) LIMIT 1

-- name: challenge_count
-- The unused challenges of an address that expire after $2, all of them that expire after $3, and the end of the newest.
SELECT count(CASE WHEN expires_at > $2 THEN 1 END) AS pending, count(*) AS unused, max(expires_at) AS newest
FROM challenge WHERE email = $1 AND expires_at > $3 AND used_at IS NULL

-- name: challenge_insert
INSERT INTO challenge (id, email, otp_mac, expires_at) VALUES ($1, $2, $3, $4)

-- name: challenge_get
SELECT otp_mac, attempts FROM challenge WHERE id = $1 AND email = $2 AND expires_at > $3 AND used_at IS NULL

-- name: challenge_attempt
UPDATE challenge SET attempts = attempts + 1 WHERE id = $1

-- name: challenge_use
UPDATE challenge SET used_at = $2 WHERE id = $1

-- name: challenge_purge
DELETE FROM challenge
WHERE id IN
    (SELECT id FROM (SELECT id FROM challenge WHERE expires_at < $1 ORDER BY expires_at LIMIT 1000) AS old LIMIT $2)
