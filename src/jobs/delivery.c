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
#include "base/metric.h"
#include "base/wait.h"
#include "domain/building_webhook.h"
#include "jobs/bell.h"
#include "jobs/endpoint.h"

#define NICE             5 /* calls and requests come first */
#define CONNECTIONS_KEPT 1024
#define RECORDS          64    /* results in one transaction, which other writes may have to wait for */
#define POLL_SHARED_MS   100   /* another node may record the result that deliveries_wait waits for */
#define BUSY_US          20000 /* between looks while there is enough to do */
/* Before late deliveries are given up: deliveries that are late because this service was away get their attempts. */
#define AWAY_US (3 * 3600 * US_PER_S)

/* The two transactions of the engine, one of each at a time. A store thread runs them, and posts the end to the
 * engine's mailbox. */
struct look {
    struct store_task task;
    struct mail mail;
    struct deliveries *engine;
    struct arena arena;
    struct delivery_take take;
    struct tenure tenure; /* of its leases */
    uint64_t heard;       /* the last kick before it */
    enum err result;
    bool in_progress;
};
struct record {
    struct store_task task;
    struct mail mail;
    struct deliveries *engine;
    struct attempt *attempts[RECORDS];
    struct delivery_result results[RECORDS];
    size_t count; /* kept after a failure, to be repeated */
    enum err result;
    bool in_progress;
};

struct deliveries {
    struct deliveries_options options;
    struct heartbeat *heartbeat; /* NULL: every lease holds */
    pthread_t thread;
    bool running;

    /* For the engine's thread alone. */
    struct net_poster *poster;
    struct endpoints *endpoints;
    struct look look;
    struct record record;
    GPtrArray *ended;            /* attempts to record */
    struct delivery_place after; /* where the next look begins */
    bool wanted;                 /* look as soon as possible */
    bool more;                   /* the last look left due deliveries for lack of room */
    bool freed;                  /* there is more room since the look began */
    bool busy;                   /* the requests in progress take all of the thread's time */
    int64_t looked_us;           /* when the last look began, monotonic */
    int64_t look_us;             /* look then in any case, monotonic */
    int64_t record_us;           /* record no sooner, monotonic */

    /* For any thread. */
    pthread_mutex_t lock; /* of records */
    pthread_cond_t recorded;
    uint64_t records; /* counts transactions that recorded results */
    struct bell bell;
    struct mailbox box;
    struct mail kick;
    atomic_bool kicked; /* the kick is in the mailbox */
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
    a->post.timeout_ms = d->options.timeout_ms ? d->options.timeout_ms : delivery_plans[delivery->form].timeout_ms;
    endpoints_begin(d->endpoints, a);
    if (a->result.failure || attempt_receive(a, delivery, d->options.config)) {
        end_attempt(d, a);
    } else if (net_poster_start(d->poster, &a->post)) {
        a->post.failure = "broken";
        end_attempt(d, a);
    }
}

/* ---- looking for due deliveries ---- */

static enum err look_run(struct store_task *task, struct db *db)
{
    struct look *l = container_of(task, struct look, task);
    struct tx tx = {.arena = &l->arena, .db = db, .config = l->engine->options.config, .now_us = clock_now_us()};
    return delivery_take(&tx, &l->take);
}

static void look_done(struct store_task *task, enum err result)
{
    struct look *l = container_of(task, struct look, task);
    if (!result && l->take.again && !l->take.writing) {
        l->take.writing = true;
        l->task.mode = STORE_WRITE;
        store_submit(l->engine->options.store, &l->task);
        return;
    }
    l->result = result;
    mailbox_post(&l->engine->box, &l->mail);
}

static void look_end(struct mail *m)
{
    struct look *l = container_of(m, struct look, mail);
    struct deliveries *d = l->engine;
    l->in_progress = false;
    if (l->result)
        log_error("deliveries not taken error=%s", err_info(l->result)->code);
    else if (!tenure_holds(&l->tenure))
        l->result = ERR_RETRY; /* this process was stopped meanwhile */
    d->look_us = clock_monotonic_us() + bell_sleep_us(d->options.store, l->result, l->take.next_us);
    if (!l->result && !bell_is_stopping(&d->bell)) {
        d->after = l->take.last;
        d->more = l->take.more;
        d->wanted |= d->more && (d->freed || l->take.count > 0);
        for (size_t i = 0; i < l->take.count; i++)
            begin_attempt(d, &l->take.list[i]);
    }
    arena_done(&l->arena);
}

