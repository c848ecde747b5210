#include "jobs/heartbeat.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/metric.h"
#include "base/wait.h"
#include "domain/call_record.h"
#include "domain/work.h"
#include "jobs/node.h"

#define EVERY_US      (2 * US_PER_S)
#define AGAIN_US      (US_PER_S / 2)                  /* after a failure */
#define HOLDS_US      (NODE_SILENT_US - 2 * US_PER_S) /* after a heartbeat; less than others wait */
#define MISSED_US     (9 * US_PER_S / 2)              /* after a heartbeat, the server has confirmed none */
#define GAP_US        (3 * EVERY_US)                  /* between two heartbeats: others may have had it too */
#define STEADY_US     NODE_SILENT_US                  /* without a gap, before this node ends another one */
#define END_AGAIN_US  (30 * US_PER_S)                 /* after a failure to end a node */
#define EVER_US       (-3600 * US_PER_S)              /* a silence that every node has had */
#define CLOSE_AT_ONCE 200                             /* calls */
#define CLOSE_US      (600 * US_PER_S)                /* between two looks for calls of processes that ended */
#define SAMPLES       5                               /* of the server's clock, at the start */
#define WARN_US       (2 * US_PER_S)
#define MOST_US       (30 * US_PER_S)
#define REMIND_US     (60 * US_PER_S)

/* How far this machine's clock is ahead of the server's, give or take unsure_us. */
struct lead {
    int64_t ahead_us, unsure_us;
};

struct heartbeat {
    struct heartbeat_options options;
    struct db *own; /* NULL: one process has the store */
    pthread_t thread;
    bool running, joined;
    atomic_uint nodes;
    atomic_bool strays; /* the clock */

    /* For the thread alone. Times are monotonic. */
    int64_t beat_us, steady_us; /* the last heartbeat; the first one after the last gap */
    int64_t end_us;             /* end no node before */
    int64_t close_us;           /* look for calls of processes that ended */
    int64_t remind_us;          /* of the clock */
    struct lead lead;
    enum log_level clock_level; /* of the last record about the clock */
    bool failing;

    pthread_mutex_t lock; /* for the rest */
    pthread_cond_t stopped;
    bool stopping;
    struct id node;
    int64_t holds_us; /* its leases hold until then */
};

/* ---- statements ---- */

struct own_run {
    struct heartbeat *h;
    enum err (*body)(struct tx *tx, void *arg);
    void *arg;
};

static enum err own_body(void *arg, struct db *db)
{
    const struct own_run *r = arg;
    struct arena arena;
    arena_init(&arena, NULL, 0);
    struct tx tx = work_tx(&(struct work){.config = r->h->options.config, .arena = &arena}, db);
    enum err e = r->body(&tx, r->arg);
    arena_done(&arena);
    return e;
}

static enum err run_own(struct heartbeat *h, enum err (*body)(struct tx *tx, void *arg), void *arg)
{
    struct own_run r = {h, body, arg};
    return h->own ? store_own_run(h->own, own_body, &r) : store_run(h->options.store, STORE_WRITE, own_body, &r);
}

static enum err clock_body(struct tx *tx, void *arg)
{
    return node_clock(tx, arg);
}

struct joining {
    struct node node;
    bool alone;
};

static enum err join_body(struct tx *tx, void *arg)
{
    const struct joining *j = arg;
    return node_join(tx, &j->node, j->alone);
}

struct beating {
    struct id node;
    int64_t ahead_us;
    struct node_beat beat;
};

static enum err beat_body(struct tx *tx, void *arg)
{
    struct beating *b = arg;
    return node_beat(tx, &b->node, b->ahead_us, &b->beat);
}

struct ending {
    struct id node;
    int64_t silent_us, jobs, deliveries;
};

static enum err end_body(struct tx *tx, void *arg)
{
    struct ending *x = arg;
    return node_end(tx, &x->node, x->silent_us, &x->jobs, &x->deliveries);
}

/* ---- calls of processes that ended first ---- */

struct closing {
    bool alone;
    int64_t count;
};

