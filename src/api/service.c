#include "api/service.h"

#include <glib.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/constant.h"
#include "api/gate.h"
#include "api/gate_site.h"
#include "api/hub.h"
#include "api/openapi.h"
#include "api/renewal.h"
#include "api/reply.h"
#include "api/router.h"
#include "api/routes.h"
#include "api/trace.h"
#include "base/container_of.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metric.h"
#include "domain/key.h"
#include "domain/work.h"

#define BLOCKING_WORKERS 32 /* at most: threads that mostly wait for providers or for a building operation to end */

/* State of one loop thread; no other thread may access it. */
struct loop {
    struct db *session; /* NULL if reads must be submitted to the store */
    struct gate_cache *cache;
    struct reply_buffers buffers;
};

struct service {
    struct service_options options;
    struct gate gate;
    struct router *router;
    GThreadPool *blocking; /* runs the handlers of RUN_BLOCKING */
    atomic_uint blocking_ends;
    struct journal *journal; /* NULL: disabled */
    char *public_url;
    struct buf openapi_text;
    struct http_content openapi;
    const struct http_asset *(*find_document)(void *arg, struct str path);
    void *documents;
    GHashTable *operations; /* route row -> value of the label `operation` */
    const char *operation_names[METRIC_OPERATION_VALUES];
    GHashTable *texts; /* route row -> struct http_content, for rows with a text */
    struct hub *hub;
    struct trunk_board *trunks;
    struct service_greetings greetings;
    call_commander *command_call; /* NULL: no telephones */
    void *command_arg;
    int64_t started_us;
    struct loop loops[HTTP_MAX_LOOPS];
};

/* ---- requests ---- */

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
    q->service = s;
    q->journal = s->journal;
    q->loop = loop;
    q->began_us = clock_monotonic_us();
    q->work = (struct work){.store = s->options.store, .config = s->options.config, .arena = &r->arena};
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

/* A store failure is reported with the route's documented error. */
static void service_reply(struct request *q)
{
    if (q->result == ERR_INTERNAL_ERROR && q->route && q->route->store_error)
        q->result = q->route->store_error;
    if (is_signed_out(q)) {
        q->reply = (struct reply){0};
        q->result = q->route->signed_out(q, &q->reply);
    }
    reply_send(q, &q->service->loops[q->loop].buffers);
}

/* The message of a failed transaction becomes that of the reply, unless the handler set one. */
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
    if (!q->key_used)
        return;
    struct touch *t = mem_new(struct touch);
    t->task = (struct store_task){.mode = STORE_WRITE, .run = touch_run, .done = touch_done};
    t->use = (struct key_use){q->who.account_id, q->who.key_id, q->tx.now_us};
    t->config = q->tx.config;
    store_submit(q->service->options.store, &t->task);
}

/* ---- running ---- */

static void request_posted(struct mail *mail);
static void request_renewed(struct mail *mail);

static struct request *request_of_task(struct store_task *task)
{
    return container_of(task, struct request, task);
}

static void hand_back(struct request *q)
{
    q->http->mail.run = request_posted;
    http_post(q->http, &q->http->mail);
}

/* GLib's locks order the workers with the threads that push and stop. ThreadSanitizer does not see them, so the atomics
 * here and in push_blocking and service_stop state the same order. */
