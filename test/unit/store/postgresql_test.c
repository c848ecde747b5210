/* The guarantees of the PostgreSQL engine when the server goes away. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/metric.h"
#include "fixture.h"
#include "store/engine.h"

static enum err read_counter(struct db *db, long *ret)
{
    CURSOR c;
    enum err e = db_one(db, SQL(setting_get, .name = STR("counter")), &c);
    if (e && e != ERR_NOT_FOUND)
        return e;
    *ret = e ? 0 : strtol(row_setting_get(&c, NULL).value.p, NULL, 10);
    return ERR_NONE;
}

static enum err increment(void *arg, struct db *db)
{
    _Atomic int *runs = arg;
    char text[24];
    long n;
    ++*runs;
    enum err e = read_counter(db, &n);
    if (e)
        return e;
    snprintf(text, sizeof text, "%ld", n + 1);
    return db_exec(db, SQL(setting_put, .name = STR("counter"), .value = str_z(text)), NULL);
}

static enum err get(void *arg, struct db *db)
{
    return read_counter(db, arg);
}

static void assert_counter(struct store *store, long value)
{
    long n = -1;
    assert_int_equal(store_run(store, STORE_READ, get, &n), ERR_NONE);
    assert_int_equal(n, value);
}

/* ---- a proxy between the store and the server ---- */

enum at_commit {
    PASS,
    LOSE_REQUEST, /* the server does not receive the COMMIT */
    LOSE_ANSWER   /* the server commits, but its answer is lost */
};

/* Forwards bytes, one connection at a time, and handles the next COMMIT as `next` says. */
struct proxy {
    char dir[64];
    int listener;
    pthread_t thread;
    _Atomic enum at_commit next;
    _Atomic int lost;
    _Atomic bool stop;
};

static int unix_socket(const char *dir, bool listening)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(a.sun_path, sizeof a.sun_path, "%s/.s.PGSQL.5432", dir);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int rc = listening ? bind(fd, (struct sockaddr *)&a, sizeof a) || listen(fd, 8)
                       : connect(fd, (struct sockaddr *)&a, sizeof a);
    if (rc == 0)
        return fd;
    close(fd);
    return -1;
}

static bool pass(int from, int to, char *buffer, size_t n, ssize_t *ret_n)
{
    *ret_n = read(from, buffer, n);
    return *ret_n > 0 && write(to, buffer, (size_t)*ret_n) == *ret_n;
}

/* Returns false when the connection must end. */
static bool pass_client(struct proxy *p, int client, int server)
{
    char buffer[65536];
    ssize_t n = read(client, buffer, sizeof buffer);
    if (n <= 0)
        return false;
    bool commit = memmem(buffer, (size_t)n, "COMMIT", 7) != NULL;
    enum at_commit what = commit ? atomic_exchange(&p->next, PASS) : PASS;
    if (what != PASS)
        p->lost++;
    if (what == LOSE_REQUEST || write(server, buffer, (size_t)n) != n)
        return false;
    if (what == LOSE_ANSWER)
        return read(server, buffer, sizeof buffer) < 0; /* the answer is read and dropped */
    return true;
}

static void converse(struct proxy *p, int client)
{
    char buffer[65536];
    ssize_t n;
    int server = unix_socket(store_cluster.dir, false);
    struct pollfd fds[2] = {{.fd = client, .events = POLLIN}, {.fd = server, .events = POLLIN}};
    bool open = server >= 0;
    while (open && !p->stop) {
        if (poll(fds, 2, 50) <= 0)
            continue;
        if (fds[0].revents)
            open = pass_client(p, client, server);
        if (open && fds[1].revents)
            open = pass(server, client, buffer, sizeof buffer, &n);
    }
    if (server >= 0)
        close(server);
    close(client);
}

static void *proxy(void *arg)
{
    struct proxy *p = arg;
    while (!p->stop) {
        struct pollfd fd = {.fd = p->listener, .events = POLLIN};
        if (poll(&fd, 1, 50) > 0)
            converse(p, accept4(p->listener, NULL, NULL, SOCK_CLOEXEC));
    }
    return NULL;
}

