/* The service's virtual numbers: those of the operator's pool, which stay, and those got from a provider, which are
 * given back when their building lets go of them.
 *
 * A number of a provider is in the inventory from the moment a building gets it until the provider has it back. In
 * between, without a building, it is leaving: nobody gets it any more. */
#pragma once
#include "domain/tx.h"

#define JOB_PROVISION      "provision"      /* payload: a building's ID, which also ends its name */
#define JOB_RELEASE_NUMBER "release_number" /* payload: a number that is leaving */

struct number {
    struct str number, country; /* E.164; "US" or "CA" */
    bool pooled;                /* the operator's */
    struct id building_id;      /* empty: free, or leaving */
    struct id account_id;
    struct str building_label, email; /* of the holder */
    int64_t held_since_us;
};

/* Adds a free number to the pool, where buildings may be waiting for one; nothing happens if it is there.
 * ERR_BAD_REQUEST: it is known as a provider's, or of the other country. */
enum err number_add(struct tx *tx, struct str number, struct str country) CHECKED;
/* All of them, by number, in the arena. */
enum err number_list(struct tx *tx, const struct number **ret, size_t *ret_count) CHECKED;

struct number_claim {
    struct str number;  /* what the building has; STR_NONE: a provider has to be asked for one */
    struct str country; /* of the building */
};

/* Sees that a building has a number, as far as the inventory can: one it has, or a free one of the pool, of its
 * country, one never held before or else the one given back longest ago. ERR_BUILDING_NOT_FOUND. In the arena. */
enum err number_claim(struct tx *tx, const struct id *building, struct number_claim *ret) CHECKED;

/* A job sees that the building gets a number, if it has none. There is one job for a building: two would both buy. */
enum err number_provision(struct tx *tx, const struct id *building) CHECKED;

/* Takes into the inventory what a provider gave for a building: held by it, or leaving if the building is gone or has
 * another one. *ret_held: what the building has now (the other one), STR_NONE if it is gone; in the arena. May be
 * repeated. ERR_NUMBER_NOT_PROVISIONED: the number is just being given back; ask the provider again later. */
enum err number_add_provided(struct tx *tx, const struct id *building, struct str number, struct str *ret_held) CHECKED;

/* Takes a number from the building that holds it: back to the pool, or to its provider by a job. ERR_NUMBER_NOT_FOUND:
 * unknown, or held by nobody. */
enum err number_release(struct tx *tx, struct str number) CHECKED;

/* Takes a building's number from it without the job: where *ret_leaving, the caller gives *ret_number back and ends
 * with number_forget. STR_NONE: it has none, or is gone. In the arena. */
enum err number_detach(struct tx *tx, const struct id *building, struct str *ret_number, bool *ret_leaving) CHECKED;
/* Is it leaving? */
enum err number_leaving(struct tx *tx, struct str number, bool *ret) CHECKED;
/* The provider has it back. */
enum err number_forget(struct tx *tx, struct str number) CHECKED;
/* A building that let go of a number has it again: *ret says whether it has. Not if somebody else has it, or if the
 * building has another one: then its provider gets back what is leaving, by a job. ERR_BUILDING_NOT_FOUND. */
enum err number_reattach(struct tx *tx, const struct id *building, struct str number, bool *ret) CHECKED;
