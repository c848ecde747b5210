-- oldest program: 21
-- The callers whose calls may use a building's grants. An earlier program takes every caller's.

ALTER TABLE building ADD COLUMN callers_mode {int};    -- enum callers_mode; NULL: any
ALTER TABLE building ADD COLUMN callers_numbers TEXT;  -- separated by spaces
ALTER TABLE building ADD COLUMN callers_others {int};  -- enum callers_others; NULL: forward
