/* The inventory of virtual numbers. Numbers of the operator's pool stay in it; numbers bought from a provider are
 * returned when their building is removed or loses them.
 *
 * A provider's number is in the inventory from its purchase until the provider has it back. Without a building, such a
 * number is leaving: no building gets it any more. */
#pragma once
#include "domain/tx.h"

#define JOB_PROVISION      "provision"      /* payload: a building's ID, which is also part of the job's name */
#define JOB_NUMBERS        "numbers"        /* periodic: looks for buildings that should have a number and have none */
#define JOB_RELEASE_NUMBER "release_number" /* payload: a number that is leaving */

struct number {
    struct str number, country; /* E.164; "US" or "CA" */
    bool pooled;                /* of the operator's pool */
    struct id building_id;      /* empty: free or leaving */
    struct id account_id;
    struct str building_label, email; /* of the building and its account */
    int64_t held_since_us;
};

/* Adds a free number to the pool, and makes the jobs due that wait for one. Does nothing if the pool has it. Fails with
 * ERR_BAD_REQUEST if it is a provider's number, or in the pool with the other country. */
enum err number_add(struct tx *tx, struct str number, struct str country) CHECKED;
/* Adds a number of the pool, and assigns it. Fails with ERR_BAD_REQUEST, in addition, if another building has the
 * number or the building has another number, and ERR_BUILDING_NOT_FOUND. */
enum err number_add_for(struct tx *tx, struct str number, struct str country, const struct id *building) CHECKED;
/* Makes a number of the pool the building's, whichever building had it; the number that the building had is released.
 * Here and with the others that the operator has (number_add_for, number_remove, number_take) the owners are told by
 * mail. Fails with ERR_NUMBER_NOT_FOUND and ERR_BAD_REQUEST, if it is a provider's, with a message, and
 * ERR_BUILDING_NOT_FOUND. */
enum err number_assign(struct tx *tx, struct str number, const struct id *building) CHECKED;
/* Takes a number out of the pool, and from its building. Fails as number_assign. */
enum err number_remove(struct tx *tx, struct str number) CHECKED;
/* Takes a number from its building, as number_release, which tells nobody. */
enum err number_take(struct tx *tx, struct str number) CHECKED;
/* All numbers, in the order of the numbers, in the arena. */
enum err number_list(struct tx *tx, const struct number **ret, size_t *ret_count) CHECKED;
/* The numbers of a statement with the columns of number_list, in the arena. */
enum err number_list_by(struct tx *tx, const struct db_call *call, const struct number **ret,
                        size_t *ret_count) CHECKED;

struct number_claim {
    struct str number;  /* the building's number; STR_NONE: buy one from the provider */
    struct str country; /* of the building */
};

/* Gives the building a free number of the pool if it has no number: one of its country, never used before, or else
 * unused for the longest time. Without billing, only the operator gives numbers of the pool. *ret is in the arena.
 * Fails with ERR_BUILDING_NOT_FOUND. */
enum err number_claim(struct tx *tx, const struct id *building, struct number_claim *ret) CHECKED;

/* Queues the job that provides a building with a number. There is one job for each building, since two would both buy.
 * Does nothing where the operator assigns numbers. */
enum err number_provision(struct tx *tx, const struct id *building) CHECKED;

/* Has the buildings looked at again that should have a number: something changed for them. */
enum err number_look(struct tx *tx) CHECKED;
/* Queues the job of number_provision for each of the `limit` buildings without a number after `after` that should have
 * one. *ret_last is the last of them; not given: there are no more. */
enum err number_look_batch(struct tx *tx, const struct id *after, int64_t limit, struct id *ret_last) CHECKED;

/* Adds a number that was bought for a building. The number is leaving at once if the building is deleted or has another
 * number. *ret_held is the number that the building then has, STR_NONE if it is deleted; in the arena. May be repeated.
 * Fails with ERR_NUMBER_NOT_PROVISIONED if the number is being returned; ask the provider again later. */
enum err number_add_provided(struct tx *tx, const struct id *building, struct str number, struct str *ret_held) CHECKED;

/* Takes a number from its building. A number of the pool is free again; a job returns another one to its provider.
 * Fails with ERR_NUMBER_NOT_FOUND if it is unknown or no building has it. */
enum err number_release(struct tx *tx, struct str number) CHECKED;

/* Deletes at most `limit` records of purchases that were open until before_us at the latest. */
enum err number_purchase_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count) CHECKED;

/* Takes the number of a building without the job. If *ret_leaving, the caller must return *ret_number to the provider
 * and then call number_forget. *ret_number is in the arena; STR_NONE: no number, or the building is deleted. */
enum err number_detach(struct tx *tx, const struct id *building, struct str *ret_number, bool *ret_leaving) CHECKED;
/* *ret: the inventory has the number, held, free or leaving. */
enum err number_known(struct tx *tx, struct str number, bool *ret) CHECKED;
/* *ret: the number is leaving. */
enum err number_leaving(struct tx *tx, struct str number, bool *ret) CHECKED;
/* Removes a leaving number: the provider has it back. */
enum err number_forget(struct tx *tx, struct str number) CHECKED;
/* Gives a number back to the building that it was taken from. *ret is false if the number has another building, or the
 * building another number; a job then returns the number to its provider. Fails with ERR_BUILDING_NOT_FOUND. */
enum err number_reattach(struct tx *tx, const struct id *building, struct str number, bool *ret) CHECKED;
