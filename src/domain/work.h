/* Transactions from outside the store: a job, a task of a request or a thread of the service carries one struct work
 * and runs its transactions with it, one after the other. */
#pragma once
#include "domain/tx.h"

struct work {
    struct store *store;
    const struct config *config;
    struct arena *arena;   /* the results of transactions, and their messages */
    struct str trace;      /* as in struct tx */
    struct str why;        /* of the last transaction, as in struct tx */
    int64_t retry_after_s; /* of the last transaction, as in struct tx */
};

/* A tx with the current time; db may be NULL. */
struct tx work_tx(const struct work *w, struct db *db);

/* Runs `body` in a transaction and waits for the commit. `body` may be run more than once (see store.h), with the time
 * at the start of each run. Blocks; must not be called in a transaction. Returns the error of `body`, or the store's.
 */
enum err work_run(struct work *w, enum store_mode mode, enum err (*body)(struct tx *tx, void *arg), void *arg) CHECKED;
/* The same for one transaction, of whose results nothing is in the arena. */
enum err work_once(struct store *store, const struct config *config, enum store_mode mode,
                   enum err (*body)(struct tx *tx, void *arg), void *arg) CHECKED;

CHECKED static inline enum err work_read(struct work *w, enum err (*body)(struct tx *tx, void *arg), void *arg)
{
    return work_run(w, STORE_READ, body, arg);
}

CHECKED static inline enum err work_write(struct work *w, enum err (*body)(struct tx *tx, void *arg), void *arg)
{
    return work_run(w, STORE_WRITE, body, arg);
}
