-- oldest program: 21
-- Hours in which a person's phones and browsers do not ring. An earlier program lets them ring.

ALTER TABLE account ADD COLUMN quiet_from {int};  -- minutes of the day, in the time zone of the building; NULL: none
ALTER TABLE account ADD COLUMN quiet_to {int}; -- before quiet_from: on the next day
ALTER TABLE member ADD COLUMN quiet_from {int};
ALTER TABLE member ADD COLUMN quiet_to {int};
ALTER TABLE notice ADD COLUMN quiet {int} NOT NULL DEFAULT 0; -- 1: a ring leaves out persons in their quiet hours
