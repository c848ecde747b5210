#include <stdlib.h>

#include "api/constant.h"
#include "api/door_site.h"
#include "api/service_private.h"
#include "api/trace.h"
#include "base/container_of.h"
#include "base/log.h"
#include "base/mem.h"
#include "domain/key.h"
#include "domain/work.h"

/* A request from its head to its reply: checks, handler and commit, each on the thread that the row asks for. */

/* The trace for the events of a request that may cause some. */
static struct str event_trace(struct http_request *r)
{
    struct trace t;
    if (r->method == HTTP_GET || r->method == HTTP_HEAD)
        return STR_NONE;
    trace_read(r, &t);
    return *t.trace_id ? arena_printf(&r->arena, "%s-%s", t.trace_id, t.flags) : STR_NONE;
}

static struct request *request_new(struct service *s, struct http_request *r, unsigned loop)
{
    struct request *q = arena_new(&r->arena, struct request);
    q->http = r;
    q->door = r->peer.local ? &door_control : &door_api;
    q->service = s;
    q->parts = &s->parts;
    q->journal = s->journal;
    q->loop = loop;
    q->began_us = clock_monotonic_us();
    q->work = (struct work){.store = s->parts.store, .config = s->config, .arena = &r->arena};
    q->work.trace = event_trace(r);
    q->tx = work_tx(&q->work, NULL);
    struct id id = id_new(q->tx.now_us);
    memcpy(q->request_id, "req_", 4);
    memcpy(q->request_id + 4, id.text, sizeof id.text);
    r->user = q;
    return q;
}

static bool is_signed_out(const struct request *q)
{
    return q->route && q->route->signed_out && (q->result == ERR_AUTH_REQUIRED || q->result == ERR_INVALID_KEY);
}

#define UNSTORED_SOON_US (5 * US_PER_S / 2) /* the store has refused a request soon */

static void submit_unstored(struct request *q);

static bool is_unstored(const struct request *q)
{
    return q->route && q->route->unstored && (q->result == ERR_SERVICE_UNAVAILABLE || q->result == ERR_INTERNAL_ERROR);
}

static enum err run_unstored(struct request *q, struct db *db)
{
    q->tx.db = db;
    q->reply = (struct reply){0};
    return q->route->unstored(q, &q->reply);
}

/* Answers without the store, at once if it has taken long; else it is read first. True: the answer follows the read. */
static bool reads_unstored(struct request *q)
{
    const bool soon = !q->unstored && clock_monotonic_us() - q->began_us < UNSTORED_SOON_US;
    const enum err e = soon ? q->result : run_unstored(q, NULL);
    if (e && !q->unstored) {
        submit_unstored(q);
        return true;
    }
    q->result = e;
    return false;
}

/* A store failure is reported with the route's documented error. */
static void service_reply(struct request *q)
{
    if (is_unstored(q) && reads_unstored(q))
        return;
    if (q->result == ERR_INTERNAL_ERROR && q->route && q->route->store_error)
        q->result = q->route->store_error;
    if (is_signed_out(q)) {
        q->reply = (struct reply){0};
        q->result = q->route->signed_out(q, &q->reply);
    }
    reply_send(q, &q->service->loops[q->loop].buffers);
}

/* The message of a failed transaction becomes the reply's, unless the handler set one. */
static enum err run_handler(struct request *q, struct db *db)
{
    q->tx.db = db;
    q->tx.why = STR_NONE;
    q->reply = (struct reply){0};
    if (q->route->content)
        return reply_constant(q, &q->reply, q->route->content);
    if (q->route->text)
        return reply_constant(q, &q->reply, g_hash_table_lookup(q->service->texts, q->route));
    enum err e = q->route->handler(q, &q->reply);
    if (!q->tx.why.p)
        q->tx.why = q->work.why;
    if (q->work.retry_after_s)
        q->tx.retry_after_s = q->work.retry_after_s;
    return e;
}

/* ---- recording the use of keys ---- */

struct touch {
    struct store_task task;
    struct key_use use;
    const struct config *config;
};

static enum err touch_run(struct store_task *task, struct db *db)
{
    struct touch *t = (struct touch *)task;
    char memory[512];
    struct arena arena;
    arena_init(&arena, memory, sizeof memory);
    struct tx tx = {.arena = &arena, .db = db, .config = t->config, .now_us = t->use.at_us};
    enum err e = key_touch(&tx, &t->use, 1);
    arena_done(&arena);
    return e;
}

static void touch_done(struct store_task *task, enum err result)
{
    if (result && result != ERR_NOT_FOUND)
        log_warn("key_use_not_recorded");
    free(task);
}

/* Submits the write at most once a minute per key. The request does not wait for it. */
static void record_use(struct request *q)
{
    if (!q->key.used)
        return;
    struct touch *t = mem_new(struct touch);
    t->task = (struct store_task){.mode = STORE_WRITE, .run = touch_run, .done = touch_done};
    t->use = (struct key_use){q->who.account_id, q->who.key_id, q->tx.now_us};
    t->config = q->tx.config;
    store_submit(q->service->parts.store, &t->task);
}

