-- oldest program: 21
-- What a member may do, and how many people an account has invited on a day.

ALTER TABLE member ADD COLUMN role {int} NOT NULL DEFAULT 0; -- 0: resident, 1: manager of codes
ALTER TABLE member ADD COLUMN language TEXT;                 -- of mails; NULL: not given
ALTER TABLE account ADD COLUMN invited_day {int};            -- of the last invitation, in days since 1970 (UTC)
ALTER TABLE account ADD COLUMN invited {int} NOT NULL DEFAULT 0; -- on that day
