-- oldest program: 21
-- When a mail last told the owner that a copy of all data of the account was made.

ALTER TABLE account ADD COLUMN exported_at {int};