static void proxy_start(struct proxy *p)
{
    *p = (struct proxy){.next = PASS};
    snprintf(p->dir, sizeof p->dir, "/tmp/portero-proxy-XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    p->listener = unix_socket(p->dir, true);
    assert_true(p->listener >= 0);
    assert_int_equal(pthread_create(&p->thread, NULL, proxy, p), 0);
}

static void proxy_stop(struct proxy *p)
{
    char path[100];
    p->stop = true;
    pthread_join(p->thread, NULL);
    close(p->listener);
    snprintf(path, sizeof path, "%s/.s.PGSQL.5432", p->dir);
    unlink(path);
    rmdir(p->dir);
}

/* Reopens the fixture's store with one connection, through the proxy. */
static void reopen_through(struct store_fixture *f, const struct proxy *p)
{
    store_close(f->store);
    f->store = NULL;
    snprintf(f->dsn, sizeof f->dsn, "host=%s user=portero dbname=postgres options='-c search_path=\"%s\"'", p->dir,
             f->schema);
    f->config.store_workers = 1;
    assert_int_equal(store_fixture_start(f), 0);
}

static void lose_at_commit(struct store_fixture *f, enum at_commit what, int expected_runs,
                           enum metric_label_FATE expected)
{
    struct proxy p;
    _Atomic int runs = 0;
    const int64_t settled = metric_get(&metrics.store_settled[expected]);
    proxy_start(&p);
    reopen_through(f, &p);
    assert_int_equal(store_run(f->store, STORE_WRITE, increment, &runs), ERR_NONE);
    assert_counter(f->store, 1);
    runs = 0;
    p.next = what;
    assert_int_equal(store_run(f->store, STORE_WRITE, increment, &runs), ERR_NONE);
    assert_int_equal(p.lost, 1);
    assert_int_equal(runs, expected_runs);
    assert_int_equal(metric_get(&metrics.store_settled[expected]), settled + 1);
    assert_int_equal(metric_get(metrics.store_connections), 1);
    assert_counter(f->store, 2);
    store_close(f->store);
    f->store = NULL;
    assert_int_equal(metric_get(metrics.store_connections), 0);
    proxy_stop(&p);
}

/* STORE-10 */
static void a_transaction_with_a_lost_commit_runs_again(void **state)
{
    lose_at_commit(*state, LOSE_REQUEST, 2, METRIC_FATE_NOT_COMMITTED);
}

/* STORE-10 */
static void a_commit_with_a_lost_answer_is_not_repeated(void **state)
{
    lose_at_commit(*state, LOSE_ANSWER, 1, METRIC_FATE_COMMITTED);
}

/* ---- the server ---- */

struct writer {
    struct store *store;
    _Atomic int runs, acknowledged;
    _Atomic int unknown; /* results, where the server was away for longer than a write waits */
    _Atomic bool stop;
};

static void *write_on(void *arg)
{
    struct writer *w = arg;
    while (!w->stop) {
        const bool known = store_run(w->store, STORE_WRITE, increment, &w->runs) == ERR_NONE;
        w->acknowledged += known;
        w->unknown += !known;
    }
    return NULL;
}

static void a_server_crash_neither_loses_nor_repeats_acknowledged_writes(void **state)
{
    struct store_fixture *f = *state;
    struct writer w = {.store = f->store};
    pthread_t threads[3];
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_on, &w), 0);
    for (int i = 0; i < 3; i++) {
        int before = w.acknowledged;
        while (w.acknowledged < before + 50)
            usleep(1000);
        assert_int_equal(store_cluster_command("restart"), 0);
    }
    w.stop = true;
    for (size_t i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_true(w.acknowledged >= 150);
    long n = -1;
    assert_int_equal(store_run(f->store, STORE_READ, get, &n), ERR_NONE);
    assert_in_range(n, w.acknowledged, w.acknowledged + w.unknown);
}

/* ---- connections that were idle while the server stopped ---- */

