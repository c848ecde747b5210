-- oldest program: 21
-- Members' own notices. An earlier program takes their browsers for the owner's, and ends them with the browser alone.

ALTER TABLE push ADD COLUMN member_id TEXT;                             -- NULL: the owner's browser
ALTER TABLE member ADD COLUMN mail_notices {int} NOT NULL DEFAULT 0;    -- bits of enum notice
ALTER TABLE member ADD COLUMN mail_paid_until {int} NOT NULL DEFAULT 0; -- as of notice_mail
