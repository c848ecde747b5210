-- Browsers that residents are signed in with. A browser is signed in while its key is valid, or can be renewed.

-- name: browser_insert
INSERT INTO browser (hash, id, account_id, program, system, remembered, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)

-- name: browser_lapsed
SELECT 1 FROM api_key k
WHERE k.hash = $1 AND k.revoked_at IS NULL AND k.expires_at <= $2 AND coalesce(k.last_used_at, k.created_at) > $3
    AND EXISTS (SELECT 1 FROM browser b WHERE b.hash = $1 AND b.remembered = 1)

-- name: browser_renew
UPDATE api_key SET id = $4, created_at = $2, last_used_at = $5, expires_at = $6
WHERE hash = $1 AND revoked_at IS NULL AND expires_at <= $2 AND coalesce(last_used_at, created_at) > $3
    AND EXISTS (SELECT 1 FROM browser b WHERE b.hash = $1 AND b.remembered = 1)

-- name: browser_list
SELECT b.id, b.program, b.system, b.remembered, b.created_at, coalesce(k.last_used_at, k.created_at) AS last_used_at,
    k.id AS key_id
FROM browser b JOIN api_key k ON k.hash = b.hash
WHERE b.account_id = $1 AND k.revoked_at IS NULL
    AND (k.expires_at > $2 OR (b.remembered = 1 AND coalesce(k.last_used_at, k.created_at) > $3))
ORDER BY b.created_at DESC, b.id DESC

-- name: browser_end
UPDATE api_key SET revoked_at = $3
WHERE hash = (SELECT b.hash FROM browser b WHERE b.account_id = $1 AND b.id = $2) AND revoked_at IS NULL

-- name: browser_end_surplus
UPDATE api_key SET revoked_at = $2
WHERE hash IN (SELECT k.hash FROM browser b JOIN api_key k ON k.hash = b.hash
    WHERE b.account_id = $1 AND k.revoked_at IS NULL
        AND (k.expires_at > $2 OR (b.remembered = 1 AND coalesce(k.last_used_at, k.created_at) > $3))
    ORDER BY coalesce(k.last_used_at, k.created_at) DESC, b.id DESC LIMIT 1000 OFFSET $4)

-- name: browser_replace
UPDATE api_key SET revoked_at = $2
WHERE hash = $1 AND revoked_at IS NULL AND EXISTS (SELECT 1 FROM browser b WHERE b.hash = $1)

-- name: browser_end_all
UPDATE api_key {by api_key_live} SET revoked_at = $2
WHERE account_id = $1 AND kind = 'web_session' AND revoked_at IS NULL
