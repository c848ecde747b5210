-- How a building's release tone is sent, and which phones ring in a forwarded call. NULL: the default.

ALTER TABLE building ADD COLUMN release_length_ms {int};
ALTER TABLE building ADD COLUMN release_gap_ms {int};
ALTER TABLE building ADD COLUMN release_delay_ms {int};
ALTER TABLE building ADD COLUMN release_repeat {int};
ALTER TABLE building ADD COLUMN release_mode {int};            -- enum release_mode
ALTER TABLE building ADD COLUMN release_before_greeting {int};
ALTER TABLE building ADD COLUMN ring_numbers TEXT;             -- E.164, separated by spaces
ALTER TABLE building ADD COLUMN ring_strategy {int};           -- enum ring_strategy
ALTER TABLE building ADD COLUMN ring_seconds {int};
ALTER TABLE building ADD COLUMN ring_accept {int};
ALTER TABLE building ADD COLUMN ring_message {int};