#define MANY 16

struct meeting {
    pthread_barrier_t all;
    _Atomic int came;
};

/* Waits in a transaction until each worker has one. A body that runs again does not wait. A read of two statements does
 * not share its worker with others, for which it would wait in vain. */
static enum err meet(void *arg, struct db *db)
{
    struct meeting *m = arg;
    long n;
    enum err e = read_counter(db, &n);
    if (!e)
        e = read_counter(db, &n);
    if (!e && atomic_fetch_add(&m->came, 1) < MANY)
        pthread_barrier_wait(&m->all);
    return e;
}

/* Uses a statement that no connection has prepared. */
static enum err look(void *arg, struct db *db)
{
    CURSOR c;
    (void)arg;
    enum err e = db_one(db, SQL(job_waiting, .id = STR("none")), &c);
    return e == ERR_NOT_FOUND ? ERR_NONE : e;
}

struct asker {
    struct store *store;
    enum err (*run)(void *arg, struct db *db);
    void *arg;
    enum err result;
};

static void *ask(void *arg)
{
    struct asker *a = arg;
    a->result = store_run(a->store, STORE_READ, a->run, a->arg);
    return NULL;
}

/* Runs all reads at once; returns the number of failed ones. */
static int ask_together(struct store *store, int count, enum err (*run)(void *arg, struct db *db), void *arg)
{
    struct asker askers[3 * MANY];
    pthread_t threads[3 * MANY];
    int failed = 0;
    for (int i = 0; i < count; i++) {
        askers[i] = (struct asker){store, run, arg, ERR_NONE};
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &askers[i]), 0);
    }
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        failed += askers[i].result != ERR_NONE;
    }
    return failed;
}

/* A server in fast shutdown sends a message before it closes a connection. An idle connection has not read it when it
 * next sends: libpq then reports a failure without an SQLSTATE, and a good connection. */
static void a_statement_that_cannot_be_sent_runs_again(void **state)
{
    struct store_fixture *f = *state;
    struct store *store;
    char *why = NULL;
    f->config.store_workers = MANY + 1; /* one is kept for urgent tasks */
    assert_int_equal(store_open(&f->config, true, &store, &why), ERR_NONE);
    assert_int_equal(store_start(store), ERR_NONE);
    for (int i = 0; i < 8; i++) {
        struct meeting m = {.came = 0};
        pthread_barrier_init(&m.all, NULL, MANY);
        assert_int_equal(ask_together(store, MANY, meet, &m), 0);
        pthread_barrier_destroy(&m.all);
        assert_int_equal(store_cluster_command("restart"), 0);
        assert_int_equal(ask_together(store, 3 * MANY, look, NULL), 0);
    }
    store_close(store);
}

static void the_error_names_a_missing_server(void **state)
{
    struct store_fixture *f = *state;
    struct config c = {.engine = ENGINE_POSTGRESQL, .top_data_dir = f->dir, .store_workers = 1};
    char dsn[100];
    struct store *store = NULL;
    char *why = NULL;
    snprintf(dsn, sizeof dsn, "host=%s user=portero password=hush", f->dir);
    c.store_dsn = dsn;
    assert_int_equal(store_open(&c, true, &store, &why), ERR_SERVICE_UNAVAILABLE);
    assert_non_null(strstr(why, f->dir));
    assert_null(strstr(why, "hush"));
    free(why);
}

/* ---- verdicts ---- */

struct failing {
    const char *sql; /* of the first runs */
    int times, runs;
};

static enum err fail_at_first(void *arg, struct db *db)
{
    struct failing *f = arg;
    long n;
    enum err e = read_counter(db, &n);
    if (e || f->runs++ >= f->times)
        return e;
    return ((const struct engine *)db->engine)->script(db, f->sql);
}

static void assert_verdict(struct store_fixture *f, const char *sql, enum err result, int runs)
{
    struct failing failing = {.sql = sql, .times = 1};
    enum err e = store_run(f->store, STORE_WRITE, fail_at_first, &failing);
    if (e != result || failing.runs != runs)
        fail_msg("%s: %s after %d runs", sql, err_info(e)->code, failing.runs);
}

