#include "domain/work.h"

struct run {
    struct work *work;
    enum err (*body)(struct tx *tx, void *arg);
    void *arg;
};

struct tx work_tx(const struct work *w, struct db *db)
{
    return (struct tx){.arena = w->arena, .db = db, .config = w->config, .now_us = clock_now_us(), .trace = w->trace};
}

static enum err run_body(void *arg, struct db *db)
{
    const struct run *r = arg;
    struct tx tx = work_tx(r->work, db);
    enum err e = r->body(&tx, r->arg);
    r->work->why = tx.why;
    r->work->retry_after_s = tx.retry_after_s;
    return e;
}

enum err work_run(struct work *w, enum store_mode mode, enum err (*body)(struct tx *tx, void *arg), void *arg)
{
    w->why = STR_NONE;
    w->retry_after_s = 0;
    return store_run(w->store, mode, run_body, &(struct run){w, body, arg});
}

enum err work_once(struct store *store, const struct config *config, enum store_mode mode,
                   enum err (*body)(struct tx *tx, void *arg), void *arg)
{
    struct arena arena;
    struct work work = {.store = store, .config = config, .arena = &arena};
    arena_init(&arena, NULL, 0);
    enum err e = work_run(&work, mode, body, arg);
    arena_done(&arena);
    return e;
}