/* ---- running ---- */

static void request_posted(struct mail *mail);
static void request_again(struct mail *mail);

static bool runs_again(struct request *q)
{
    return q->door->again && q->door->again(q, request_again);
}

static struct request *request_of_task(struct store_task *task)
{
    return container_of(task, struct request, task);
}

static void hand_back(struct request *q)
{
    q->http->mail.run = request_posted;
    http_post(q->http, &q->http->mail);
}

static enum err store_unstored(struct store_task *task, struct db *db)
{
    return run_unstored(request_of_task(task), db);
}

static void unstored_posted(struct mail *mail)
{
    struct http_request *r = container_of(mail, struct http_request, mail);
    service_reply(r->user);
}

static void unstored_done(struct store_task *task, enum err result)
{
    struct request *q = request_of_task(task);
    q->result = result;
    q->http->mail.run = unstored_posted;
    http_post(q->http, &q->http->mail);
}

static void submit_unstored(struct request *q)
{
    q->unstored = true;
    q->task = (struct store_task){.mode = STORE_READ, .urgent = true, .run = store_unstored, .done = unstored_done};
    store_submit(q->service->parts.store, &q->task);
}

/* GLib's locks order the workers with the threads that push and stop. ThreadSanitizer does not see them, so the atomics
 * here and in push_blocking and service_stop state the same order. */
void service_run_blocking(void *request, void *service)
{
    struct request *q = request;
    struct service *s = service;
    (void)atomic_load_explicit(&q->handed, memory_order_acquire);
    q->result = run_handler(q, NULL);
    if (!q->result)
        q->result = gate_recheck(q);
    hand_back(q);
    atomic_fetch_add_explicit(&s->blocking_ends, 1, memory_order_release);
}

/* The checks ran in an older snapshot than this transaction. This is equivalent to running earlier, except for routes
 * that issue keys: a key revoked since the checks must not create new ones. */
static enum err store_handler(struct store_task *task, struct db *db)
{
    struct request *q = request_of_task(task);
    q->tx.db = db;
    enum err e = q->route->flags & ROUTE_RECHECKS_KEY ? gate_check_key(NULL, q) : ERR_NONE;
    return e ? e : run_handler(q, db);
}

static enum err store_check_only(struct store_task *task, struct db *db)
{
    struct request *q = request_of_task(task);
    q->tx.db = db;
    return gate_check(&q->service->gate, NULL, q);
}

static enum err store_check_and_handler(struct store_task *task, struct db *db)
{
    enum err e = store_check_only(task, db);
    return e ? e : run_handler(request_of_task(task), db);
}

/* Runs on a store thread, after the commit. */
static void store_done(struct store_task *task, enum err result)
{
    struct request *q = request_of_task(task);
    q->result = result;
    hand_back(q);
}

/* Must not be called before the gate has read the query. */
static bool lengthy(const struct request *q)
{
    return q->route->lengthy && (q->query || !q->route->query) && q->route->lengthy(q->query);
}

static void submit_request(struct request *q, enum store_mode mode, enum err (*run)(struct store_task *, struct db *))
{
    const bool urgent = mode == STORE_WRITE && q->route->flags & ROUTE_URGENT;
    q->task =
        (struct store_task){.mode = mode, .urgent = urgent, .lengthy = lengthy(q), .run = run, .done = store_done};
    store_submit(q->service->parts.store, &q->task);
}

/* The pool's queue is bounded by the number of connections: each has at most one request waiting. */
static void push_blocking(struct request *q)
{
    atomic_store_explicit(&q->handed, true, memory_order_release);
    g_thread_pool_push(q->service->blocking, q, NULL);
}

/* Runs on the loop thread. After the checks of a blocking route, its handler follows on a worker. */
static void request_posted(struct mail *mail)
{
    struct http_request *r = container_of(mail, struct http_request, mail);
    struct request *q = r->user;
    gate_remember(q->service->loops[q->loop].cache, q);
    record_use(q);
    q->key.used = false;
    if (runs_again(q))
        return;
    if (!q->result && q->route->run == RUN_BLOCKING && !q->handed) {
        push_blocking(q);
        return;
    }
    if (!q->result && q->route->committed)
        q->route->committed(q);
    service_reply(q);
}

static bool needs_store(const struct route *route)
{
    return route->run == RUN_READ || route->run == RUN_WRITE || route_needs_key(route);
}

/* Without a read session (PostgreSQL), checks and handler share one transaction on a store thread. */
static void run_in_store(struct request *q, struct loop *loop)
{
    gate_recall(loop->cache, q);
    switch (q->route->run) {
    case RUN_WRITE:
        submit_request(q, STORE_WRITE, store_check_and_handler);
        return;
    case RUN_BLOCKING:
        submit_request(q, STORE_READ, store_check_only);
        return;
    case RUN_READ:
    case RUN_HERE:
        submit_request(q, STORE_READ, store_check_and_handler);
        return;
    }
}

