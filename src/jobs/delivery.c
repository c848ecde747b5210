#include "jobs/delivery.h"

#include <glib.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/container_of.h"
#include "base/log.h"
#include "base/mailbox.h"
#include "base/mem.h"
#include "base/wait.h"
#include "jobs/endpoint.h"

#define NICE             5    /* calls and requests come first */
#define TIMEOUT_MS       5000 /* contract, Events */
#define CONNECTIONS_KEPT 1024
#define RECORDS          64              /* results in one transaction, which other writes may have to wait for */
#define SLEEP_ALONE_US   (30 * US_PER_S) /* one process has the store: whoever adds a row kicks */
#define SLEEP_SHARED_US  US_PER_S        /* another node may have added a row, or lost its lease */
#define PAUSE_US         US_PER_S        /* after a failure of the store */
#define BUSY_US          20000           /* between looks while there is enough to do */

/* What is asked of the store, one of each at a time. They go to a store thread and come back as mail. */
struct look {
    struct store_task job;
    struct mail mail;
    struct deliveries *engine;
    struct arena arena;
    struct delivery_take take;
    uint64_t kicks; /* before it */
    enum err result;
    bool under_way;
};
struct record {
    struct store_task job;
    struct mail mail;
    struct deliveries *engine;
    struct attempt *attempts[RECORDS];
    struct delivery_result results[RECORDS];
    size_t count; /* stays after a failure, to be tried again */
    enum err result;
    bool under_way;
};

struct deliveries {
    struct deliveries_options options;
    pthread_t thread;
    bool running;
    atomic_bool stopping;

    /* The engine's thread. */
    struct net_poster *poster;
    struct endpoints *endpoints;
    struct look look;
    struct record record;
    GPtrArray *ended;            /* attempts to record */
    struct delivery_place after; /* where the next look begins */
    bool wanted;                 /* a look is */
    bool more;                   /* the last look has left some for want of room */
    bool freed;                  /* there is more room since the look began */
    bool busy;                   /* there is more than enough to do with what is under way */
    int64_t looked_us;           /* when the last look began, monotonic */
    int64_t look_us;             /* when to look in any case, monotonic */
    int64_t record_us;           /* record no sooner, monotonic */

    /* Any thread. */
    struct mailbox box;
    struct mail kick;
    atomic_bool kicked;     /* the kick is in the box */
    _Atomic uint64_t kicks; /* counts reasons to look */
    pthread_mutex_t lock;
    pthread_cond_t idle;
    uint64_t idle_since; /* the youngest kick after which nothing was due and nothing under way */
};

/* ---- attempts ---- */

static void end_attempt(struct deliveries *d, struct attempt *a)
{
    attempt_end(a);
    endpoints_end(d->endpoints, a);
    g_ptr_array_add(d->ended, a);
    d->freed = true;
    d->wanted |= d->more;
}

static void on_posted(struct net_post *post)
{
    end_attempt(post->context, (struct attempt *)post);
}

static void begin_attempt(struct deliveries *d, const struct delivery *delivery)
{
    struct attempt *a = attempt_new(delivery);
    a->post.done = on_posted;
    a->post.context = d;
    endpoints_begin(d->endpoints, a);
    if (a->result.failure) {
        end_attempt(d, a);
    } else if (net_poster_start(d->poster, &a->post)) {
        a->post.failure = "broken";
        end_attempt(d, a);
    }
}

/* ---- looking for what is due ---- */

static enum err look_run(struct store_task *job, struct db *db)
{
    struct look *l = (struct look *)job;
    struct tx tx = {.arena = &l->arena, .db = db, .config = l->engine->options.config, .now_us = clock_now_us()};
    return delivery_take(&tx, &l->take);
}

static void look_done(struct store_task *job, enum err result)
{
    struct look *l = (struct look *)job;
    if (!result && l->take.again && !l->take.writing) {
        l->take.writing = true;
        l->job.mode = STORE_WRITE;
        store_submit(l->engine->options.store, &l->job);
        return;
    }
    l->result = result;
    mailbox_post(&l->engine->box, &l->mail);
}

static int64_t sleep_us(const struct deliveries *d)
{
    int64_t longest = store_exclusive(d->options.store) ? SLEEP_ALONE_US : SLEEP_SHARED_US;
    if (d->look.result)
        return PAUSE_US;
    if (d->look.take.next_us == INT64_MAX)
        return longest;
    int64_t wait = d->look.take.next_us - clock_now_us();
    return wait < 0 ? 0 : wait < longest ? wait : longest;
}