/* Each SQLSTATE that a retry may solve is retried; no other one is. */
static void a_failed_transaction_runs_again_where_that_helps(void **state)
{
    static const struct {
        const char *state;
        enum err result;
        int runs;
    } table[] = {{"40001", ERR_NONE, 2},
                 {"40P01", ERR_NONE, 2},
                 {"53200", ERR_NONE, 2},
                 {"55P03", ERR_NONE, 2},
                 {"08006", ERR_NONE, 2},
                 {"08P01", ERR_NONE, 2},
                 {"25P03", ERR_NONE, 2},
                 {"53300", ERR_NONE, 2},
                 {"57P01", ERR_NONE, 2},
                 {"57P05", ERR_NONE, 2},
                 {"42P05", ERR_NONE, 2},
                 {"57014", ERR_SERVICE_UNAVAILABLE, 1},
                 {"23502", ERR_INTERNAL_ERROR, 1},
                 {"53100", ERR_SERVICE_UNAVAILABLE, 1},
                 {"53400", ERR_SERVICE_UNAVAILABLE, 1},
                 {"58030", ERR_SERVICE_UNAVAILABLE, 1},
                 {"42501", ERR_SERVICE_UNAVAILABLE, 1},
                 {"42703", ERR_SERVICE_UNAVAILABLE, 1},
                 {"XX000", ERR_INTERNAL_ERROR, 1}};
    char sql[100];
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        snprintf(sql, sizeof sql, "DO 'BEGIN RAISE EXCEPTION USING ERRCODE = ''%s''; END'", table[i].state);
        assert_verdict(*state, sql, table[i].result, table[i].runs);
    }
}

/* As against a transaction that waits in COMMIT for a standby. */
static void a_transaction_that_loses_many_races_runs_again_until_its_time_is_over(void **state)
{
    static const char lose[] = "DO 'BEGIN RAISE EXCEPTION USING ERRCODE = ''40001''; END'";
    struct store_fixture *f = *state;
    struct failing often = {.sql = lose, .times = 100}, ever = {.sql = lose, .times = INT_MAX};
    assert_int_equal(store_run(f->store, STORE_WRITE, fail_at_first, &often), ERR_NONE);
    assert_int_equal(often.runs, 101);
    store_close(f->store);
    f->store = NULL;
    f->config.store_wait_s = 1;
    assert_int_equal(store_fixture_start(f), 0);
    assert_int_equal(store_run(f->store, STORE_WRITE, fail_at_first, &ever), ERR_SERVICE_UNAVAILABLE);
}

/* Another process changes the schema while this one runs, and its connections have prepared their statements. */
static void change_schema(struct store_fixture *f, const char *sql)
{
    PGconn *conn = PQconnectdb(f->dsn);
    PGresult *r = PQexec(conn, sql);
    if (PQresultStatus(r) != PGRES_COMMAND_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(conn));
    PQclear(r);
    PQfinish(conn);
}

static void a_changed_table_fails_no_transaction(void **state)
{
    static const char *const changes[] = {
        "ALTER TABLE setting ADD COLUMN more TEXT NOT NULL DEFAULT 'x'",
        "ALTER TABLE setting ALTER COLUMN value TYPE VARCHAR(1000)", /* the type of a result, which a plan may not
                                                                        change */
        "ALTER TABLE setting DROP COLUMN more", "ALTER TABLE setting ALTER COLUMN value TYPE TEXT"};
    struct store_fixture *f = *state;
    _Atomic int runs = 0;
    long n = 0;
    assert_int_equal(store_run(f->store, STORE_WRITE, increment, &runs), ERR_NONE);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        n++;
        for (int k = 0; k < 20; k++) /* each connection has the plan */
            assert_counter(f->store, n);
        change_schema(f, changes[i]);
        assert_counter(f->store, n);
        assert_int_equal(store_run(f->store, STORE_WRITE, increment, &runs), ERR_NONE);
    }
}

