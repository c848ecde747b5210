/* The context of one transaction, which the rules that use the store or the time take. */
#pragma once
#include "base/arena.h"
#include "base/clock.h"
#include "base/id.h"
#include "store/store.h"

struct tx {
    struct arena *arena; /* of results and messages */
    struct db *db;
    const struct config *config;
    int64_t now_us;        /* taken once per transaction */
    struct str trace;      /* of the request, for the events that it causes (domain/event.h); STR_NONE without one */
    const struct id *call; /* that the entries of the log are of; NULL: not known */
    struct str why;        /* set with an error: a message such as "ends_at must be later than starts_at" */
    int64_t retry_after_s; /* set with an error: for Retry-After; 0: not sent */
};

/* Fails with a message: `return tx_fail(tx, ERR_INVALID_UNLOCK, "label must …")`. */
static inline enum err tx_fail(struct tx *tx, enum err e, const char *why)
{
    tx->why = str_z(why);
    return e;
}
