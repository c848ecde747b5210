-- Calls through Twilio's voice webhooks, between two requests.

-- name: twilio_call_get
SELECT step:int, ended:bool, state:text, code:blob, answer:text FROM twilio_call WHERE sid = $sid:text

-- name: twilio_call_put
INSERT INTO twilio_call (sid, step, updated_at, ended, state, code, answer)
VALUES ($sid:text, $step:int, $updated_at:time, $ended:bool, $state:text, $code:blob, $answer:text)
ON CONFLICT (sid) DO UPDATE SET step = excluded.step, updated_at = excluded.updated_at, ended = excluded.ended,
    state = excluded.state, code = excluded.code, answer = excluded.answer

-- name: twilio_call_oldest
-- The calls that nothing was heard of since $before.
SELECT sid:text FROM twilio_call WHERE updated_at < $before:time ORDER BY updated_at LIMIT $limit:int

-- name: twilio_call_delete
DELETE FROM twilio_call WHERE sid = $sid:text
