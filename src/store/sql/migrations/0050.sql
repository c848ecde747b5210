-- oldest program: 21
-- Whether a visitor whose code opens at another time hears when.

ALTER TABLE building ADD COLUMN say_opening {int}; -- NULL: no