static void look_end(struct mail *m)
{
    struct look *l = container_of(m, struct look, mail);
    struct deliveries *d = l->engine;
    l->under_way = false;
    d->look_us = clock_monotonic_us() + sleep_us(d);
    if (l->result)
        log_error("deliveries not taken error=%s", err_info(l->result)->code);
    if (!l->result && !d->stopping) {
        d->after = l->take.last;
        d->more = l->take.more;
        d->wanted |= d->more && (d->freed || l->take.count > 0);
        for (size_t i = 0; i < l->take.count; i++)
            begin_attempt(d, &l->take.list[i]);
    }
    arena_done(&l->arena);
}

static void look(struct deliveries *d)
{
    struct look *l = &d->look;
    int64_t now_us = clock_monotonic_us();
    if (now_us < (d->wanted ? d->looked_us + (d->busy ? BUSY_US : 0) : d->look_us))
        return;
    if (endpoints_room(d->endpoints) == 0) {
        d->wanted = true; /* once there is room again */
        d->look_us = INT64_MAX;
        return;
    }
    arena_init(&l->arena, NULL, 0);
    l->job.mode = STORE_READ;
    l->take = (struct delivery_take){.leases = !store_exclusive(d->options.store), .after = d->after};
    endpoints_offer(d->endpoints, &l->arena, &l->take);
    d->looked_us = now_us;
    l->kicks = d->kicks;
    l->under_way = true;
    d->wanted = d->freed = false;
    store_submit(d->options.store, &l->job);
}

/* ---- recording ---- */

static enum err record_run(struct store_task *job, struct db *db)
{
    struct record *r = (struct record *)job;
    struct tx tx = {.db = db, .config = r->engine->options.config, .now_us = clock_now_us()};
    return delivery_record(&tx, r->results, r->count);
}

static void record_done(struct store_task *job, enum err result)
{
    struct record *r = (struct record *)job;
    r->result = result;
    mailbox_post(&r->engine->box, &r->mail);
}

static void complain(const struct delivery_result *r)
{
    if (r->attempt == DELIVERY_ATTEMPTS)
        log_warn("delivery failed delivery=%s endpoint=%s attempts=%lld failure=%s code=%ld", r->id.text,
                 r->webhook_id.text, (long long)r->attempt, r->failure, r->status_code);
}

static void record_end(struct mail *m)
{
    struct record *r = container_of(m, struct record, mail);
    struct deliveries *d = r->engine;
    r->under_way = false;
    if (r->result) {
        log_error("deliveries not recorded count=%zu error=%s", r->count, err_info(r->result)->code);
        d->record_us = clock_monotonic_us() + PAUSE_US;
        return;
    }
    for (size_t i = 0; i < r->count; i++) {
        if (r->results[i].failure) {
            complain(&r->results[i]);
            d->wanted = true; /* to know when the next attempt is due */
        }
        endpoints_remove(d->endpoints, r->attempts[i]);
    }
    r->count = 0;
}

static void record(struct deliveries *d)
{
    struct record *r = &d->record;
    if (r->count == 0 && d->ended->len > 0) {
        r->count = d->ended->len < RECORDS ? d->ended->len : RECORDS;
        for (size_t i = 0; i < r->count; i++) {
            r->attempts[i] = d->ended->pdata[i];
            r->results[i] = r->attempts[i]->result;
        }
        g_ptr_array_remove_range(d->ended, 0, (guint)r->count);
    }
    if (r->count == 0 || clock_monotonic_us() < d->record_us)
        return;
    r->under_way = true;
    store_submit(d->options.store, &r->job);
}

/* ---- the thread ---- */

static void on_kick(struct mail *m)
{
    struct deliveries *d = container_of(m, struct deliveries, kick);
    d->kicked = false;
    d->wanted = true;
}

/* Whether the last look has found nothing, and all it had found before is recorded. */
static bool is_idle(const struct deliveries *d)
{
    return !d->wanted && !d->look.under_way && !d->look.result && endpoints_held(d->endpoints) == 0;
}

static void tell_idle(struct deliveries *d)
{
    if (!is_idle(d))
        return;
    pthread_mutex_lock(&d->lock);
    if (d->look.kicks > d->idle_since) {
        d->idle_since = d->look.kicks;
        pthread_cond_broadcast(&d->idle);
    }
    pthread_mutex_unlock(&d->lock);
}