static enum err check_here(struct request *q, struct loop *loop)
{
    struct service *s = q->service;
    q->key.epoch = atomic_load(&s->gate.keys_epoch);
    q->tx.db = loop->session;
    if (needs_store(q->route)) {
        enum err e = store_session_begin(loop->session);
        if (e)
            return e;
    }
    return gate_check(&s->gate, loop->cache, q);
}

static void run_here(struct request *q, struct loop *loop)
{
    q->result = check_here(q, loop);
    record_use(q);
    q->key.used = false;
    if (runs_again(q))
        return;
    if (!q->result && q->route->run == RUN_WRITE) {
        submit_request(q, STORE_WRITE, store_handler);
        return;
    }
    if (!q->result && q->route->run == RUN_READ && lengthy(q)) {
        submit_request(q, STORE_READ, store_handler);
        return;
    }
    if (!q->result && q->route->run == RUN_BLOCKING) {
        push_blocking(q);
        return;
    }
    if (!q->result)
        q->result = run_handler(q, loop->session);
    service_reply(q);
}

static void run_request(struct request *q)
{
    struct loop *loop = &q->service->loops[q->loop];
    if (loop->session || !needs_store(q->route))
        run_here(q, loop);
    else
        run_in_store(q, loop);
}

static void request_again(struct mail *mail)
{
    struct http_request *r = container_of(mail, struct http_request, mail);
    struct request *q = r->user;
    if (q->result)
        service_reply(q);
    else
        run_request(q);
}

/* ---- the server's callbacks ---- */

static void refuse_with(struct request *q, enum err e)
{
    q->result = e;
    service_reply(q);
}

/* The path of the row. A prefix of the path leads to the website's door. */
static struct str path_by_door(struct request *q)
{
    const struct str path = q->http->path;
    if (q->http->peer.local || !str_starts(path, STR(SITE_PREFIX "/v1/")))
        return path;
    site_enter(q);
    return str_from(path, sizeof SITE_PREFIX - 1);
}

static void service_on_head(void *ctx, struct http_request *r, unsigned loop)
{
    struct service *s = ctx;
    struct request *q = request_new(s, r, loop);
    enum err e = gate_head(q);
    if (e) {
        refuse_with(q, e);
        return;
    }
    struct str params[ROUTE_PARAMS] = {STR_NONE};
    const struct str path = path_by_door(q);
    q->route = router_find(s->router, q->door, r->method, path, &r->arena, params, &q->allow);
    q->path_text = params[0];
    q->item_text = params[1];
    q->operation = GPOINTER_TO_UINT(g_hash_table_lookup(s->operations, q->route));
    e = q->route && q->door == &door_site ? site_check(q) : ERR_NONE;
    if (q->route && q->route->signed_out) /* any page may lead here, and none can read the reply */
        site_enter(q);
    if (!q->route)
        refuse_with(q, q->allow.p ? ERR_METHOD_NOT_ALLOWED : ERR_NOT_FOUND);
    else if (e)
        refuse_with(q, e);
    else if (q->route->body_max)
        r->body_max = q->route->body_max;
}

static void service_on_request(void *ctx, struct http_request *r, unsigned loop)
{
    (void)ctx, (void)loop;
    struct request *q = r->user;
    q->tx.now_us = clock_now_us(); /* reading the body may have taken long */
    const enum err e = q->route->verify ? q->route->verify(q) : ERR_NONE;
    if (e)
        refuse_with(q, e);
    else
        run_request(q);
}

static void on_refuse(void *ctx, struct http_request *r, enum err why, unsigned loop)
{
    struct request *q = r->user ? r->user : request_new(ctx, r, loop);
    if (why == ERR_PAYLOAD_TOO_LARGE)
        q->tx.why = arena_printf(q->tx.arena, "The body is larger than %zu bytes.", r->body_max);
    refuse_with(q, why);
}

static void on_thread_start(void *ctx, unsigned index)
{
    struct service *s = ctx;
    struct loop *loop = &s->loops[index];
    loop->buffers = reply_buffers_init();
    loop->session = store_session_new(s->parts.store);
    loop->cache = gate_cache_new();
}

static void on_thread_idle(void *ctx, unsigned index)
{
    struct service *s = ctx;
    if (s->loops[index].session)
        store_session_idle(s->loops[index].session);
}

static void on_thread_stop(void *ctx, unsigned index)
{
    struct service *s = ctx;
    store_session_free(s->loops[index].session);
    gate_cache_free(s->loops[index].cache);
    reply_buffers_done(&s->loops[index].buffers);
    s->loops[index] = (struct loop){0};
}

struct http_handler service_handler(struct service *s)
{
    return (struct http_handler){.ctx = s,
                                 .head = service_on_head,
                                 .request = service_on_request,
                                 .refuse = on_refuse,
                                 .thread_start = on_thread_start,
                                 .thread_idle = on_thread_idle,
                                 .thread_stop = on_thread_stop};
}