static void start_look(struct deliveries *d)
{
    struct look *l = &d->look;
    int64_t now_us = clock_monotonic_us();
    if (now_us < (d->wanted ? d->looked_us + (d->busy ? BUSY_US : 0) : d->look_us))
        return;
    l->tenure = heartbeat_tenure(d->heartbeat);
    if (!tenure_holds(&l->tenure)) {
        d->wanted = false;
        d->look_us = now_us + BELL_PAUSE_US;
        return;
    }
    if (endpoints_room(d->endpoints) == 0) {
        d->wanted = true; /* once there is room again */
        d->look_us = INT64_MAX;
        return;
    }
    arena_init(&l->arena, NULL, 0);
    l->task.mode = STORE_READ;
    l->take =
        (struct delivery_take){.leases = !store_exclusive(d->options.store), .node = l->tenure.node, .after = d->after};
    endpoints_offer(d->endpoints, &l->arena, &l->take);
    d->looked_us = now_us;
    l->heard = bell_heard(&d->bell);
    l->in_progress = true;
    d->wanted = d->freed = false;
    store_submit(d->options.store, &l->task);
}

/* ---- recording ---- */

static enum err record_run(struct store_task *task, struct db *db)
{
    struct record *r = container_of(task, struct record, task);
    struct tx tx = {.db = db, .config = r->engine->options.config, .now_us = clock_now_us()};
    return delivery_record(&tx, r->results, r->count);
}

static void record_done(struct store_task *task, enum err result)
{
    struct record *r = container_of(task, struct record, task);
    r->result = result;
    mailbox_post(&r->engine->box, &r->mail);
}

static void note_late(const struct delivery_result *r)
{
    if (!r->given_up)
        return;
    metric_add(metrics.deliveries_given_up, r->given_up);
    log_warn("late deliveries given up endpoint=%s count=%lld failure=%s", r->webhook_id.text, (long long)r->given_up,
             r->failure);
}

static void note_exhausted(const struct attempt *a, bool disabled)
{
    const struct delivery_result *r = &a->result;
    if (disabled)
        log_warn("webhook endpoint disabled endpoint=%s failures=%d", r->webhook_id.text, BUILDING_WEBHOOK_FAILURES);
    if (!delivery_gives_up(r) || r->form == DELIVERY_EARLIER_TEST) /* of a test, the one who made it is told */
        return;
    metric_add(metrics.deliveries_given_up, 1);
    log_warn("delivery failed delivery=%s endpoint=%s attempts=%lld failure=%s code=%ld%s%s", r->id.text,
             r->webhook_id.text, (long long)r->attempt, r->failure, r->status_code, *a->trace_id ? " trace_id=" : "",
             a->trace_id);
}

static void note_recorded(struct deliveries *d)
{
    pthread_mutex_lock(&d->lock);
    d->records++;
    pthread_cond_broadcast(&d->recorded);
    pthread_mutex_unlock(&d->lock);
}

static void record_end(struct mail *m)
{
    struct record *r = container_of(m, struct record, mail);
    struct deliveries *d = r->engine;
    r->in_progress = false;
    if (r->result) {
        log_error("deliveries not recorded count=%zu error=%s", r->count, err_info(r->result)->code);
        d->record_us = clock_monotonic_us() + BELL_PAUSE_US;
        return;
    }
    for (size_t i = 0; i < r->count; i++) {
        if (r->results[i].failure) {
            note_exhausted(r->attempts[i], r->results[i].disabled);
            note_late(&r->results[i]);
            d->wanted = true; /* to know when the next attempt is due */
        }
        endpoints_remove(d->endpoints, r->attempts[i]);
    }
    r->count = 0;
    note_recorded(d);
}

/* The sandbox's clock moves by days at once, so there nothing is late. */
static bool gives_up_late(const struct deliveries *d)
{
    return d->options.config->production && clock_monotonic_us() - d->options.began_us >= AWAY_US;
}

static void start_record(struct deliveries *d)
{
    struct record *r = &d->record;
    if (r->count == 0 && d->ended->len > 0) {
        r->count = d->ended->len < RECORDS ? d->ended->len : RECORDS;
        for (size_t i = 0; i < r->count; i++) {
            r->attempts[i] = d->ended->pdata[i];
            r->results[i] = r->attempts[i]->result;
            r->results[i].late = gives_up_late(d);
        }
        g_ptr_array_remove_range(d->ended, 0, (guint)r->count);
    }
    if (r->count == 0 || clock_monotonic_us() < d->record_us)
        return;
    r->in_progress = true;
    store_submit(d->options.store, &r->task);
}

/* ---- the thread ---- */

static void on_kick(struct mail *m)
{
    struct deliveries *d = container_of(m, struct deliveries, kick);
    /* A read-modify-write: a kick that found the flag set was counted before it, so that the next look hears it. */
    (void)atomic_exchange_explicit(&d->kicked, false, memory_order_acq_rel);
    d->wanted = true;
}

/* The last look found nothing, and every attempt is recorded. */
static bool is_idle(const struct deliveries *d)
{
    return !d->wanted && !d->look.in_progress && !d->look.result && endpoints_held(d->endpoints) == 0;
}

