/* The PostgreSQL engine: a pool of connections, each with a thread. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/wait.h"
#include "store/postgresql.h"

#define OWN_ANSWER_US (5 * US_PER_S)  /* a caller's own connection */
#define OWN_TRUST_US  (15 * US_PER_S) /* without an answer, its server may hang, or be the primary no more */
#define RESERVED_FROM 4               /* with at least this many workers, one is kept for urgent tasks */
#define MARGIN_US     US_PER_S        /* the server's own time-out comes first */
#define LEAST_US      US_PER_S
#define MIGRATION_US  (3600 * US_PER_S)
#define NO_ANSWER     "PostgreSQL does not answer"
#define LOSSES_MOST   32 /* for a task that breaks each connection */

/* ---- workers ---- */

/* After a lost connection. An idle connection may be broken, too: a task can meet all of them. */
static bool may_run_again(const struct postgresql_db *db, struct store_task *task)
{
    return ++task->losses <= (int)db->store->worker_count + LOSSES_MOST && clock_monotonic_us() < db->give_up_us;
}

static void end_task(struct postgresql_worker *w, struct store_task *task, enum err result)
{
    atomic_fetch_add_explicit(&w->db.store->served, 1, memory_order_relaxed);
    store_task_done(task, result);
}

/* How long to wait for an answer. A task that another connection has waited for in vain does not wait as long again. */
static int64_t patience_us(const struct postgresql_db *db, const struct store_task *task)
{
    const int64_t most_us = db->store->answer_us, left_us = db->give_up_us - clock_monotonic_us();
    if (!task->urgent && (!task->losses || left_us > most_us))
        return most_us;
    return left_us > LEAST_US ? left_us : LEAST_US;
}

static void run_task(struct postgresql_worker *w, struct store_task *task)
{
    struct postgresql_db *db = &w->db;
    struct postgresql_store *s = db->store;
    db->patient = postgresql_is_blocked(w);
    db->answer_us = patience_us(db, task);
    enum err e = postgresql_run(db, task->mode, store_task_run, task);
    store_notify_listener(&s->base, &db->base);
    if (e == ERR_RETRY && (db->blocked || may_run_again(db, task))) {
        task->alone = true;
        postgresql_put_back(w, task, db->blocked);
        return;
    }
    if (e == ERR_RETRY)
        store_log_error("connection lost, task given up", task->losses, db->why);
    end_task(w, task, e == ERR_RETRY ? ERR_SERVICE_UNAVAILABLE : e);
    postgresql_marks_forget(db);
}

/* Runs a task, and if it is a read, others that wait with it. */
static void run_tasks(struct postgresql_worker *w, struct store_task *first)
{
    struct store_task *tasks[POSTGRESQL_TOGETHER_MOST] = {first};
    enum err results[POSTGRESQL_TOGETHER_MOST] = {ERR_RETRY};
    size_t count = 1;
    if (w->lane == LANE_READS && !first->alone)
        count += postgresql_take_reads(w, tasks + 1, POSTGRESQL_TOGETHER_MOST - 1);
    if (count > 1)
        postgresql_run_together(&w->db, tasks, count, results);
    for (size_t i = 0; i < count; i++)
        if (results[i] != ERR_RETRY)
            end_task(w, tasks[i], results[i]);
        else
            tasks[i]->losses += count > 1 && w->db.broken;
    for (size_t i = 1; i < count; i++)
        if (results[i] == ERR_RETRY) {
            tasks[i]->alone = true;
            postgresql_put_back(w, tasks[i], false);
        }
    if (results[0] == ERR_RETRY)
        run_task(w, first);
}

static void *work(void *arg)
{
    struct postgresql_worker *w = arg;
    struct store_task *task;
    while (postgresql_keep_connected(w) && ((task = postgresql_take(w)) || w->yielded))
        if (task)
            run_tasks(w, task);
    postgresql_set_connected(w, false);
    return NULL;
}

/* ---- the engine ---- */