static void a_schema_that_does_not_fit_is_a_reason_and_no_error_of_the_service(void **state)
{
    struct store_fixture *f = *state;
    _Atomic int runs = 0;
    long n;
    assert_int_equal(store_run(f->store, STORE_WRITE, increment, &runs), ERR_NONE);
    change_schema(f, "ALTER TABLE setting RENAME COLUMN value TO other");
    assert_int_equal(store_run(f->store, STORE_READ, get, &n), ERR_SERVICE_UNAVAILABLE);
    assert_int_equal(store_run(f->store, STORE_WRITE, increment, &runs), ERR_SERVICE_UNAVAILABLE);
    assert_string_equal(store_failing(f->store), "the schema does not fit this program");
    change_schema(f, "ALTER TABLE setting RENAME COLUMN other TO value");
    assert_counter(f->store, 1); /* the statement is prepared again */
    assert_int_equal(store_run(f->store, STORE_WRITE, increment, &runs), ERR_NONE);
}

static void reopen_with_short_waits(struct store_fixture *f)
{
    store_close(f->store);
    f->store = NULL;
    f->config.store_statement_timeout_s = 1;
    f->config.store_wait_s = 2;
    assert_int_equal(store_fixture_start(f), 0);
}

/* STORE-7 */
static void the_server_ends_a_statement_that_takes_too_long(void **state)
{
    reopen_with_short_waits(*state);
    assert_verdict(*state, "SELECT pg_sleep(60)", ERR_SERVICE_UNAVAILABLE, 1);
}

/* The client has its own time-out: the server may not be able to. */
/* STORE-6 */
static void a_server_that_does_not_answer_is_not_waited_for(void **state)
{
    reopen_with_short_waits(*state);
    assert_verdict(*state, "SET LOCAL statement_timeout = 0; SELECT pg_sleep(60)", ERR_SERVICE_UNAVAILABLE, 1);
    assert_verdict(*state, "SELECT 1", ERR_NONE, 1);
}

/* The connection string has the last word. */
/* STORE-7 */
static void options_of_the_connection_string_take_precedence(void **state)
{
    struct store_fixture *f = *state;
    char *end = strrchr(f->dsn, '\'');
    snprintf(end, sizeof f->dsn - (size_t)(end - f->dsn), " -c statement_timeout=700'");
    reopen_with_short_waits(f);
    assert_verdict(f, "DO 'BEGIN ASSERT current_setting(''statement_timeout'') = ''700ms''; END'", ERR_NONE, 1);
    assert_verdict(f, "DO 'BEGIN ASSERT current_setting(''idle_in_transaction_session_timeout'') = ''3s''; END'",
                   ERR_NONE, 1);
}

static void reads_have_to_be_submitted(void **state)
{
    struct store_fixture *f = *state;
    assert_null(store_session_new(f->store));
    assert_false(store_exclusive(f->store));
}

static bool server_logged(const char *text)
{
    char path[100], *log = NULL;
    snprintf(path, sizeof path, "%s/log", store_cluster.dir);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    bool found = getdelim(&log, &(size_t){0}, '\0', file) > 0 && strstr(log, text);
    fclose(file);
    free(log);
    return found;
}

/* Marks are deleted: their number does not grow with use. */
static void the_table_of_marks_stays_small(void **state)
{
    struct store_fixture *f = *state;
    _Atomic int runs = 0;
    for (int i = 0; i < 1500; i++)
        assert_int_equal(store_run(f->store, STORE_WRITE, increment, &runs), ERR_NONE);
    PGconn *conn = PQconnectdb(f->dsn);
    PGresult *r = PQexec(conn, "SELECT count(*) FROM commit_mark");
    assert_int_equal(PQresultStatus(r), PGRES_TUPLES_OK);
    assert_in_range(strtol(PQgetvalue(r, 0, 0), NULL, 10), 1, 4 * 256);
    PQclear(r);
    PQfinish(conn);
    assert_false(server_logged("there is no transaction in progress"));
}