static void blocking_run(void *data, void *context)
{
    struct request *q = data;
    struct service *s = context;
    (void)atomic_load_explicit(&q->handed, memory_order_acquire);
    q->result = run_handler(q, NULL);
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
    store_submit(q->service->options.store, &q->task);
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
    q->key_used = false;
    if (renewal_due(q)) {
        renewal_submit(q, request_renewed);
        return;
    }
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
    return route->run == RUN_READ || route->run == RUN_WRITE ||
           (route->credential >= CRED_KEY && route->credential <= CRED_PARENT);
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
    q->keys_epoch = atomic_load(&s->gate.keys_epoch);
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
    q->key_used = false;
    if (renewal_due(q)) {
        renewal_submit(q, request_renewed);
        return;
    }
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

static void request_renewed(struct mail *mail)
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

/* Finds where the request came in. Removes the site's prefix from the path. */
static enum router_door door_of(struct request *q, struct str *path)
{
    if (q->http->peer.local)
        return DOOR_CONTROL;
    q->site = str_starts(*path, STR(SITE_PREFIX "/v1/"));
    if (!q->site)
        return DOOR_API;
    *path = str_from(*path, sizeof SITE_PREFIX - 1);
    return DOOR_SITE;
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
    struct str path = r->path;
    const enum router_door door = door_of(q, &path);
    q->route = router_find(s->router, door, r->method, path, &r->arena, params, &q->allow);
    q->path_text = params[0];
    q->item_text = params[1];
    q->operation = GPOINTER_TO_UINT(g_hash_table_lookup(s->operations, q->route));
    e = q->route && q->site ? gate_check_site(q) : ERR_NONE;
    q->site |= q->route && q->route->signed_out; /* any page may lead here, and none can read the reply */
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
    loop->session = store_session_new(s->options.store);
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

/* ---- life ---- */

static enum err open_journal(struct service *s)
{
    const struct config *c = s->options.config;
    char directory[4096];
    if (c->log_keep_requests_h == 0)
        return ERR_NONE;
    snprintf(directory, sizeof directory, "%s/requests", c->top_data_dir);
    return journal_new(directory, c->log_keep_requests_h, &s->journal);
}

static void free_text(void *constant)
{
    constant_done(constant);
    free(constant);
}

static GHashTable *make_texts(const struct route_set *const *sets, size_t count)
{
    GHashTable *texts = g_hash_table_new_full(NULL, NULL, NULL, free_text);
    for (size_t s = 0; s < count; s++)
        for (size_t i = 0; i < sets[s]->count; i++) {
            const struct route *row = &sets[s]->rows[i];
            if (!row->text)
                continue;
            struct http_content *c = mem_new(struct http_content);
            constant_init(c, str_z(row->text));
            g_hash_table_insert(texts, (void *)(uintptr_t)row, c);
        }
    return texts;
}

/* The value of the label `operation` for a route: its operationId if it is part of the contract; those of the operator,
 * the sandbox and the providers, and pages, share a value. */
static const char *operation_name(const struct route *row)
{
    if (row->credential == CRED_CONTROL)
        return "admin";
    if (row->credential == CRED_LOOPBACK)
        return "sandbox";
    if (row->flags & ROUTE_PAGE)
        return "page";
    return row->verify && row->credential == CRED_NONE ? "hook" : row->operation_id;
}

static unsigned add_operation(struct service *s, unsigned *count, const char *name)
{
    unsigned i = 0;
    while (i < *count && strcmp(s->operation_names[i], name) != 0)
        i++;
    if (i == METRIC_OPERATION_VALUES)
        return 0;
    if (i == *count)
        s->operation_names[(*count)++] = name;
    return i;
}

/* The first value is for requests without a route. */
static void name_operations(struct service *s)
{
    unsigned count = 0;
    s->operations = g_hash_table_new(NULL, NULL);
    add_operation(s, &count, "none");
    for (size_t k = 0; k < s->options.set_count; k++)
        for (size_t i = 0; i < s->options.sets[k]->count; i++) {
            const struct route *row = &s->options.sets[k]->rows[i];
            g_hash_table_insert(s->operations, (void *)(uintptr_t)row,
                                GUINT_TO_POINTER(add_operation(s, &count, operation_name(row))));
        }
    metric_name_values(METRIC_LABEL_OPERATION, s->operation_names, count);
}

enum err service_new(const struct service_options *options, struct service **ret)
{
    struct service *s = mem_new(struct service);
    s->options = *options;
    s->started_us = clock_monotonic_us();
    s->gate.config = options->config;
    s->gate.limiter = limiter_new();
    s->gate.jobs = options->jobs;
    atomic_init(&s->gate.keys_epoch, 1);
    s->router = router_new(options->sets, options->set_count);
    name_operations(s);
    s->texts = make_texts(options->sets, options->set_count);
    s->blocking = g_thread_pool_new(blocking_run, s, BLOCKING_WORKERS, FALSE, NULL);
    if (!s->blocking || open_journal(s) || hub_new(options->config, options->store, &s->hub)) {
        service_free(s);
        return ERR_IO;
    }
    *ret = s;
    return ERR_NONE;
}

enum err service_publish(struct service *s, const char *public_url)
{
    s->public_url = mem_strdup(public_url);
    s->openapi_text = BUF(4u << 20);
    openapi_document(&openapi_contract, public_url, &s->openapi_text);
    constant_init(&s->openapi, buf_view(&s->openapi_text));
    return !s->openapi_text.full ? ERR_NONE : ERR_IO;
}

void service_stop(struct service *s)
{
    if (s->blocking)
        g_thread_pool_free(s->blocking, TRUE, TRUE);
    (void)atomic_load_explicit(&s->blocking_ends, memory_order_acquire);
    s->blocking = NULL;
    hub_stop(s->hub);
}

void service_free(struct service *s)
{
    if (!s)
        return;
    service_stop(s);
    hub_free(s->hub);
    journal_free(s->journal);
    router_free(s->router);
    limiter_free(s->gate.limiter);
    constant_done(&s->openapi);
    buf_done(&s->openapi_text);
    g_clear_pointer(&s->texts, g_hash_table_destroy);
    g_clear_pointer(&s->operations, g_hash_table_destroy);
    metric_name_values(METRIC_LABEL_OPERATION, NULL, 0);
    free(s->public_url);
    free(s);
}

struct store *service_store(const struct service *s)
{
    return s->options.store;
}

struct notices *service_notices(const struct service *s)
{
    return s->options.notices;
}

struct deliveries *service_deliveries(const struct service *s)
{
    return s->options.deliveries;
}

struct jobs *service_jobs(const struct service *s)
{
    return s->options.jobs;
}

const struct providers *service_providers(const struct service *s)
{
    return s->options.providers;
}

struct readiness *service_readiness(const struct service *s)
{
    return s->options.readiness;
}

struct hub *service_hub(const struct service *s)
{
    return s->hub;
}

void service_set_trunks(struct service *s, struct trunk_board *board)
{
    s->trunks = board;
}

struct trunk_board *service_trunks(const struct service *s)
{
    return s->trunks;
}

void service_set_greetings(struct service *s, const struct service_greetings *greetings)
{
    s->greetings = *greetings;
}

void service_set_calls(struct service *s, call_commander *command, void *arg)
{
    s->command_call = command;
    s->command_arg = arg;
}

enum err service_command_call(const struct service *s, const struct call_command *command,
                              struct call_command_result *ret)
{
    *ret = (struct call_command_result){.why = NULL};
    return s->command_call ? s->command_call(s->command_arg, command, ret) : ERR_NOT_FOUND;
}

const struct service_greetings *service_greetings(const struct service *s)
{
    return s->greetings.speak ? &s->greetings : NULL;
}

int64_t service_started_us(const struct service *s)
{
    return s->started_us;
}

const char *service_public_url(const struct service *s)
{
    return s->public_url;
}

void service_become(struct request *q, const struct route *row)
{
    q->route = row;
    q->operation = GPOINTER_TO_UINT(g_hash_table_lookup(q->service->operations, row));
}

/* A part of q is a request of its own, so that nothing of its route, building or query stays in q. */
static struct request *part_of(struct request *q, const struct route *row)
{
    struct request *part = arena_new(q->tx.arena, struct request);
    *part = *q;
    part->route = row;
    part->query = NULL;
    return part;
}

static enum err run_part(struct request *q, struct request *part, struct reply *ret)
{
    enum err e = gate_check_part(part);
    if (!e)
        e = part->route->handler(part, ret);
    if (!e && ret->status != 200)
        e = ERR_INTERNAL_ERROR;
    q->tx.why = part->tx.why;
    q->tx.retry_after_s = part->tx.retry_after_s;
    return e;
}

enum err service_read(struct request *q, const struct route *row, struct reply *ret)
{
    struct request *part = part_of(q, row);
    *ret = (struct reply){0};
    return row->run == RUN_READ ? run_part(q, part, ret) : ERR_INTERNAL_ERROR;
}

enum err service_embed(struct request *q, struct str path, struct buf *out)
{
    struct str params[ROUTE_PARAMS] = {STR_NONE}, allow, part_query;
    path = str_cut(path, '?', &part_query);
    const struct route *route = router_find(q->service->router, DOOR_SITE, HTTP_GET, path, q->tx.arena, params, &allow);
    if (!route || route->run != RUN_READ)
        return ERR_INTERNAL_ERROR;
    struct http_request *http = q->http;
    const struct str query = http->query;
    struct request *part = part_of(q, route);
    struct reply reply = {0};
    part->path_text = params[0];
    part->item_text = params[1];
    http->query = part_query;
    enum err e = run_part(q, part, &reply);
    http->query = query;
    if (!e && reply.shape)
        schema_write(reply.shape, reply.body, out);
    return e || reply.shape ? e : ERR_INTERNAL_ERROR;
}

void service_set_documents(struct service *s, const struct http_asset *(*find)(void *arg, struct str path), void *arg)
{
    s->find_document = find;
    s->documents = arg;
}

const struct http_asset *service_document(const struct service *s, struct str path)
{
    return s->find_document ? s->find_document(s->documents, path) : NULL;
}

const struct http_content *service_openapi(const struct service *s)
{
    return &s->openapi;
}

void service_changed(struct service *s, unsigned topics, const struct store_fed *fed)
{
    if (topics & TOPIC_KEYS)
        atomic_fetch_add(&s->gate.keys_epoch, 1);
    hub_changed(s->hub, topics, fed);
}
