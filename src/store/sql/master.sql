-- Values sealed with the master key, in the order of IDs, and the setting that identifies that key.

-- name: setting_claim
INSERT INTO setting (name, value) VALUES ($name:text, $value:text) ON CONFLICT (name) DO NOTHING

-- name: setting_delete
DELETE FROM setting WHERE name = $name:text

-- name: sealed_webhook_newest
SELECT secret:blob FROM webhook {by webhook_id} ORDER BY id DESC LIMIT 1

-- name: sealed_webhooks
SELECT id:text, secret AS sealed:blob FROM webhook {by webhook_id} WHERE id > $after:text ORDER BY id LIMIT $limit:int

-- name: sealed_webhook_replace
UPDATE webhook SET secret = $sealed:blob WHERE id = $id:text

-- name: sealed_webhooks_previous
SELECT id:text, previous_secret AS sealed:blob FROM webhook {by webhook_id} WHERE id > $after:text
    AND previous_secret IS NOT NULL ORDER BY id LIMIT $limit:int

-- name: sealed_webhook_previous_replace
UPDATE webhook SET previous_secret = $sealed:blob WHERE id = $id:text

-- name: sealed_building_webhooks
SELECT id:text, secret AS sealed:blob FROM building_webhook {by building_webhook_id}
WHERE id > $after:text ORDER BY id LIMIT $limit:int

-- name: sealed_building_webhook_replace
UPDATE building_webhook SET secret = $sealed:blob WHERE id = $id:text

-- name: sealed_mails
SELECT id:text, payload AS sealed:blob FROM job WHERE id > $after:text AND kind = 'mail' ORDER BY id LIMIT $limit:int

-- name: sealed_mail_replace
UPDATE job SET payload = $sealed:blob WHERE id = $id:text

-- name: sealed_boxes
SELECT name AS id:text, secret AS sealed:blob FROM box WHERE name > $after:text ORDER BY name LIMIT $limit:int

-- name: sealed_box_replace
UPDATE box SET secret = $sealed:blob WHERE name = $id:text

-- name: sealed_push_keys
SELECT id:text, secret AS sealed:blob FROM push_key WHERE id > $after:text ORDER BY id LIMIT $limit:int

-- name: sealed_push_key_replace
UPDATE push_key SET secret = $sealed:blob WHERE id = $id:text

-- name: sealed_guest_links
SELECT hash AS id:text, token AS sealed:blob FROM guest_link {by guest_link_hash}
WHERE hash > $after:text ORDER BY hash LIMIT $limit:int

-- name: sealed_guest_link_replace
UPDATE guest_link SET token = $sealed:blob WHERE hash = $id:text
