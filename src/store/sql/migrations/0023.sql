-- oldest program: 21
-- Purchases of numbers that may take effect until that time (the service's clock), by the reference they are made under.

CREATE TABLE number_purchase (
    reference TEXT NOT NULL PRIMARY KEY,
    open_until {int} NOT NULL
);
