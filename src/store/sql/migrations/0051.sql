-- oldest program: 21
-- How the door is found at the entrance.

ALTER TABLE building ADD COLUMN call_box_name TEXT; -- the name in the call box's directory; NULL: not given
