/* The names of the makers of grants, and the grants that keys, or a member, leave when they go. */
#pragma once
#include "domain/grant.h"

/* Names the members that made these grants of the building, as far as they are its members. Names are in the arena. */
enum err grant_name_makers(struct tx *tx, const struct id *building, struct grant *grants, size_t count) CHECKED;

#define GRANTS_ENDED_MAX 1000 /* of one request */

struct grants_left {
    int64_t left, ended;
};

/* Counts the grants that can open, or will without a change, up to one more than GRANTS_ENDED_MAX, of the account's
 * keys that were revoked in this transaction, and of the member (NULL: of no member). With `end`, revokes them, and
 * `left` counts the remaining ones. */
enum err grant_made_leave(struct tx *tx, const struct id *account, const struct id *member, bool end,
                          struct grants_left *ret) CHECKED;
