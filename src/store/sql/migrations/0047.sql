-- oldest program: 21
-- The calls in progress, whose process may have ended before them.

CREATE INDEX call_record_open ON call_record (id) WHERE ended_at IS NULL;