static enum err close_body(struct tx *tx, void *arg)
{
    struct closing *c = arg;
    return call_record_close(tx, c->alone, CLOSE_AT_ONCE, &c->count);
}

static void close_calls(struct heartbeat *h)
{
    struct closing c = {.alone = !h->own, .count = CLOSE_AT_ONCE};
    h->close_us = clock_monotonic_us() + CLOSE_US;
    int64_t all = 0;
    enum err e = ERR_NONE;
    while (!e && c.count == CLOSE_AT_ONCE) {
        e = run_own(h, close_body, &c);
        all += e ? 0 : c.count;
    }
    if (all)
        log_warn("calls ended by a process that was killed count=%lld", (long long)all);
    if (e)
        log_warn("calls of a process that was killed not ended error=%s", err_info(e)->code);
}

/* ---- the clock ---- */

/* The server read its clock between two readings of ours. */
static struct lead lead_of(int64_t before_us, int64_t server_us, int64_t after_us)
{
    return (struct lead){(before_us + after_us) / 2 - server_us, (after_us - before_us) / 2};
}

/* The part of the difference that is certain. */
static int64_t difference_us(const struct lead *l)
{
    return llabs(l->ahead_us) - l->unsure_us;
}

static enum err sample_clock(struct heartbeat *h)
{
    enum err e = ERR_NONE;
    h->lead.unsure_us = INT64_MAX;
    for (int i = 0; !e && i < SAMPLES; i++) {
        int64_t server_us = 0, before_us = clock_real_us();
        e = run_own(h, clock_body, &server_us);
        const struct lead lead = lead_of(before_us, server_us, clock_real_us());
        if (!e && lead.unsure_us < h->lead.unsure_us)
            h->lead = lead;
    }
    return e;
}

static void log_clock(struct heartbeat *h)
{
    const int64_t us = difference_us(&h->lead), now_us = clock_monotonic_us();
    const enum log_level level = us > MOST_US ? LOG_ERROR : us > WARN_US ? LOG_WARN : LOG_INFO;
    atomic_store(&h->strays, us > MOST_US);
    if (level == h->clock_level && (level == LOG_INFO || now_us < h->remind_us))
        return;
    h->clock_level = level;
    h->remind_us = now_us + REMIND_US;
    if (level == LOG_INFO)
        log_info("clock agrees with that of the database server");
    else
        log_line(level,
                 "clock differs from that of the database server ahead_ms=%lld advice=\"synchronize the clocks\"",
                 (long long)(h->lead.ahead_us / 1000));
}

static enum err check_clock(struct heartbeat *h, char **ret_why)
{
    enum err e = sample_clock(h);
    if (e)
        return err_why(ret_why, e, "the database server's clock cannot be read: %s", store_own_failure(h->own));
    const int64_t ahead_s = h->lead.ahead_us / US_PER_S;
    if (difference_us(&h->lead) > MOST_US)
        return err_why(ret_why, ERR_USAGE,
                       "this machine's clock is %lld s %s that of the database server: synchronize them (NTP), at most "
                       "%lld s are allowed",
                       llabs(ahead_s), ahead_s > 0 ? "ahead of" : "behind", MOST_US / US_PER_S);
    log_clock(h);
    return ERR_NONE;
}

/* ---- joining ---- */

/* The server has noted a sign of life, sent after begun_us, of the node with that ID: its leases hold from then on. */
static void keep_leases(struct heartbeat *h, const struct id *node, int64_t begun_us)
{
    h->beat_us = begun_us;
    pthread_mutex_lock(&h->lock);
    h->node = *node;
    h->holds_us = begun_us + HOLDS_US;
    pthread_mutex_unlock(&h->lock);
}

