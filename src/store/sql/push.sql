-- Web Push: browsers that are subscribed to a building's notices, and the messages for them. due_at uses the service's
-- clock, leased_until the real one. A subscription counts while its browser is signed in, anywhere, and its person is a
-- member. An empty $member_id stands for the owner.

-- name: push_key_get
SELECT point:blob, secret:blob FROM push_key WHERE id = $id:text

-- name: push_key_claim
INSERT INTO push_key (id, point, secret) VALUES ($id:text, $point:blob, $secret:blob) ON CONFLICT (id) DO NOTHING

-- name: push_browser
-- The browser of a website session's key.
SELECT b.hash:blob FROM api_key k JOIN browser b ON b.hash = k.hash
WHERE k.account_id = $account_id:id AND k.id = $id:id

-- name: push_put
INSERT INTO push (building_id, hash, account_id, member_id, notices, language, endpoint, p256dh, auth, created_at)
VALUES ($building_id:id, $hash:blob, $account_id:id, $member_id:id, $notices:int, $language:text, $endpoint:text, $p256dh:blob,
    $auth:blob, $created_at:time)
ON CONFLICT (building_id, hash) DO UPDATE SET member_id = excluded.member_id, notices = excluded.notices,
    language = excluded.language, endpoint = excluded.endpoint, p256dh = excluded.p256dh, auth = excluded.auth,
    refused_at = NULL, refused_with = NULL

-- name: push_refresh
-- The browser's other subscriptions have the same endpoint and keys.
UPDATE push SET language = $language:text, endpoint = $endpoint:text, p256dh = $p256dh:blob, auth = $auth:blob
WHERE hash = $hash:blob AND (language <> $language OR endpoint <> $endpoint OR p256dh <> $p256dh OR auth <> $auth)

-- name: push_delete
DELETE FROM push WHERE building_id = $building_id:id AND hash = $hash:blob

-- name: push_end_member
DELETE FROM push WHERE building_id = $building_id:id AND member_id = $member_id:id

-- name: push_list
SELECT b.id:id, b.program:text, b.system:text, p.hash:blob, p.notices:int, p.created_at:time, p.refused_at:time?, p.refused_with:int?
FROM push p JOIN browser b ON b.hash = p.hash JOIN api_key k ON k.hash = p.hash
WHERE p.building_id = $building_id:id AND coalesce(p.member_id, '') = coalesce($member_id:id, '')
    AND k.revoked_at IS NULL
    AND (k.expires_at > $now:time OR (b.remembered = 1 AND coalesce(k.last_used_at, k.created_at) > $since:time))
ORDER BY p.created_at DESC, b.id DESC

-- name: push_targets
-- The browsers that want one of the notices $notice, and the roles and quiet hours of their persons.
SELECT p.hash:blob, p.notices:int, p.language:text, m.role:int,
    CASE WHEN p.member_id IS NULL THEN a.quiet_from ELSE m.quiet_from END AS quiet_from:int?,
    CASE WHEN p.member_id IS NULL THEN a.quiet_to ELSE m.quiet_to END AS quiet_to:int?, h.timezone:text
FROM push p JOIN building h ON h.id = p.building_id JOIN account a ON a.id = h.account_id JOIN browser b ON b.hash = p.hash JOIN api_key k ON k.hash = p.hash
    LEFT JOIN member m ON m.building_id = p.building_id AND m.id = p.member_id
WHERE p.building_id = $building_id:id AND p.notices & $notice:int <> 0 AND k.revoked_at IS NULL
    AND (p.member_id IS NULL OR m.id IS NOT NULL)
    AND (k.expires_at > $now:time OR (b.remembered = 1 AND coalesce(k.last_used_at, k.created_at) > $since:time))

-- name: push_target
SELECT p.endpoint:text, p.p256dh:blob, p.auth:blob
FROM push p JOIN browser b ON b.hash = p.hash JOIN api_key k ON k.hash = p.hash
    LEFT JOIN member m ON m.building_id = p.building_id AND m.id = p.member_id
