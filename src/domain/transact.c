#include "domain/transact.h"

struct transaction {
    struct op first, op; /* as it starts, and as the last run left it */
    enum err (*run)(struct op *op, void *arg);
    void *arg;
};

static enum err transaction_run(void *arg, struct db *db)
{
    struct transaction *t = arg;
    t->op = t->first;
    t->op.db = db;
    enum err e = t->run(&t->op, t->arg);
    t->op.db = NULL;
    return e;
}

enum err op_transact(struct store *store, const struct config *config, enum store_mode mode, struct arena *arena,
                     enum err (*run)(struct op *op, void *arg), void *arg, struct op *ret_op)
{
    struct transaction t = {
        .first = {.arena = arena, .config = config, .now_us = clock_now_us()},
        .run = run,
        .arg = arg,
    };
    enum err e = store_run(store, mode, transaction_run, &t);
    if (ret_op)
        *ret_op = t.op;
    return e;
}
