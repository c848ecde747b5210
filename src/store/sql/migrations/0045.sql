-- oldest program: 21
-- The minutes that a call has residents' telephones talk, for voice.account_minutes_per_day; and when the owner was told
-- last that none are left.

ALTER TABLE call_record ADD COLUMN minutes {int} NOT NULL DEFAULT 0;
ALTER TABLE account ADD COLUMN minutes_mailed_at {int};
CREATE INDEX call_record_minutes ON call_record (account_id, started_at, minutes) WHERE minutes > 0;
