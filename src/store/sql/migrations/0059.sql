-- oldest program: 21
-- What a browser's push service answered to the last notice, if it did not take it.

ALTER TABLE push ADD COLUMN refused_at {int};   -- NULL: it took it
ALTER TABLE push ADD COLUMN refused_with {int}; -- the status; 0: there was no answer
