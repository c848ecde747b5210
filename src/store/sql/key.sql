-- API keys.

-- name: key_authenticate
SELECT k.id:id, k.account_id:id, k.building_id:id, k.member_id:id, k.kind:text, k.scopes:int, k.expires_at:time?,
    k.revoked_at:time?, k.last_used_at:time?,
    a.subscription_status:text, a.buildings_version:int, a.earlier_revision:bool,
    (SELECT b.id FROM building b WHERE b.account_id = k.account_id AND b.is_primary = 1) AS primary_id:id,
    (SELECT count(*) FROM building b WHERE b.account_id = k.account_id) AS buildings:int,
    (SELECT b.id FROM building b WHERE b.account_id = k.account_id AND b.id = k.building_id) AS building_found:text,
    (SELECT n.number FROM grant_building n WHERE n.id = coalesce(k.building_id,
        (SELECT b.id FROM building b WHERE b.account_id = k.account_id AND b.is_primary = 1))) AS building_number:int?
FROM api_key k LEFT JOIN account a ON a.id = k.account_id
WHERE k.hash = $hash:blob

-- name: key_confirm
SELECT k.id:id, k.scopes:int, k.expires_at:time?, a.subscription_status:text, a.buildings_version:int,
    a.earlier_revision:bool
FROM api_key k JOIN account a ON a.id = k.account_id
WHERE k.hash = $hash:blob AND k.revoked_at IS NULL

-- name: key_touch
UPDATE api_key SET last_used_at = $last_used_at:time
WHERE account_id = $account_id:id AND id = $id:id AND (last_used_at IS NULL OR last_used_at < $last_used_at)

-- name: key_count
-- Of agents, or of owners, whose scopes have the bit $mask.
SELECT count(*) AS keys:int FROM api_key {by api_key_live}
WHERE account_id = $account_id:id AND kind = 'agent' AND revoked_at IS NULL AND (scopes & $mask:int) = $masked:int
    AND (expires_at IS NULL OR expires_at > $now:time
    OR EXISTS (SELECT 1 FROM oauth_grant g
        WHERE g.account_id = api_key.account_id AND g.key_id = api_key.id AND g.expires_at > $now))

-- name: key_insert
INSERT INTO api_key (hash, id, account_id, building_id, member_id, kind, name, prefix, scopes, created_at, expires_at)
VALUES ($hash:blob, $id:id, $account_id:id, $building_id:id, $member_id:id, $kind:text, $name:text, $prefix:text,
    $scopes:int, $created_at:time, $expires_at:time?)

-- name: key_list
-- A key of a grant by OAuth lasts as long as that.
SELECT id:id, name:text, kind:text, scopes:int, last_used_at:time?,
    coalesce((SELECT g.expires_at FROM oauth_grant g
        WHERE g.account_id = api_key.account_id AND g.key_id = api_key.id), expires_at) AS expires_at:time?
FROM api_key {by api_key_live}
WHERE account_id = $account_id:id AND revoked_at IS NULL
ORDER BY created_at DESC, id DESC

-- name: key_renew
UPDATE api_key SET hash = $hash:blob, prefix = $prefix:text, scopes = $scopes:int, expires_at = $expires_at:time
WHERE account_id = $account_id:id AND id = $id:id AND revoked_at IS NULL

-- name: key_revoke
-- A key without an end gets one, by which it is purged.
UPDATE api_key SET revoked_at = $revoked_at:time, expires_at = coalesce(expires_at, $revoked_at)
WHERE account_id = $account_id:id AND id = $id:id AND revoked_at IS NULL

-- name: key_revoke_owners
UPDATE api_key {by api_key_live} SET revoked_at = $revoked_at:time, expires_at = $revoked_at
WHERE account_id = $account_id:id AND revoked_at IS NULL AND (scopes & $scope:int) <> 0

-- name: key_revoke_others
UPDATE api_key {by api_key_live} SET revoked_at = $revoked_at:time, expires_at = coalesce(expires_at, $revoked_at)
WHERE account_id = $account_id:id AND id <> $id:id AND revoked_at IS NULL
    AND (expires_at IS NULL OR expires_at > $revoked_at
    OR (coalesce(last_used_at, created_at) > $since:time
        AND EXISTS (SELECT 1 FROM browser b WHERE b.hash = api_key.hash AND b.remembered = 1))
    OR EXISTS (SELECT 1 FROM oauth_grant g
        WHERE g.account_id = api_key.account_id AND g.key_id = api_key.id AND g.expires_at > $revoked_at))

-- name: key_revoke_member
UPDATE api_key SET revoked_at = $revoked_at:time WHERE account_id = $account_id:id AND member_id = $member_id:id
    AND revoked_at IS NULL

-- name: key_change_member
-- Sessions get the name and the scopes; other keys lose scopes, but get none.
UPDATE api_key SET name = CASE WHEN kind = 'web_session' THEN $name:text ELSE name END,
    scopes = CASE WHEN kind = 'web_session' THEN $scopes:int ELSE scopes & $scopes END
WHERE account_id = $account_id:id AND member_id = $member_id:id AND revoked_at IS NULL

-- name: key_lives
-- With the scope $scope, which owners' sessions have without its bit.
SELECT 1 AS found:int FROM api_key
WHERE account_id = $account_id:id AND id = $id:id AND revoked_at IS NULL
    AND (scopes & $scope:int <> 0 OR (kind = 'web_session' AND member_id IS NULL))
    AND (expires_at IS NULL OR expires_at > $now:time)

-- name: key_name
SELECT name:text FROM api_key WHERE account_id = $account_id:id AND id = $id:id

-- name: key_purge
DELETE FROM api_key
WHERE hash IN
    (SELECT hash FROM (SELECT hash FROM api_key
    WHERE expires_at < $before:time ORDER BY expires_at LIMIT 1000) AS old LIMIT $limit:int)
