-- Messages of the built-in mail and text message providers.

-- columns: sandbox_message
id, channel, recipient, subject, text, code, created_at

-- name: sandbox_message_insert
INSERT INTO sandbox_message ({sandbox_message})
VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING

-- Lists, newest first: $1 a channel or NULL, at most $2 rows. Not by ID alone, which is in this order for one process only.

-- name: sandbox_message_list
SELECT {sandbox_message} FROM sandbox_message
WHERE (CAST($1 AS TEXT) IS NULL OR channel = $1)
ORDER BY created_at DESC, id DESC LIMIT $2

-- name: sandbox_message_list_to
SELECT {sandbox_message} FROM sandbox_message
WHERE recipient = $3 AND (CAST($1 AS TEXT) IS NULL OR channel = $1)
ORDER BY created_at DESC, id DESC LIMIT $2
