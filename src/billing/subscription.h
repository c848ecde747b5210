/* The effects of a change of the subscription on an account (BILLING-20 to BILLING-22). */
#pragma once
#include "domain/account.h"
#include "domain/tx.h"

#define SUBSCRIPTION_NUMBER_KEPT_S (30 * 86400)      /* after the end of a subscription */
#define SUBSCRIPTION_NUMBER_TOLD_S (7 * 86400)       /* before they go */
#define JOB_RELEASE_NUMBERS        "release_numbers" /* payload: an account's ID */

/* Sets the account's subscription. If `plan` is STR_NONE, the account keeps its plan, or gets `weekly`. Active: queues
 * a job for each building without a number. None: grants stop opening at once, and a job releases the numbers after 30
 * days unless the subscription is renewed. Clears cached authentications. Fails with ERR_ACCOUNT_NOT_FOUND,
 * ERR_INVALID_PLAN. */
enum err subscription_set(struct tx *tx, const struct id *account, enum subscription_status status,
                          struct str plan) CHECKED;
/* Queues a job for each building of the account without a number. */
enum err subscription_provision(struct tx *tx, const struct id *account) CHECKED;
/* Parses "active", "past_due" and "canceled" (SUBSCRIPTION_NONE); returns false for any other text. */
bool subscription_status_parse(struct str text, enum subscription_status *ret);

/* Releases all numbers of an account whose subscription ended 30 days ago or earlier. In the week before, tells the
 * owner that they go. *ret_due_us is when to call it again, so that it tells once; 0: no more. */
enum err subscription_release_numbers(struct tx *tx, const struct id *account, int64_t *ret_due_us) CHECKED;