static int time_to_wait(const struct deliveries *d)
{
    int64_t until_us = d->look.under_way ? INT64_MAX : d->look_us, now_us = clock_monotonic_us();
    if (d->wanted && d->busy && !d->look.under_way)
        until_us = d->looked_us + BUSY_US;
    if (d->record.count && !d->record.under_way && d->record_us < until_us)
        until_us = d->record_us;
    int64_t ms = until_us < now_us + SLEEP_ALONE_US ? (until_us - now_us + 999) / 1000 : SLEEP_ALONE_US / 1000;
    return ms < 0 ? 0 : (int)ms;
}

/* What is being sent is broken off; what has ended is recorded, unless the store fails. */
static void wind_up(struct deliveries *d)
{
    net_poster_free(d->poster);
    d->poster = NULL;
    d->record_us = 0;
    if (!d->record.under_way)
        d->record.result = ERR_NONE;
    for (;;) {
        if (!d->record.under_way && !d->record.result)
            record(d);
        if (!d->record.under_way && !d->look.under_way)
            return;
        struct pollfd p = {.fd = d->box.fd, .events = POLLIN};
        poll(&p, 1, -1);
        mailbox_drain(&d->box);
    }
}

static void *run(void *arg)
{
    struct deliveries *d = arg;
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICE); /* Linux: of this thread alone */
    while (!d->stopping) {
        if (!d->record.under_way)
            record(d);
        if (!d->look.under_way)
            look(d);
        d->busy = net_poster_wait(d->poster, time_to_wait(d));
        mailbox_drain(&d->box);
        tell_idle(d);
    }
    wind_up(d);
    return NULL;
}

/* ---- the engine ---- */

static void make_jobs(struct deliveries *d)
{
    d->look = (struct look){.job = {.run = look_run, .done = look_done}, .mail = {.run = look_end}, .engine = d};
    d->record.job = (struct store_task){.mode = STORE_WRITE, .run = record_run, .done = record_done};
    d->record.mail.run = record_end;
    d->record.engine = d;
    d->kick.run = on_kick;
}

enum err deliveries_new(const struct deliveries_options *options, struct deliveries **ret)
{
    struct deliveries *d = mem_new(struct deliveries);
    if (mailbox_init(&d->box)) {
        free(d);
        return ERR_IO;
    }
    d->options = *options;
    d->wanted = true;
    cond_init(&d->idle);
    pthread_mutex_init(&d->lock, NULL);
    d->endpoints = endpoints_new();
    d->ended = g_ptr_array_new();
    make_jobs(d);
    *ret = d;
    return ERR_NONE;
}

enum err deliveries_start(struct deliveries *d)
{
    const struct net_poster_options options = {
        .allow_private = d->options.config->webhooks_allow_private,
        .verify_tls = d->options.config->webhooks_verify_tls,
        .timeout_ms = d->options.timeout_ms ? d->options.timeout_ms : TIMEOUT_MS,
        .connections_kept = CONNECTIONS_KEPT,
    };
    enum err e = net_poster_new(&options, d->box.fd, &d->poster);
    if (e)
        return e;
    if (pthread_create(&d->thread, NULL, run, d))
        return ERR_IO;
    d->running = true;
    return ERR_NONE;
}

void deliveries_stop(struct deliveries *d)
{
    pthread_mutex_lock(&d->lock);
    d->stopping = true;
    pthread_cond_broadcast(&d->idle);
    pthread_mutex_unlock(&d->lock);
    if (!d->running)
        return;
    deliveries_kick(d);
    pthread_join(d->thread, NULL);
    d->running = false;
}

void deliveries_free(struct deliveries *d)
{
    if (!d)
        return;
    deliveries_stop(d);
    net_poster_free(d->poster);
    endpoints_free(d->endpoints);
    g_ptr_array_free(d->ended, TRUE);
    pthread_cond_destroy(&d->idle);
    pthread_mutex_destroy(&d->lock);
    mailbox_done(&d->box);
    free(d);
}

void deliveries_kick(struct deliveries *d)
{
    d->kicks++;
    if (!atomic_exchange(&d->kicked, true))
        mailbox_post(&d->box, &d->kick);
}

bool deliveries_drain(struct deliveries *d, int wait_ms)
{
    int64_t until_us = clock_monotonic_us() + wait_ms * 1000LL;
    bool in_time = true;
    uint64_t wanted = ++d->kicks;
    deliveries_kick(d);
    pthread_mutex_lock(&d->lock);
    while (d->idle_since < wanted && !d->stopping && in_time)
        in_time = cond_wait_until(&d->idle, &d->lock, until_us);
    bool idle = d->idle_since >= wanted;
    pthread_mutex_unlock(&d->lock);
    return idle;
}