WHERE p.building_id = $building_id:id AND p.hash = $hash:blob AND k.revoked_at IS NULL
    AND (p.member_id IS NULL OR m.id IS NOT NULL)
    AND (k.expires_at > $now:time OR (b.remembered = 1 AND coalesce(k.last_used_at, k.created_at) > $since:time))

-- name: push_gone
-- The push service no longer knows the endpoint.
DELETE FROM push WHERE hash = $hash:blob AND endpoint = $endpoint:text

-- name: push_refused
-- The push service did not take the last notice; without $refused_at it did.
UPDATE push SET refused_at = $refused_at:time?, refused_with = $refused_with:int?
WHERE building_id = $building_id:id AND hash = $hash:blob AND endpoint = $endpoint:text
    AND coalesce(refused_at, $refused_at) IS NOT NULL

-- name: push_message_put
-- A message replaces an older one of its kind. While that is being sent, the new one waits for the end.
INSERT INTO push_message (building_id, hash, notice, account_id, at, payload, due_at) VALUES ($building_id:id,
    $hash:blob, $notice:int, $account_id:id, $at:time, $payload:text, $due_at:time)
ON CONFLICT (building_id, hash, notice) DO UPDATE SET at = excluded.at, payload = excluded.payload,
    due_at = excluded.due_at, attempts = 0
WHERE push_message.at <= excluded.at

-- name: push_message_take (sqlite)
-- Leases the $limit messages that have been due for the longest time, but none of the accounts in the list $busy
-- (JSON). The lease is 12 seconds, more than twice the time of a request.
UPDATE push_message SET leased_until = {real} + 12000000, attempts = attempts + 1
WHERE (building_id, hash, notice) IN
    (SELECT building_id, hash, notice FROM push_message {by push_message_due}
     WHERE due_at <= $now:time AND leased_until <= {real} AND account_id NOT IN (SELECT value
     FROM json_each($busy:json))
     ORDER BY due_at LIMIT $limit:int)
RETURNING building_id:id, hash:blob, notice:int, account_id:id, at:time, payload:text, attempts:int

-- name: push_message_take (postgresql)
-- MATERIALIZED, because a subquery that locks rows finds other rows each time it runs.
WITH due AS MATERIALIZED (
    SELECT building_id, hash, notice FROM push_message
    WHERE due_at <= $now AND leased_until <= {real}
        AND account_id NOT IN (SELECT json_array_elements_text(CAST(CAST($busy AS TEXT) AS JSON)))
    ORDER BY due_at LIMIT $limit FOR UPDATE SKIP LOCKED
)
UPDATE push_message m SET leased_until = {real} + 12000000, attempts = attempts + 1
FROM due WHERE m.building_id = due.building_id AND m.hash = due.hash AND m.notice = due.notice
RETURNING m.building_id, m.hash, m.notice, m.account_id, m.at, m.payload, m.attempts

-- name: push_next
-- Whether a moment is recorded, whether a message is leased, and when the first of the others is due.
SELECT CASE WHEN EXISTS (SELECT 1 FROM notice) THEN 1 ELSE 0 END AS recorded:int,
    CASE WHEN EXISTS (SELECT 1 FROM push_message m {by push_message_due}
    WHERE m.leased_until > {real}) THEN 1 ELSE 0 END AS leased:int,
    (SELECT m.due_at FROM push_message m {by push_message_due} WHERE m.leased_until <= {real} ORDER BY m.due_at LIMIT 1)
    AS due_at:time?

-- name: push_message_done
DELETE FROM push_message WHERE building_id = $building_id:id AND hash = $hash:blob AND notice = $notice:int
    AND at = $at:time

-- name: push_message_later
-- A message that has replaced it meanwhile is due as it is.
UPDATE push_message SET leased_until = 0, due_at = CASE WHEN at = $at:time THEN $due_at:time ELSE due_at END
WHERE building_id = $building_id:id AND hash = $hash:blob AND notice = $notice:int
