-- oldest program: 21
-- Who made a grant, so that whoever takes a key or a member away sees what these leave. An earlier program leaves them.

ALTER TABLE access_grant ADD COLUMN created_by {blob};  -- the ID of the key, 12 bytes
ALTER TABLE access_grant ADD COLUMN member_id {blob};   -- of the member whose key it is
