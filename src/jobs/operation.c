#include "jobs/operation.h"

#include "base/log.h"
#include "domain/transact.h"
#include "jobs/saga.h"

struct load {
    const struct id *id;
    struct operation *o;
};

static enum err load_run(struct op *op, void *arg)
{
    const struct load *l = arg;
    return operation_find(op, l->id, l->o);
}

static enum err load(struct saga *s, const struct id *id)
{
    struct load l = {id, &s->o};
    return op_transact(s->store, s->config, STORE_WRITE, s->arena, load_run, &l, NULL);
}

/* ---- the job ---- */

static enum err go_on(struct saga *s)
{
    int64_t until_us = clock_monotonic_us() + JOB_PARTS_US;
    while (s->o.status == OPERATION_RUNNING) {
        enum err e = saga_step(s);
        if (e)
            return e == ERR_NOT_FOUND ? ERR_NONE : e; /* the operator was faster */
        if (s->o.status == OPERATION_RUNNING && clock_monotonic_us() > until_us)
            return ERR_PROVIDER_UNAVAILABLE;
    }
    return ERR_NONE;
}

static enum err operation_run(void *context, const struct job *job)
{
    struct saga s = {.store = job->store,
                     .config = job->config,
                     .providers = context,
                     .arena = job->arena,
                     .resumed = job->attempt > 1};
    struct id id;
    if (!id_parse(job->payload, &id))
        return ERR_NONE;
    enum err e = load(&s, &id);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_NONE : e;
    if (s.o.status == OPERATION_RECONCILIATION_REQUIRED)
        log_error("operation waits for the operator id=%s step=%s", id.text, operation_step_text(s.o.step));
    return go_on(&s);
}

struct job_kind operation_job_kind(struct providers *providers)
{
    return (struct job_kind){.name = JOB_OPERATION, .run = operation_run, .context = providers};
}

/* ---- the operator ---- */

struct turn {
    struct saga *s;
    enum operation_step to;
    struct operation after;
};

static enum err turn_run(struct op *op, void *arg)
{
    struct turn *t = arg;
    t->after = t->s->o;
    return operation_turn(op, &t->after, t->to);
}

/* Where the decision takes it up, under a new key: under the old one a provider may repeat the failure it began with.
 */
static enum err turn(struct saga *s, enum operation_step to)
{
    struct turn t = {.s = s, .to = to};
    enum err e = op_transact(s->store, s->config, STORE_WRITE, s->arena, turn_run, &t, NULL);
    if (!e)
        s->o = t.after;
    return e;
}

enum err operation_resolve(struct store *store, const struct config *config, const struct providers *providers,
                           const struct id *operation, enum operation_decision decision, struct arena *arena,
                           struct operation *ret, struct str *ret_why)
{
    struct saga s = {.store = store,
                     .config = config,
                     .providers = providers,
                     .arena = arena,
                     .resumed = true,
                     .onward = decision == DECIDE_SUCCEEDED};
    enum err e = load(&s, operation);
    if (e)
        return e;
    if (s.o.status != OPERATION_RECONCILIATION_REQUIRED) {
        *ret_why =
            arena_printf(arena, "the operation is %s: there is nothing to decide", operation_status_text(s.o.status));
        return ERR_BAD_REQUEST;
    }
    enum operation_step to = s.onward ? operation_forward(s.o.step) : operation_backward(s.o.step);
    if (to == STEP_NONE) {
        *ret_why = STR("the building's data is being deleted: only `succeeded` is left");
        return ERR_BAD_REQUEST;
    }
    e = turn(&s, to);
    while (!e && s.o.status == OPERATION_RECONCILIATION_REQUIRED)
        e = saga_step(&s);
    if (!e)
        *ret = s.o;
    return e;
}
