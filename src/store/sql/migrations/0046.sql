-- oldest program: 21
-- The order of the sandbox's messages: several processes write them, whose IDs ascend only within each.

CREATE INDEX sandbox_message_newest ON sandbox_message (created_at, id);
CREATE INDEX sandbox_message_newest_to ON sandbox_message (recipient, created_at, id);
