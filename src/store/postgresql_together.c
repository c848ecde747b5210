/* Reads that wait at the same time travel together: the server and the worker wake up once for all of them.
 *
 * A body cannot be suspended, but it may run more than once. So each body runs first to ask: its first statement is
 * sent, with what it assumes, and the body fails with ERR_RETRY. When all results are there, it runs again to be
 * answered: its first statement returns at once. Each statement has a snapshot of its own, as it has alone. A body that
 * needs more (another statement, one that is not prepared yet, an assumption that does not hold), or whose statement
 * failed, runs again alone. */
#include <assert.h>

#include "base/clock.h"
#include "store/postgresql.h"

struct postgresql_together {
    bool asked;    /* the body has sent its statement, */
    bool assumes;  /* after an assumption */
    bool arrived;  /* their results are there */
    bool answered; /* the body has got its one */
    int statement;
    PGresult *assumption, *result;
};

/* ---- the body's statements ---- */

static enum err ask(struct postgresql_db *db, struct postgresql_together *t, const struct db_call *call)
{
    const struct db_assumption *a = db->assumption;
    const struct postgresql_statement *st = &db->statements[call->statement];
    if (st->followed || !st->prepared || (a && !db->statements[a->call->statement].prepared))
        return ERR_RETRY;
    t->assumes = a && !postgresql_send_statement(db, a->call);
    t->asked = t->assumes == (a != NULL) && !postgresql_send_statement(db, call);
    t->statement = call->statement;
    return ERR_RETRY;
}

static enum err answer(struct postgresql_db *db, struct postgresql_together *t, int statement, PGresult **ret)
{
    if (t->answered) {
        db->statements[t->statement].followed = true;
        return ERR_RETRY;
    }
    if (statement != t->statement || t->assumes != (db->assumption != NULL))
        return ERR_RETRY;
    if (t->assumes && !postgresql_assumption_holds(db, t->assumption))
        return ERR_RETRY;
    t->answered = true;
    *ret = t->result;
    t->result = NULL;
    return ERR_NONE;
}

static enum err take_statement(struct postgresql_db *db, const struct db_call *call, PGresult **ret)
{
    struct postgresql_together *t = db->asked;
    const bool query = ret != NULL;
    enum err e = !query ? ERR_RETRY : t->arrived ? answer(db, t, call->statement, ret) : ask(db, t, call);
    return db->base.failed = e;
}

/* ---- the reads ---- */

static enum err run_body(struct postgresql_db *db, struct store_task *task, struct postgresql_together *t)
{
    db->base.failed = ERR_NONE;
    db->assumption = NULL;
    db->together = take_statement;
    db->asked = t;
    enum err e = store_task_run(task, &db->base);
    assert(db->base.cursors == 0 && "a cursor was left open");
    db->together = NULL;
    return db_result(&db->base, e);
}

static PGresult *next_result(struct postgresql_db *db)
{
    PGresult *r = postgresql_result(db);
    if (r)
        PQclear(postgresql_result(db)); /* the end of this command */
    return r;
}

static void receive(struct postgresql_db *db, struct postgresql_together *asked, size_t count)
{
    const bool synchronised = db->sent && PQpipelineSync(db->conn);
    for (size_t i = 0; synchronised && i < count; i++) {
        struct postgresql_together *t = &asked[i];
        if (t->assumes)
            t->assumption = next_result(db);
        if (t->asked)
            t->result = next_result(db);
        t->arrived = t->asked && PQresultStatus(t->result) == PGRES_TUPLES_OK &&
                     (!t->assumes || PQresultStatus(t->assumption) == PGRES_TUPLES_OK);
    }
    if (synchronised)
        PQclear(postgresql_result(db)); /* the synchronisation point */
    db->sent = 0;
}

void postgresql_run_together(struct postgresql_db *db, struct store_task *const *tasks, size_t count, enum err *ret)
{
    struct postgresql_together asked[POSTGRESQL_TOGETHER_MOST] = {0};
    assert(count <= POSTGRESQL_TOGETHER_MOST);
    db->until_us = clock_monotonic_us() + db->store->answer_us;
    db->mode = STORE_READ;
    db->begun = db->commits = db->patient = false;
    db->alone = NULL;
    for (size_t i = 0; i < count; i++)
        (void)run_body(db, tasks[i], &asked[i]);
    receive(db, asked, count);
    for (size_t i = 0; i < count; i++) {
        ret[i] = asked[i].arrived ? run_body(db, tasks[i], &asked[i]) : ERR_RETRY;
        if (!asked[i].answered)
            ret[i] = ERR_RETRY;
        PQclear(asked[i].assumption);
        PQclear(asked[i].result);
    }
}