/* Joins under a new ID. */
static enum err node_enter(struct heartbeat *h)
{
    char host[256] = "";
    int have, want = 0;
    struct joining j = {.alone = !h->own};
    const int64_t begun_us = clock_monotonic_us();
    (void)gethostname(host, sizeof host - 1);
    enum err e = store_versions(h->options.store, &have, &want);
    if (e)
        return e;
    j.node = (struct node){.id = id_new(clock_real_us()),
                           .version = STR(PORTERO_VERSION),
                           .schema_version = want,
                           .host = str_z(host),
                           .address = str_z(h->options.address ? h->options.address : ""),
                           .ahead_us = h->lead.ahead_us};
    e = run_own(h, join_body, &j);
    if (e)
        return e;
    h->steady_us = begun_us;
    keep_leases(h, &j.node.id, begun_us);
    return ERR_NONE;
}

/* Another node has ended this one. */
static enum err node_enter_again(struct heartbeat *h, const struct id *old)
{
    enum err e = node_enter(h);
    if (!e)
        log_warn("node lost its leases: it was silent for too long, id=%s new_id=%s", old->text, h->node.text);
    return e;
}

/* ---- heartbeats ---- */

static void end_dead_node(struct heartbeat *h, const struct id *dead)
{
    struct ending x = {.node = *dead, .silent_us = NODE_SILENT_US};
    enum err e = run_own(h, end_body, &x);
    if (e == ERR_NOT_FOUND)
        return; /* another node was first, or it lives */
    if (e) {
        h->end_us = clock_monotonic_us() + END_AGAIN_US;
        log_warn("node not ended id=%s error=%s", dead->text, err_info(e)->code);
        return;
    }
    metric_add(&metrics.leases_freed[METRIC_LEASE_JOB], x.jobs);
    metric_add(&metrics.leases_freed[METRIC_LEASE_DELIVERY], x.deliveries);
    log_warn("node ended: it no longer responds, id=%s jobs=%lld deliveries=%lld", dead->text, (long long)x.jobs,
             (long long)x.deliveries);
    close_calls(h);
    h->options.changed(h->options.context);
}

static void follow_clock(struct heartbeat *h, int64_t offset_s)
{
    if (!h->options.config->production && clock_raise_offset_s(offset_s))
        h->options.changed(h->options.context);
}

/* After a gap of its own, a node does not know whether the others have had it too: the server may have been away. */
static void note_beat(struct heartbeat *h, int64_t begun_us)
{
    if (begun_us - h->beat_us > GAP_US)
        h->steady_us = begun_us;
    keep_leases(h, &h->node, begun_us);
}

static enum err send_beat(struct heartbeat *h)
{
    struct beating b = {.node = h->node, .ahead_us = h->lead.ahead_us};
    const int64_t begun_us = clock_monotonic_us(), before_us = clock_real_us();
    enum err e = run_own(h, beat_body, &b);
    const int64_t after_us = clock_real_us();
    if (e == ERR_NOT_FOUND)
        return node_enter_again(h, &b.node);
    if (e)
        return e;
    note_beat(h, begun_us);
    atomic_store(&h->nodes, (unsigned)b.beat.others + 1);
    h->lead = lead_of(before_us, b.beat.at_us, after_us);
    metric_set(metrics.clock_ahead, h->lead.ahead_us);
    log_clock(h);
    follow_clock(h, b.beat.clock_offset_s);
    if (id_given(&b.beat.dead) && begun_us - h->steady_us >= STEADY_US && begun_us >= h->end_us)
        end_dead_node(h, &b.beat.dead);
    if (begun_us >= h->close_us)
        close_calls(h);
    return ERR_NONE;
}

static void log_beat(struct heartbeat *h, enum err e)
{
    if (e && !h->failing)
        log_warn("heartbeat failed, no job or delivery is begun until it succeeds, error=%s reason=\"%s\"",
                 err_info(e)->code, store_own_failure(h->own));
    if (!e && h->failing)
        log_info("heartbeat succeeded");
    h->failing = e != ERR_NONE;
}

/* Returns false if the thread must end. */
static bool pause_until(struct heartbeat *h, int64_t at_us)
{
    pthread_mutex_lock(&h->lock);
    while (!h->stopping && cond_wait_until(&h->stopped, &h->lock, at_us))
        ;
    bool stopping = h->stopping;
    pthread_mutex_unlock(&h->lock);
    return !stopping;
}

