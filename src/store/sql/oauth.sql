-- Assistants that residents have connected (oauth/oauth.h).

-- name: oauth_code_insert
INSERT INTO oauth_code (hash, account_id, client, redirect, challenge, scopes, resource, expires_at, used,
    client_name, shared)
VALUES ($hash:blob, $account_id:id, $client:blob, $redirect:blob, $challenge:text, $scopes:int, $resource:int,
    $expires_at:time, 0, $client_name:text, $shared:bool)

-- name: oauth_code_trim
-- Keeps the newest codes of an account.
DELETE FROM oauth_code WHERE hash IN
    (SELECT hash FROM oauth_code WHERE account_id = $account_id:id ORDER BY expires_at DESC LIMIT 1000 OFFSET $keep:int)

-- name: oauth_code_get
SELECT account_id:id, client:blob, redirect:blob, challenge:text, scopes:int, resource:int, expires_at:time,
    used:bool, key_id:id, client_name:text,
    shared:bool FROM oauth_code
WHERE hash = $hash:blob

-- name: oauth_code_use
UPDATE oauth_code SET used = 1, key_id = $key_id:id WHERE hash = $hash:blob

-- name: oauth_code_end_all
DELETE FROM oauth_code WHERE account_id = $account_id:id

-- name: oauth_code_purge
DELETE FROM oauth_code
WHERE hash IN
    (SELECT hash FROM (SELECT hash FROM oauth_code
    WHERE expires_at < $before:time ORDER BY expires_at LIMIT 1000) AS old LIMIT $limit:int)

-- name: oauth_grant_insert
INSERT INTO oauth_grant (account_id, key_id, family, token, client, scopes, resource, created_at, expires_at)
VALUES ($account_id:id, $key_id:id, $family:blob, $token:blob, $client:blob, $scopes:int, $resource:int,
    $created_at:time, $expires_at:time)

-- name: oauth_grant_find
SELECT g.account_id:id, g.key_id:id, g.token:blob, g.client:blob, g.scopes:int, g.resource:int, g.expires_at:time,
    k.scopes AS key_scopes:int,
    k.expires_at AS key_expires_at:time
FROM oauth_grant g JOIN api_key k ON k.account_id = g.account_id AND k.id = g.key_id
WHERE g.family = $family:blob AND g.expires_at > $now:time AND k.revoked_at IS NULL

-- name: oauth_grant_of_key
SELECT g.account_id:id, g.key_id:id, g.client:blob FROM api_key k
    JOIN oauth_grant g ON g.account_id = k.account_id AND g.key_id = k.id
WHERE k.hash = $hash:blob AND k.revoked_at IS NULL

-- name: oauth_grant_of_client
SELECT g.key_id:id FROM oauth_grant g
WHERE g.account_id = $account_id:id AND g.client = $client:blob AND g.expires_at > $now:time AND EXISTS
    (SELECT 1 FROM api_key k WHERE k.account_id = g.account_id AND k.id = g.key_id AND k.revoked_at IS NULL)

-- name: oauth_grant_renew
UPDATE oauth_grant SET token = $token:blob,
    expires_at = $expires_at:time WHERE account_id = $account_id:id AND key_id = $key_id:id

-- name: oauth_grant_replace
UPDATE api_key SET revoked_at = $revoked_at:time
WHERE account_id = $account_id:id AND revoked_at IS NULL
    AND id IN (SELECT g.key_id FROM oauth_grant g WHERE g.account_id = $account_id AND g.client = $client:blob)

-- name: oauth_grant_sweep
-- Grants of an account that have ended: so that there are never more than its active agent keys.
DELETE FROM oauth_grant WHERE account_id = $account_id:id AND (expires_at <= $now:time OR EXISTS
    (SELECT 1 FROM api_key k WHERE k.account_id = oauth_grant.account_id AND k.id = oauth_grant.key_id
        AND k.revoked_at IS NOT NULL))
