/* The inventory of virtual numbers: each is free or held by one building. The sandbox has a pool that fills itself. */
#pragma once
#include "domain/op.h"

struct number {
    struct str number, country; /* E.164; "US" or "CA" */
    struct id building_id;      /* empty: free */
    struct id account_id;
    struct str building_label, email; /* of the holder */
    int64_t held_since_us;
};

/* Adds a free number; nothing happens if it is there. */
enum err number_add(struct op *op, struct str number, struct str country) CHECKED;
/* All of them, by number, in the arena. */
enum err number_list(struct op *op, const struct number **ret, size_t *ret_count) CHECKED;

/* Gives a free number of its country to a building that has none: one never held before, else the one given back
 * longest ago. A building that has one keeps it. ERR_BUILDING_NOT_FOUND; ERR_NUMBER_NOT_PROVISIONED: none is free.
 * *ret (may be NULL) is in the arena. */
enum err number_allocate(struct op *op, const struct id *building, struct str *ret) CHECKED;
/* Takes a number back from whoever holds it. ERR_NUMBER_NOT_FOUND: unknown or free. */
enum err number_release(struct op *op, struct str number) CHECKED;