static void *beat_thread(void *arg)
{
    struct heartbeat *h = arg;
    int64_t at_us = h->beat_us + EVERY_US;
    while (pause_until(h, at_us)) {
        const int64_t begun_us = clock_monotonic_us();
        enum err e = send_beat(h);
        log_beat(h, e);
        at_us = e ? clock_monotonic_us() + AGAIN_US : begun_us + EVERY_US;
    }
    return NULL;
}

/* ---- life ---- */

enum err heartbeat_join(struct heartbeat *h)
{
    enum err e = h->joined ? ERR_NONE : node_enter(h);
    if (!e && !h->joined)
        close_calls(h);
    h->joined = !e;
    return e;
}

enum err heartbeat_start(const struct heartbeat_options *options, struct heartbeat **ret, char **ret_why)
{
    struct heartbeat *h = mem_new(struct heartbeat);
    h->options = *options;
    h->clock_level = LOG_INFO;
    h->own = store_own_new(options->store);
    atomic_init(&h->nodes, 1);
    pthread_mutex_init(&h->lock, NULL);
    cond_init(&h->stopped);
    enum err e = h->own ? check_clock(h, ret_why) : ERR_NONE;
    if (!e) {
        e = heartbeat_join(h);
        if (e && !h->own && store_failing(options->store))
            e = ERR_NONE; /* heartbeat_join() follows */
        else if (e && h->own)
            e = err_why(ret_why, e, "the node cannot join: %s", store_own_failure(h->own));
    }
    if (!e && h->own) {
        h->running = pthread_create(&h->thread, NULL, beat_thread, h) == 0;
        e = h->running ? ERR_NONE : ERR_IO;
    }
    if (e) {
        heartbeat_stop(h);
        heartbeat_free(h);
        return e;
    }
    *ret = h;
    return ERR_NONE;
}

void heartbeat_stop(struct heartbeat *h)
{
    if (!h)
        return;
    pthread_mutex_lock(&h->lock);
    h->stopping = true;
    pthread_cond_broadcast(&h->stopped);
    pthread_mutex_unlock(&h->lock);
    if (h->running)
        pthread_join(h->thread, NULL);
    h->running = false;
    struct ending x = {.node = h->node, .silent_us = EVER_US};
    enum err e = h->joined ? run_own(h, end_body, &x) : ERR_NONE;
    if (e && e != ERR_NOT_FOUND)
        log_warn("node not ended id=%s error=%s", x.node.text, err_info(e)->code);
    h->joined = false;
}

void heartbeat_free(struct heartbeat *h)
{
    if (!h)
        return;
    store_own_free(h->own);
    pthread_cond_destroy(&h->stopped);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

const char *heartbeat_fault(struct heartbeat *h)
{
    if (!h || !h->own)
        return NULL;
    pthread_mutex_lock(&h->lock);
    const bool missed = clock_monotonic_us() > h->holds_us - HOLDS_US + MISSED_US;
    pthread_mutex_unlock(&h->lock);
    return missed                    ? "the database server confirms no heartbeat"
           : atomic_load(&h->strays) ? "the clock differs from that of the database server by more than 30 s"
                                     : NULL;
}

unsigned heartbeat_nodes(const struct heartbeat *h)
{
    return h ? atomic_load_explicit(&h->nodes, memory_order_relaxed) : 1;
}

struct tenure heartbeat_tenure(struct heartbeat *h)
{
    struct tenure t = {0};
    if (!h || !h->own)
        return t;
    t.heartbeat = h;
    pthread_mutex_lock(&h->lock);
    t.node = h->node;
    pthread_mutex_unlock(&h->lock);
    return t;
}

bool tenure_holds(const struct tenure *t)
{
    struct heartbeat *h = t->heartbeat;
    if (!h)
        return true;
    pthread_mutex_lock(&h->lock);
    bool holds = clock_monotonic_us() < h->holds_us && id_equal(&h->node, &t->node);
    pthread_mutex_unlock(&h->lock);
    return holds;
}
