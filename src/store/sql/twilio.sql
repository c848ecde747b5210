-- Calls through Twilio's voice webhooks, between two requests.

-- name: twilio_call_get
SELECT step, ended, state, code, answer FROM twilio_call WHERE sid = $1

-- name: twilio_call_put
INSERT INTO twilio_call (sid, step, updated_at, ended, state, code, answer)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (sid) DO UPDATE SET step = excluded.step, updated_at = excluded.updated_at, ended = excluded.ended,
    state = excluded.state, code = excluded.code, answer = excluded.answer

-- name: twilio_call_oldest
-- The calls that nothing was heard of since $1.
SELECT sid FROM twilio_call WHERE updated_at < $1 ORDER BY updated_at LIMIT $2

-- name: twilio_call_delete
DELETE FROM twilio_call WHERE sid = $1