/* The clerk ends last: it fails the tasks that no worker could run. */
static void stop_threads(struct postgresql_store *s)
{
    pthread_mutex_lock(&s->mutex);
    s->winding_down = s->stop = true;
    pthread_cond_broadcast(&s->wake);
    pthread_cond_broadcast(&s->wake_reserved);
    pthread_cond_broadcast(&s->wake_stop);
    pthread_cond_signal(&s->wake_clerk);
    pthread_mutex_unlock(&s->mutex);
    for (size_t i = 0; i < s->worker_count; i++)
        if (s->workers[i].running)
            pthread_join(s->workers[i].thread, NULL);
    pthread_mutex_lock(&s->mutex);
    s->closed = true;
    pthread_cond_signal(&s->wake_clerk);
    pthread_mutex_unlock(&s->mutex);
    if (s->clerk_running)
        pthread_join(s->clerk, NULL);
}

static void postgresql_close(struct store *base)
{
    struct postgresql_store *s = (struct postgresql_store *)base;
    stop_threads(s);
    for (size_t i = 0; i < s->worker_count; i++)
        postgresql_disconnect(&s->workers[i].db);
    pthread_mutex_destroy(&s->mutex);
    pthread_cond_destroy(&s->wake);
    pthread_cond_destroy(&s->wake_reserved);
    pthread_cond_destroy(&s->wake_clerk);
    pthread_cond_destroy(&s->wake_stop);
    pthread_rwlock_destroy(&s->writes);
    free(s->dsn);
    free(s);
}

static enum err read_dsn(struct postgresql_store *s, const char *value, char **ret_why)
{
    struct arena arena;
    struct str dsn;
    arena_init(&arena, NULL, 0);
    enum err e = config_secret_of("store.dsn", value ? value : "", &arena, &dsn, ret_why);
    if (!e)
        s->dsn = mem_strdup(dsn.p);
    arena_done(&arena);
    return e;
}

static bool has_several_hosts(PGconn *conn)
{
    bool several = false;
    PQconninfoOption *options = PQconninfo(conn);
    for (const PQconninfoOption *o = options; o && o->keyword; o++)
        several |=
            (strcmp(o->keyword, "host") == 0 || strcmp(o->keyword, "hostaddr") == 0) && o->val && strchr(o->val, ',');
    PQconninfoFree(options);
    return several;
}

static enum err connect_first(struct postgresql_store *s, char **ret_why)
{
    struct postgresql_db *db = &s->workers[0].db;
    store_note_answer(NO_ANSWER);
    const bool connected = postgresql_connect(db);
    store_note_answer(NULL);
    if (!connected)
        return err_why(ret_why, postgresql_is_refused(db) ? ERR_USAGE : ERR_SERVICE_UNAVAILABLE, "PostgreSQL: %s",
                       db->why);
    const char *encoding = PQparameterStatus(db->conn, "server_encoding");
    if (!encoding || strcmp(encoding, "UTF8") != 0)
        return err_why(ret_why, ERR_USAGE, "PostgreSQL: the database's encoding is %s, it must be UTF8",
                       encoding ? encoding : "unknown");
    s->several = has_several_hosts(db->conn);
    return ERR_NONE;
}

/* Initialises a lock that prefers writers: a transaction that asks to run alone is next. */
static void init_turn(pthread_rwlock_t *turn)
{
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(turn, &attributes);
    pthread_rwlockattr_destroy(&attributes);
}

static void read_settings(struct postgresql_store *s, const struct config *c)
{
    s->wait_us = c->store_wait_s * US_PER_S;
    s->waiting_most = (size_t)c->store_queue;
    s->answer_us = c->store_statement_timeout_s * US_PER_S + MARGIN_US;
    snprintf(s->statement_timeout, sizeof s->statement_timeout, "%llds", (long long)c->store_statement_timeout_s);
    snprintf(s->lock_timeout, sizeof s->lock_timeout, "%llds", (long long)c->store_lock_timeout_s);
    snprintf(s->idle_timeout, sizeof s->idle_timeout, "%llds", (long long)c->store_idle_timeout_s);
}