static enum err read_on_own(void *arg, struct db *db)
{
    return read_counter(db, arg);
}

/* A role that may have `limit` connections; it can read and write the counter. */
static void limit_role(const char *schema, const char *limit)
{
    char sql[400];
    snprintf(sql, sizeof sql,
             "DO $$ BEGIN CREATE ROLE guest LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;"
             " GRANT ALL ON SCHEMA \"%s\" TO guest; GRANT ALL ON ALL TABLES IN SCHEMA \"%s\" TO guest;"
             " ALTER ROLE guest CONNECTION LIMIT %s",
             schema, schema, limit);
    PGconn *conn = PQconnectdb(store_cluster.dsn);
    PGresult *r = PQexec(conn, sql);
    assert_int_equal(PQresultStatus(r), PGRES_COMMAND_OK);
    PQclear(r);
    PQfinish(conn);
}

static void reopen_as_guest(struct store_fixture *f)
{
    limit_role(f->schema, "10");
    store_close(f->store);
    f->store = NULL;
    snprintf(f->dsn, sizeof f->dsn, "host=%s user=guest dbname=postgres options='-c search_path=\"%s\"'",
             store_cluster.dir, f->schema);
    assert_int_equal(store_fixture_start(f), 0);
}

static void a_refused_connection_has_the_reason_of_the_server(void **state)
{
    struct store_fixture *f = *state;
    long n = -1;
    reopen_as_guest(f);
    limit_role(f->schema, "0");
    struct db *own = store_own_new(f->store);
    assert_int_not_equal(store_own_run(own, read_on_own, &n), ERR_NONE);
    assert_non_null(strstr(store_own_failure(own), "FATAL:  too many connections for role \"guest\""));
    limit_role(f->schema, "10");
    assert_int_equal(store_own_run(own, read_on_own, &n), ERR_NONE);
    store_own_free(own);
}

/* A worker that is the last one keeps its connection, even if a caller's own one cannot be made. */
static void the_only_worker_goes_on_while_a_caller_cannot_connect(void **state)
{
    struct store_fixture *f = *state;
    long n = -1;
    f->config.store_workers = 1;
    reopen_as_guest(f);
    assert_int_equal(store_run(f->store, STORE_READ, read_on_own, &n), ERR_NONE);
    limit_role(f->schema, "0");
    struct db *own = store_own_new(f->store);
    assert_int_not_equal(store_own_run(own, read_on_own, &n), ERR_NONE);
    assert_int_equal(store_run(f->store, STORE_READ, read_on_own, &n), ERR_NONE);
    store_own_free(own);
}

/* Only a server of this test may be restarted. */
static int own_cluster_start(void **state)
{
    unsetenv("PORTERO_TEST_DSN");
    return store_cluster_start(state);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, store_fixture_open_postgresql, store_fixture_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_failed_transaction_runs_again_where_that_helps),
        TEST(a_transaction_that_loses_many_races_runs_again_until_its_time_is_over),
        TEST(a_changed_table_fails_no_transaction),
        TEST(a_schema_that_does_not_fit_is_a_reason_and_no_error_of_the_service),
        TEST(the_server_ends_a_statement_that_takes_too_long),
        TEST(a_server_that_does_not_answer_is_not_waited_for),
        TEST(options_of_the_connection_string_take_precedence),
        TEST(reads_have_to_be_submitted),
        TEST(the_error_names_a_missing_server),
        TEST(a_transaction_with_a_lost_commit_runs_again),
        TEST(a_commit_with_a_lost_answer_is_not_repeated),
        TEST(the_table_of_marks_stays_small),
        TEST(a_refused_connection_has_the_reason_of_the_server),
        TEST(the_only_worker_goes_on_while_a_caller_cannot_connect),
        TEST(a_server_crash_neither_loses_nor_repeats_acknowledged_writes),
        TEST(a_statement_that_cannot_be_sent_runs_again),
    };
    return cmocka_run_group_tests(tests, own_cluster_start, store_cluster_stop);
}
