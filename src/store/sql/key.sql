-- API keys.

-- name: key_authenticate
SELECT k.id, k.account_id, k.building_id, k.member_id, k.kind, k.scopes, k.expires_at, k.revoked_at, k.last_used_at,
    a.subscription_status, a.buildings_version, a.earlier_revision,
    (SELECT b.id FROM building b WHERE b.account_id = k.account_id AND b.is_primary = 1) AS primary_id,
    (SELECT count(*) FROM building b WHERE b.account_id = k.account_id) AS buildings,
    (SELECT b.id FROM building b WHERE b.account_id = k.account_id AND b.id = k.building_id) AS building_found,
    (SELECT n.number FROM grant_building n WHERE n.id = coalesce(k.building_id,
        (SELECT b.id FROM building b WHERE b.account_id = k.account_id AND b.is_primary = 1))) AS building_number
FROM api_key k LEFT JOIN account a ON a.id = k.account_id
WHERE k.hash = $1

-- name: key_confirm
SELECT k.scopes, k.expires_at, a.subscription_status, a.buildings_version, a.earlier_revision
FROM api_key k JOIN account a ON a.id = k.account_id
WHERE k.hash = $1 AND k.revoked_at IS NULL

-- name: key_touch
UPDATE api_key SET last_used_at = $3
WHERE account_id = $1 AND id = $2 AND (last_used_at IS NULL OR last_used_at < $3)

-- name: key_count
-- Of agents, or of owners, whose scopes have the bit $3.
SELECT count(*) AS keys FROM api_key {by api_key_live}
WHERE account_id = $1 AND kind = 'agent' AND revoked_at IS NULL AND (scopes & $3) = $4 AND (expires_at IS NULL OR expires_at > $2
    OR EXISTS (SELECT 1 FROM oauth_grant g
        WHERE g.account_id = api_key.account_id AND g.key_id = api_key.id AND g.expires_at > $2))

-- name: key_insert
INSERT INTO api_key (hash, id, account_id, building_id, member_id, kind, name, prefix, scopes, created_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)

-- name: key_list
-- A key of a grant by OAuth lasts as long as that.
SELECT id, name, kind, scopes, last_used_at,
    coalesce((SELECT g.expires_at FROM oauth_grant g
        WHERE g.account_id = api_key.account_id AND g.key_id = api_key.id), expires_at) AS expires_at
FROM api_key {by api_key_live}
WHERE account_id = $1 AND revoked_at IS NULL
ORDER BY created_at DESC, id DESC

-- name: key_renew
UPDATE api_key SET hash = $3, prefix = $4, scopes = $5, expires_at = $6
WHERE account_id = $1 AND id = $2 AND revoked_at IS NULL

-- name: key_revoke
-- A key without an end gets one, by which it is purged.
UPDATE api_key SET revoked_at = $3, expires_at = coalesce(expires_at, $3)
WHERE account_id = $1 AND id = $2 AND revoked_at IS NULL

-- name: key_revoke_owners
UPDATE api_key {by api_key_live} SET revoked_at = $2, expires_at = $2
WHERE account_id = $1 AND revoked_at IS NULL AND (scopes & $3) <> 0

-- name: key_revoke_others
UPDATE api_key {by api_key_live} SET revoked_at = $3, expires_at = coalesce(expires_at, $3)
WHERE account_id = $1 AND id <> $2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3
    OR (coalesce(last_used_at, created_at) > $4
        AND EXISTS (SELECT 1 FROM browser b WHERE b.hash = api_key.hash AND b.remembered = 1))
    OR EXISTS (SELECT 1 FROM oauth_grant g
        WHERE g.account_id = api_key.account_id AND g.key_id = api_key.id AND g.expires_at > $3))

-- name: key_revoke_member
UPDATE api_key SET revoked_at = $3 WHERE account_id = $1 AND member_id = $2 AND revoked_at IS NULL

-- name: key_lives
SELECT 1 AS found FROM api_key
WHERE account_id = $1 AND id = $2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3)

-- name: key_name
SELECT name FROM api_key WHERE account_id = $1 AND id = $2

-- name: key_purge
DELETE FROM api_key
WHERE hash IN
    (SELECT hash FROM (SELECT hash FROM api_key WHERE expires_at < $1 ORDER BY expires_at LIMIT 1000) AS old LIMIT $2)
