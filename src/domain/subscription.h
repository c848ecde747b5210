/* What a subscription's state means for the account: the billing provider's events end here (decisions section 4). */
#pragma once
#include "domain/account.h"
#include "domain/tx.h"

#define SUBSCRIPTION_NUMBER_KEPT_S (30 * 86400)      /* after the end of a subscription */
#define JOB_RELEASE_NUMBERS        "release_numbers" /* payload: an account's ID */

/* Sets the account's subscription. `plan`: STR_NONE keeps the one it has, and is `weekly` if it has none. Active: every
 * building without a number gets one, by a job. None: grants stop opening at once, the numbers are released 30 days
 * later unless it is renewed. Changes what authentication reads. ERR_ACCOUNT_NOT_FOUND, ERR_INVALID_PLAN. */
enum err subscription_set(struct tx *tx, const struct id *account, enum subscription_status status,
                          struct str plan) CHECKED;
/* "active", "past_due" and, as billing providers say it, "canceled"; false for anything else. */
bool subscription_status_parse(struct str text, enum subscription_status *ret);

/* Releases all numbers of an account whose subscription ended 30 days ago or earlier and was not renewed. */
enum err subscription_release_numbers(struct tx *tx, const struct id *account) CHECKED;
