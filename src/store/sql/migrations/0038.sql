-- oldest program: 21
-- The guard against guessing codes counts the wrong codes of a day, too. An earlier program leaves the column as it is:
-- a wrong code that it decides about is not counted here.

ALTER TABLE door_guard ADD COLUMN failed_day TEXT;  -- when, in seconds, newest first; "s" after a spoken one
