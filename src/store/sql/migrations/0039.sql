-- oldest program: 21
-- The buildings without a number, among which the job `numbers` looks for those that should have one.

CREATE INDEX building_waiting ON building (id) WHERE virtual_number IS NULL;
