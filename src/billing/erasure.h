/* The end of an account and of everything that is held of its person (docs/operations.md, Data protection).
 *
 * erasure_begin, one transaction, ends what must end at once and queues the job of jobs/erasure.c. The job ends the
 * customer at the billing provider, then deletes the rows, a bounded number in each transaction. Every part may be
 * repeated, and the job's row goes in the last transaction, so that a crash at any point only delays the end. */
#pragma once
#include "billing/checkout.h"
#include "domain/tx.h"

#define JOB_ERASURE "erase_account" /* payload: an account's ID; its name is erasure_job() */

/* The account of an ID or of an e-mail address (in either case). Fails with ERR_ACCOUNT_NOT_FOUND, with a message. */
enum err erasure_find(struct tx *tx, struct str account_or_email, struct id *ret) CHECKED;
/* Whether an account with this e-mail is being erased: it has its ID in place of the address. */
bool erasure_begun(const struct id *account, struct str email);

/* Ends the account for its person, whose address can sign up again from now on: revokes all keys, deletes endpoints,
 * ends the subscription here, releases the numbers, deletes memberships in other buildings, sign-in codes and queued
 * mail, and queues the job. Repeated, it makes the job due. Fails with ERR_BUILDING_BUSY while an operation on the
 * account's buildings runs or waits for a decision, and ERR_ACCOUNT_NOT_FOUND. */
enum err erasure_begin(struct tx *tx, const struct id *account) CHECKED;
/* The name of the account's job. */
struct str erasure_job(const struct id *account, struct arena *a);

/* For the billing provider to end before the rows are deleted; in the arena. */
struct erasure_dues {
    bool unsettled; /* a checkout may be paid: */
    struct checkout checkout;
    struct str customer_id;     /* of the account; STR_NONE: none, or it has ended */
    struct str subscription_id; /* that another checkout brought, and that has not ended; STR_NONE: none */
};
/* Fails with ERR_ACCOUNT_NOT_FOUND: nothing is left of the account. */
enum err erasure_dues(struct tx *tx, const struct id *account, struct erasure_dues *ret) CHECKED;
/* Records that the provider has ended the customer. */
enum err erasure_customer_ended(struct tx *tx, const struct id *account) CHECKED;

/* Deletes a bounded number of rows. Without *ret_more, that was all, and the account is deleted, too. */
enum err erasure_sweep(struct tx *tx, const struct id *account, bool *ret_more) CHECKED;
