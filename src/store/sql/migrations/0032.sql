-- oldest program: 21
-- Webhook endpoints can be switched off, and get another secret while the earlier one stays valid for a while. Programs
-- before this migration send to an endpoint that is off, and sign with the newest secret alone.

ALTER TABLE webhook ADD COLUMN active {int} NOT NULL DEFAULT 1;
ALTER TABLE webhook ADD COLUMN previous_secret {blob};   -- sealed
ALTER TABLE webhook ADD COLUMN previous_until {int};     -- it signs until then, by the service's clock
ALTER TABLE webhook ADD COLUMN rotation_id TEXT;         -- the last rotation's Idempotency-Key
ALTER TABLE webhook ADD COLUMN rotation_hash {blob};     -- SHA-256 of its canonical body
