-- oldest program: 21
-- Members' own phones. To an earlier program a member's code is one of the account; the owner does not know it.

ALTER TABLE member ADD COLUMN phone_verified_at {int}; -- NULL: not verified, so that it does not ring
ALTER TABLE phone_code ADD COLUMN member_id TEXT;      -- NULL: the owner's
ALTER TABLE visit ADD COLUMN person TEXT;              -- the member whose phone opened; NULL: none's, or not known

CREATE INDEX member_phone ON member (phone);
