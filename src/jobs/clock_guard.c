#include "jobs/clock_guard.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metric.h"
#include "base/wait.h"
#include "jobs/purge.h"
#include "jobs/time_bound.h"

#define LOOK_US  (5 * US_PER_S)
#define APPLY_US (3600 * US_PER_S)
#define AGAIN_US (60 * US_PER_S) /* after a failure of the store */

struct clock_guard {
    struct clock_guard_options options;
    int64_t steps;    /* that were reported; for the thread alone, as apply_us */
    int64_t apply_us; /* when the bounds are applied next, monotonic */
    struct rhythm rhythm;
};

/* ---- bounds ---- */

struct bound_run {
    const struct clock_guard *guard;
    size_t row;
    bool more;
    int64_t changed;
};

static enum err bound_body(struct tx *tx, void *arg)
{
    struct bound_run *r = arg;
    return time_bound_apply(tx, r->row, &r->more, &r->changed);
}

static enum err bound_jobs_body(struct tx *tx, void *arg)
{
    struct bound_run *r = arg;
    enum err e = ERR_NONE;
    r->changed = 0;
    for (size_t i = 0; !e && i < r->guard->options.kind_count; i++) {
        const struct job_kind *kind = &r->guard->options.kinds[i];
        int64_t changed = 0;
        e = time_bound_apply_jobs(tx, kind->name, kind->longest_s ? kind->longest_s : JOB_LONGEST_S, &changed);
        r->changed += changed;
    }
    return e;
}

static enum err apply_all(const struct clock_guard *g)
{
    struct bound_run r = {.guard = g, .more = true};
    int64_t rows = 0;
    enum err e = work_once(g->options.store, g->options.config, STORE_WRITE, bound_jobs_body, &r);
    for (; !e && r.more; r.row++) {
        rows += r.changed;
        e = work_once(g->options.store, g->options.config, STORE_WRITE, bound_body, &r);
    }
    rows += r.changed;
    if (!e && rows)
        log_warn("stored times were later than they can be and are void: the clock was ahead, rows=%lld",
                 (long long)rows);
    return e;
}

/* ---- the clock ---- */

static void publish_clock(const struct clock_watch *w)
{
    metric_set(metrics.clock_steps, w->steps);
    metric_set(metrics.clock_doubted, w->settles_us > clock_monotonic_us());
}

static void report_step(const struct clock_watch *w)
{
    log_error(
        "clock was set by_s=%lld advice=\"synchronize the clock; deletions by age and releases of numbers wait for an "
        "hour\"",
        (long long)(w->step_us / US_PER_S));
}

static enum err strange_body(struct tx *tx, void *arg)
{
    return time_bound_strange(tx, STR(JOB_PURGE), arg);
}

/* Before the first look, nothing but the store tells whether the clock is right. The sandbox's is moved on purpose. */
static void doubt_at_start(const struct clock_guard *g)
{
    bool strange;
    const enum err e = work_once(g->options.store, g->options.config, STORE_READ, strange_body, &strange);
    if (!g->options.config->production || (!e && !strange))
        return;
    clock_doubt();
    log_warn(
        "clock is far from the last run of the service: deletions by age and releases of numbers wait for an hour");
}

/* A store that cannot be written now is no reason to end: the bounds are applied when it can. */
static void apply_and_plan(struct clock_guard *g)
{
    const enum err e = apply_all(g);
    if (e)
        log_warn("stored times not checked error=%s", err_info(e)->code);
    g->apply_us = clock_monotonic_us() + (e ? AGAIN_US : APPLY_US);
}

static void guard_look(struct clock_guard *g)
{
    const struct clock_watch w = clock_look();
    publish_clock(&w);
    if (w.steps != g->steps)
        report_step(&w);
    if (w.steps == g->steps && clock_monotonic_us() < g->apply_us)
        return;
    g->steps = w.steps;
    apply_and_plan(g);
}

/* ---- the thread ---- */

static void *guard_thread(void *arg)
{
    struct clock_guard *g = arg;
    while (rhythm_pause(&g->rhythm, clock_monotonic_us() + LOOK_US))
        guard_look(g);
    return NULL;
}

enum err clock_guard_start(const struct clock_guard_options *options, struct clock_guard **ret)
{
    struct clock_guard *g = mem_new(struct clock_guard);
    g->options = *options;
    g->steps = clock_look().steps;
    doubt_at_start(g);
    apply_and_plan(g);
    const enum err e = rhythm_start(&g->rhythm, "clock guard", guard_thread, g);
    if (e)
        free(g);
    else
        *ret = g;
    return e;
}

void clock_guard_stop(struct clock_guard *g)
{
    if (!g)
        return;
    rhythm_stop(&g->rhythm);
    free(g);
}