static int wait_ms(const struct deliveries *d)
{
    int64_t until_us = d->look.in_progress ? INT64_MAX : d->look_us, now_us = clock_monotonic_us();
    if (d->wanted && d->busy && !d->look.in_progress)
        until_us = d->looked_us + BUSY_US;
    if (d->record.count && !d->record.in_progress && d->record_us < until_us)
        until_us = d->record_us;
    int64_t ms =
        until_us < now_us + BELL_SLEEP_ALONE_US ? (until_us - now_us + 999) / 1000 : BELL_SLEEP_ALONE_US / 1000;
    return ms < 0 ? 0 : (int)ms;
}

/* Aborts the requests in progress. Records the attempts that have ended, unless the store fails. */
static void finish_up(struct deliveries *d)
{
    net_poster_free(d->poster);
    d->poster = NULL;
    d->record_us = 0;
    if (!d->record.in_progress)
        d->record.result = ERR_NONE;
    for (;;) {
        if (!d->record.in_progress && !d->record.result)
            start_record(d);
        if (!d->record.in_progress && !d->look.in_progress)
            return;
        struct pollfd p = {.fd = d->box.fd, .events = POLLIN};
        poll(&p, 1, -1);
        mailbox_drain(&d->box);
    }
}

static void *delivery_thread(void *arg)
{
    struct deliveries *d = arg;
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICE); /* on Linux, of this thread alone */
    while (!bell_is_stopping(&d->bell)) {
        if (!d->record.in_progress)
            start_record(d);
        if (!d->look.in_progress)
            start_look(d);
        d->busy = net_poster_wait(d->poster, wait_ms(d));
        mailbox_drain(&d->box);
        if (is_idle(d))
            bell_set_idle(&d->bell, d->look.heard);
    }
    finish_up(d);
    return NULL;
}

/* ---- the engine ---- */

static void init_tasks(struct deliveries *d)
{
    d->look = (struct look){.task = {.run = look_run, .done = look_done}, .mail = {.run = look_end}, .engine = d};
    d->record.task = (struct store_task){.mode = STORE_WRITE, .run = record_run, .done = record_done};
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
    bell_init(&d->bell);
    pthread_mutex_init(&d->lock, NULL);
    cond_init(&d->recorded);
    d->endpoints = endpoints_new();
    d->ended = g_ptr_array_new();
    init_tasks(d);
    *ret = d;
    return ERR_NONE;
}

enum err deliveries_start(struct deliveries *d, struct heartbeat *heartbeat)
{
    d->heartbeat = heartbeat;
    const struct net_poster_options options = {
        .allow_private = d->options.config->webhooks_allow_private,
        .verify_tls = d->options.config->webhooks_verify_tls,
        .timeout_ms = delivery_plans[DELIVERY_CURRENT].timeout_ms,
        .connections_kept = CONNECTIONS_KEPT,
    };
    enum err e = net_poster_new(&options, d->box.fd, &d->poster);
    if (e)
        return e;
    if (pthread_create(&d->thread, NULL, delivery_thread, d))
        return ERR_IO;
    d->running = true;
    return ERR_NONE;
}

void deliveries_stop(struct deliveries *d)
{
    bell_stop(&d->bell);
    note_recorded(d);
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
    bell_done(&d->bell);
    pthread_cond_destroy(&d->recorded);
    pthread_mutex_destroy(&d->lock);
    mailbox_done(&d->box);
    free(d);
}

/* Returns the number of the kick. */
static uint64_t kick_engine(struct deliveries *d)
{
    uint64_t kick = bell_kick(&d->bell);
    if (!atomic_exchange_explicit(&d->kicked, true, memory_order_acq_rel))
        mailbox_post(&d->box, &d->kick);
    return kick;
}

void deliveries_kick(struct deliveries *d)
{
    kick_engine(d);
}

uint64_t deliveries_records(struct deliveries *d)
{
    pthread_mutex_lock(&d->lock);
    const uint64_t records = d->records;
    pthread_mutex_unlock(&d->lock);
    return records;
}

bool deliveries_wait(struct deliveries *d, uint64_t seen, int64_t wait_ms)
{
    if (!store_exclusive(d->options.store) && wait_ms > POLL_SHARED_MS)
        wait_ms = POLL_SHARED_MS;
    const int64_t until_us = clock_monotonic_us() + wait_ms * 1000;
    pthread_mutex_lock(&d->lock);
    while (d->records == seen && cond_wait_until(&d->recorded, &d->lock, until_us))
        ;
    pthread_mutex_unlock(&d->lock);
    return !bell_is_stopping(&d->bell);
}

bool deliveries_drain(struct deliveries *d, int wait_ms)
{
    int64_t until_us = clock_monotonic_us() + wait_ms * 1000LL;
    return bell_wait_idle(&d->bell, kick_engine(d), until_us);
}
