-- oldest program: 21
-- A linked building follows the phone of its account unless one was given for it. Those that have the account's phone
-- follow it from now on. An earlier program writes the account's phone of the quote, as before.

ALTER TABLE building_operation ADD COLUMN phone_given {int} NOT NULL DEFAULT 1;
UPDATE building SET forward_phone = NULL
WHERE forward_phone = (SELECT a.phone FROM account a WHERE a.id = building.account_id);
CREATE INDEX building_forward_phone ON building (forward_phone) WHERE forward_phone IS NOT NULL;
