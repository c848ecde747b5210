-- oldest program: 21
-- The time zone in which people read a building's times.

ALTER TABLE building ADD COLUMN timezone TEXT; -- IANA name; NULL: not set
