/* The minutes of calls to residents' telephones: voice.account_minutes_per_day. A telephone that answers takes each
 * minute that it begins. */
#pragma once
#include "domain/tx.h"

#define MINUTES_TALK 10 /* of a conversation; reserved for each forwarded call, and one for each of its phones */

struct minutes {
    int64_t left;    /* to the account, of the last 24 hours; INT64_MAX: no limit */
    int64_t more_us; /* when the oldest of those that were taken comes back; 0: no minute was taken */
};

/* The minutes of a call that goes on are as reserved in its record. */
enum err minutes_get(struct tx *tx, const struct id *account, struct minutes *ret) CHECKED;