static void init_workers(struct postgresql_store *s)
{
    for (size_t i = 0; i < s->worker_count; i++)
        s->workers[i] = (struct postgresql_worker){.lane = LANE_COUNT,
                                                   .db = {.base.engine = &postgresql_engine,
                                                          .store = s,
                                                          .broken = true,
                                                          .unlimited = true,
                                                          .answer_us = MIGRATION_US}};
    s->workers[s->worker_count - 1].reserved = s->worker_count >= RESERVED_FROM;
}

static enum err postgresql_open(const struct config *c, struct store **ret, char **ret_why)
{
    size_t workers = c->store_workers > 0 ? (size_t)c->store_workers : 1;
    struct postgresql_store *s = mem_new_with(struct postgresql_store, workers * sizeof(struct postgresql_worker));
    s->base.engine = &postgresql_engine;
    s->worker_count = workers;
    s->clerk_at_us = INT64_MAX;
    pthread_mutex_init(&s->mutex, NULL);
    pthread_cond_init(&s->wake, NULL);
    pthread_cond_init(&s->wake_reserved, NULL);
    cond_init(&s->wake_clerk);
    cond_init(&s->wake_stop);
    init_turn(&s->writes);
    read_settings(s, c);
    init_workers(s);
    enum err e = read_dsn(s, c->store_dsn, ret_why);
    if (!e)
        e = connect_first(s, ret_why);
    if (e) {
        postgresql_close(&s->base);
        return e;
    }
    *ret = &s->base;
    return ERR_NONE;
}

/* Each worker connects by itself, with other settings than migrations. */
static enum err postgresql_start(struct store *base)
{
    struct postgresql_store *s = (struct postgresql_store *)base;
    postgresql_marks_expire(&s->workers[0].db);
    postgresql_disconnect(&s->workers[0].db);
    s->clerk_running = pthread_create(&s->clerk, NULL, postgresql_clerk, s) == 0;
    for (size_t i = 0; s->clerk_running && i < s->worker_count; i++) {
        struct postgresql_worker *w = &s->workers[i];
        w->db.unlimited = false;
        postgresql_marks_start(&w->db);
        w->running = pthread_create(&w->thread, NULL, work, w) == 0;
        if (!w->running)
            return ERR_IO;
    }
    return s->clerk_running ? ERR_NONE : ERR_IO;
}

/* After a lost connection, waits as long as requests do. */
static enum err transact(struct store *base, enum store_mode mode, enum err (*run)(void *, struct db *), void *arg)
{
    struct postgresql_store *s = (struct postgresql_store *)base;
    struct postgresql_db *db = &s->workers[0].db;
    enum err e = ERR_RETRY;
    store_note_answer(NO_ANSWER);
    for (int losses = 0; e == ERR_RETRY && losses <= LOSSES_MOST; losses++) {
        db->give_up_us = clock_monotonic_us() + s->wait_us;
        if (!postgresql_connected(db))
            break;
        db->give_up_us = clock_monotonic_us() + MIGRATION_US;
        e = postgresql_run(db, mode, run, arg);
    }
    store_note_answer(NULL);
    return e == ERR_RETRY ? ERR_SERVICE_UNAVAILABLE : e;
}

static enum err migrate(struct store *base, enum err (*run)(void *, struct db *), void *arg)
{
    struct postgresql_db *db = &((struct postgresql_store *)base)->workers[0].db;
    db->migrates = true;
    enum err e = transact(base, STORE_WRITE, run, arg);
    if (e && db->blocked)
        store_log_error("migration", 0, "another transaction has a table locked");
    db->migrates = false;
    return e;
}

/* ---- a caller's own connection ---- */

static struct db *own_new(struct store *base)
{
    struct postgresql_db *db = mem_new(struct postgresql_db);
    *db = (struct postgresql_db){
        .base.engine = &postgresql_engine, .store = (struct postgresql_store *)base, .broken = true};
    return &db->base;
}

