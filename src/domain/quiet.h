/* Quiet hours: those in which a person's phones and browsers do not ring for a visitor, unless nobody else's do
 * (access_door.c). Of the owner, at all doors of the account; of a member, at the building's. They are in the time zone
 * of the building, without which there are none. */
#pragma once
#include "domain/tx.h"

struct quiet {
    int from, until; /* minutes of the day; equal: none. An end before the beginning is on the next day */
};

/* Whether the moment is in the hours of a row: its columns, int?, and the building's time zone. */
bool quiet_is(struct val from, struct val until, struct str zone, int64_t at_us);

/* `member` is empty for the owner. */
enum err quiet_get(struct tx *tx, const struct id *account, const struct id *member, struct quiet *ret) CHECKED;
enum err quiet_set(struct tx *tx, const struct id *account, const struct id *member, const struct quiet *quiet) CHECKED;
