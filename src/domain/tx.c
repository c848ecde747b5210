#include "domain/tx.h"

struct transaction {
    struct tx first, tx; /* as it starts, and as the last run left it */
    enum err (*run)(struct tx *tx, void *arg);
    void *arg;
};

static enum err transaction_run(void *arg, struct db *db)
{
    struct transaction *t = arg;
    t->tx = t->first;
    t->tx.db = db;
    enum err e = t->run(&t->tx, t->arg);
    t->tx.db = NULL;
    return e;
}

enum err tx_run(struct store *store, const struct config *config, enum store_mode mode, struct arena *arena,
                enum err (*run)(struct tx *tx, void *arg), void *arg, struct tx *ret_tx)
{
    struct transaction t = {
        .first = {.arena = arena, .config = config, .now_us = clock_now_us()},
        .run = run,
        .arg = arg,
    };
    enum err e = store_run(store, mode, transaction_run, &t);
    if (ret_tx)
        *ret_tx = t.tx;
    return e;
}
