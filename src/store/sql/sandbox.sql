-- What the sandbox's providers keep.

-- name: sandbox_message_insert
INSERT INTO sandbox_message (id, channel, recipient, subject, text, code, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING

-- name: sandbox_message_list
SELECT id, channel, recipient, subject, text, code, created_at FROM sandbox_message
WHERE (CAST($1 AS TEXT) IS NULL OR recipient = $1) AND (CAST($2 AS TEXT) IS NULL OR channel = $2)
ORDER BY id DESC LIMIT $3
