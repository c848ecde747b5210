-- oldest program: 21
-- When an invitation ends that nobody has accepted.

ALTER TABLE member ADD COLUMN invited_until {int}; -- NULL: has signed in, or the operator added the member
