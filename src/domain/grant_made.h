/* The grants that a key, or a member, leaves when it goes. */
#pragma once
#include "domain/grant.h"

#define GRANTS_ENDED_MAX 1000 /* of one request */

struct grant_maker {
    struct id account_id;
    struct id key_id;    /* empty: any */
    struct id member_id; /* empty: any */
};

struct grants_left {
    int64_t left, ended;
};

/* Counts the grants of the maker that can open, or will without a change, up to GRANTS_ENDED_MAX. With `end`, revokes
 * them, and `left` counts those that remain. */
enum err grant_made_leave(struct tx *tx, const struct grant_maker *maker, bool end, struct grants_left *ret) CHECKED;
