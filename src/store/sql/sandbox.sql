-- Messages of the built-in mail and text message providers.

-- columns: sandbox_message
id:text, channel:text, recipient:text, subject:text, text:text, code:text, created_at:time

-- name: sandbox_message_insert
INSERT INTO sandbox_message ({sandbox_message})
VALUES ($id:text, $channel:text, $recipient:text, $subject:text, $text:text, $code:text,
    $created_at:time) ON CONFLICT (id) DO NOTHING

-- Lists, newest first: $channel a channel or NULL, at most $limit rows. Not by ID alone, which is in this order for one
-- process only.

-- name: sandbox_message_list
SELECT {sandbox_message} FROM sandbox_message
WHERE (CAST($channel:text AS TEXT) IS NULL OR channel = $channel)
ORDER BY created_at DESC, id DESC LIMIT $limit:int

-- name: sandbox_message_list_to
SELECT {sandbox_message} FROM sandbox_message
WHERE recipient = $recipient:text AND (CAST($channel:text AS TEXT) IS NULL OR channel = $channel)
ORDER BY created_at DESC, id DESC LIMIT $limit:int
