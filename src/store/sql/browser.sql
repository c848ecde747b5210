-- Browsers that residents are signed in with. A browser is signed in while its key is valid, or can be renewed. An empty
-- $member_id stands for the account's owner.

-- name: browser_insert
INSERT INTO browser (hash, id, account_id, program, system, remembered, created_at)
VALUES ($hash:blob, $id:id, $account_id:id, $program:text, $system:text, $remembered:bool, $created_at:time)

-- name: browser_lapsed
SELECT 1 FROM api_key k
WHERE k.hash = $hash:blob AND k.revoked_at IS NULL AND k.expires_at <= $now:time AND coalesce(k.last_used_at,
    k.created_at) > $since:time
    AND EXISTS (SELECT 1 FROM browser b WHERE b.hash = $hash AND b.remembered = 1)

-- name: browser_renew
UPDATE api_key SET id = $id:id, created_at = $now:time, last_used_at = $last_used_at:time, expires_at = $expires_at:time
WHERE hash = $hash:blob AND revoked_at IS NULL AND expires_at <= $now AND coalesce(last_used_at,
    created_at) > $since:time
    AND EXISTS (SELECT 1 FROM browser b WHERE b.hash = $hash AND b.remembered = 1)

-- name: browser_key_move
-- The key $was of a browser becomes another person's key $id: by the same cookie, and until the same end.
UPDATE api_key SET id = $id:id, account_id = $account_id:id, building_id = $building_id:id, member_id = $member_id:id,
    name = $name:text, scopes = $scopes:int
WHERE hash = $hash:blob AND id = $was:id AND kind = 'web_session' AND revoked_at IS NULL

-- name: browser_move
UPDATE browser SET account_id = $account_id:id WHERE hash = $hash:blob

-- name: browser_list
SELECT b.id:id, b.program:text, b.system:text, b.remembered:bool, b.created_at:time, coalesce(k.last_used_at,
    k.created_at) AS last_used_at:time,
    k.id AS key_id:id
FROM browser b JOIN api_key k ON k.hash = b.hash
WHERE b.account_id = $account_id:id AND k.revoked_at IS NULL AND coalesce(k.member_id, '') = coalesce($member_id:id, '')
    AND (k.expires_at > $now:time OR (b.remembered = 1 AND coalesce(k.last_used_at, k.created_at) > $since:time))
ORDER BY b.created_at DESC, b.id DESC

-- name: browser_end
UPDATE api_key SET revoked_at = $revoked_at:time
WHERE hash = (SELECT b.hash FROM browser b WHERE b.account_id = $account_id:id AND b.id = $id:id) AND revoked_at IS NULL
    AND coalesce(member_id, '') = coalesce($member_id:id, '')

-- name: browser_end_surplus
UPDATE api_key SET revoked_at = $now:time
WHERE hash IN (SELECT k.hash FROM browser b JOIN api_key k ON k.hash = b.hash
    WHERE b.account_id = $account_id:id AND k.revoked_at IS NULL AND coalesce(k.member_id, '') = coalesce($member_id:id, '')
        AND (k.expires_at > $now OR (b.remembered = 1 AND coalesce(k.last_used_at, k.created_at) > $since:time))
    ORDER BY coalesce(k.last_used_at, k.created_at) DESC, b.id DESC LIMIT 1000 OFFSET $keep:int)

-- name: browser_replace
UPDATE api_key SET revoked_at = $revoked_at:time
WHERE hash = $hash:blob AND revoked_at IS NULL AND EXISTS (SELECT 1 FROM browser b WHERE b.hash = $hash)

-- name: browser_end_all
UPDATE api_key {by api_key_live} SET revoked_at = $revoked_at:time
WHERE account_id = $account_id:id AND kind = 'web_session' AND revoked_at IS NULL
    AND coalesce(member_id, '') = coalesce($member_id:id, '')
