-- Calls through Twilio's voice webhooks. A call has no other memory between two requests, which may reach two nodes.

CREATE TABLE twilio_call (
    sid TEXT NOT NULL PRIMARY KEY,      -- CallSid
    step {int} NOT NULL,                -- answers that were given
    updated_at {int} NOT NULL,
    ended {int} NOT NULL,
    state TEXT NOT NULL,                -- JSON: the call machine, and the record so far
    code {blob},                        -- sealed: digits of a code that is not complete
    answer TEXT NOT NULL                -- the last one, for a request that is repeated
) {clustered};
CREATE INDEX twilio_call_updated ON twilio_call (updated_at);