static void own_free(struct db *base)
{
    postgresql_disconnect((struct postgresql_db *)base);
    free(base);
}

/* No statement begins a transaction while one counts as begun. */
static enum err own_run(struct db *base, enum err (*run)(void *, struct db *), void *arg)
{
    struct postgresql_db *db = (struct postgresql_db *)base;
    if ((db->broken || PQstatus(db->conn) != CONNECTION_OK) && !postgresql_connect_own(db))
        return ERR_RETRY;
    base->failed = ERR_NONE;
    db->mode = STORE_WRITE;
    db->until_us = clock_monotonic_us() + OWN_ANSWER_US;
    db->begun = db->commits = true;
    enum err e = db_result(base, run(arg, base));
    db->begun = false;
    return e;
}

static enum err listen_run(void *unused, struct db *db)
{
    (void)unused;
    return postgresql_script(db, "LISTEN portero_feed");
}

/* Returns whether there were notices. */
static bool take_notices(PGconn *conn, void (*heard)(void *context, struct str text), void *context)
{
    PGnotify *notice;
    bool any = false;
    for (; (notice = PQnotifies(conn)); any = true) {
        if (notice->be_pid != PQbackendPID(conn))
            heard(context, str_z(notice->extra));
        PQfreemem(notice);
    }
    return any;
}

/* Notices may have come with the answer to a statement. */
static enum err own_hear(struct db *base, int wake_fd, int wait_ms, void (*heard)(void *context, struct str text),
                         void *context, bool *ret_anew)
{
    struct postgresql_db *db = (struct postgresql_db *)base;
    const bool connected = !db->broken && PQstatus(db->conn) == CONNECTION_OK;
    *ret_anew = !connected || !db->listens;
    const bool old = clock_monotonic_us() >= db->listened_us + OWN_TRUST_US;
    enum err e = *ret_anew || old ? own_run(base, listen_run, NULL) : ERR_NONE;
    db->listens = !e;
    if (e)
        return e;
    if (*ret_anew || old)
        db->listened_us = clock_monotonic_us();
    if (take_notices(db->conn, heard, context) || *ret_anew)
        return ERR_NONE;
    struct pollfd fds[] = {{.fd = PQsocket(db->conn), .events = POLLIN}, {.fd = wake_fd, .events = POLLIN}};
    if (poll(fds, 2, wait_ms) <= 0 || !fds[0].revents)
        return ERR_NONE;
    if (!PQconsumeInput(db->conn)) {
        db->broken = true;
        return ERR_RETRY;
    }
    (void)take_notices(db->conn, heard, context);
    return ERR_NONE;
}

static const char *own_failure(const struct db *base)
{
    return ((const struct postgresql_db *)base)->why;
}

const struct engine postgresql_engine = {
    .open = postgresql_open,
    .look = postgresql_open,
    .start = postgresql_start,
    .wind_down = postgresql_wind_down,
    .close = postgresql_close,
    .submit = postgresql_submit,
    .oldest_us = postgresql_oldest_us,
    .transact = transact,
    .migrate = migrate,
    .own_new = own_new,
    .own_free = own_free,
    .own_run = own_run,
    .own_hear = own_hear,
    .own_failure = own_failure,
    .assume = postgresql_assume,
    .exec = postgresql_exec,
    .query = postgresql_query,
    .next = postgresql_next,
    .end = postgresql_end,
    .script = postgresql_script,
    .col_null = postgresql_col_null,
    .col_int = postgresql_col_int,
    .col_bytes = postgresql_col_bytes,
    .word_int = "BIGINT",
    .word_blob = "BYTEA",
    .word_clustered = "",
    .word_desc = "",
    .word_bytes = {"decode(", ", 'hex')"},
    .word_hash = {"('x' || encode(substr(sha256(convert_to(", ", 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint"},
    .word_sqlite = {"/*", "*/"},
    .word_postgresql = {"", ""},
};
