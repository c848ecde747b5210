/* The minutes of calls to residents' telephones: voice.account_minutes_per_day. A telephone that answers takes each
 * minute that it begins. */
#pragma once
#include "domain/tx.h"

#define MINUTES_TALK 10 /* of a conversation; reserved for each forwarded call, and one for each of its phones */

/* The minutes that the account has left of the last 24 hours; INT64_MAX: no limit. A call that goes on has the minutes
 * that its record reserves. */
enum err minutes_left(struct tx *tx, const struct id *account, int64_t *ret) CHECKED;
