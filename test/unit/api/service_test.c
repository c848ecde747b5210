/* The life of a request: where its handler runs, what commits, how failures are reported, and how the service ends. */
#include "api/server.h"

#include <stdatomic.h>

#include "api/gate.h"
#include "domain/number.h"

/* ---- routes ---- */

struct value_body {
    struct val value;
};
static const struct field value_fields[] = {FIELD(struct value_body, value, T_INT, .flags = F_REQUIRED)};
static const struct shape value_shape = SHAPE(struct value_body, "Value", value_fields);

struct slow_query {
    struct val slow;
};
static const struct field slow_fields[] = {FIELD(struct slow_query, slow, T_BOOL, .error = ERR_INVALID_QUERY)};
static const struct shape slow_shape = SHAPE(struct slow_query, "SlowQuery", slow_fields);

static enum err reply_value(struct request *q, struct reply *p, int64_t value)
{
    struct value_body *body = arena_new(q->tx.arena, struct value_body);
    body->value = v_int(value);
    return reply_ok(p, 200, &value_shape, body);
}

static enum err count_numbers(struct tx *tx, int64_t *ret)
{
    const struct number *numbers;
    size_t count;
    enum err e = number_list(tx, &numbers, &count);
    if (!e)
        *ret = (int64_t)count;
    return e;
}

static enum err add_number(struct tx *tx)
{
    return number_add(tx, STR("+15550109999"), STR("US"));
}

static enum err here(struct request *q, struct reply *p)
{
    return reply_value(q, p, 0);
}

static _Atomic(pthread_t) last_thread; /* that ran /v1/read */

static enum err read_count(struct request *q, struct reply *p)
{
    int64_t count;
    last_thread = pthread_self();
    enum err e = count_numbers(&q->tx, &count);
    return e ? e : reply_value(q, p, count);
}

static bool is_slow(const void *query)
{
    const struct slow_query *s = query;
    return v_given(s->slow) && s->slow.b;
}

static enum err write_number(struct request *q, struct reply *p)
{
    int64_t count;
    enum err e = add_number(&q->tx);
    if (!e)
        e = count_numbers(&q->tx, &count);
    return e ? e : reply_value(q, p, count);
}

static enum err keep_number(struct request *q, struct reply *p)
{
    enum err e = add_number(&q->tx);
    return e ? e : reply_error_keep(p, ERR_INVALID_OTP);
}

static enum err refuse_number(struct request *q, struct reply *p)
{
    (void)p;
    enum err e = add_number(&q->tx);
    return e ? e : tx_fail(&q->tx, ERR_GRANT_REVOKED, "refused on purpose");
}

static enum err break_down(struct request *q, struct reply *p)
{
    (void)q;
    (void)p;
    return ERR_INTERNAL_ERROR;
}

static enum err say_nothing(struct request *q, struct reply *p)
{
    (void)q;
    (void)p;
    return ERR_NONE;
}

/* Loses a race once: another connection adds the number after this transaction's snapshot. */
static atomic_uint race_runs;

static enum err lose_race(struct request *q, struct reply *p)
{
    int64_t before, after;
    enum err e = count_numbers(&q->tx, &before);
    if (e)
        return e;
    reply_header(p, "X-Run", STR("1"));
    if (++race_runs == 1)
        fixture_sql(server->building, "INSERT INTO number (number, country, pooled) VALUES ('+15550109999', 'US', 1)");
    e = add_number(&q->tx);
    if (!e)
        e = count_numbers(&q->tx, &after);
    return e ? e : reply_value(q, p, after);
}

/* ---- hooks ---- */

static atomic_uint commits; /* of /v1/signed */

static enum err need_signature(struct request *q)
{
    return http_header(q->http, STR("X-Signature"), NULL).p ? ERR_NONE : ERR_INVALID_SIGNATURE;
}

static void count_commit(struct request *q)
{
    (void)q;
    commits++;
}

static enum err write_unless_refused(struct request *q, struct reply *p)
{
    return q->http->query.p ? refuse_number(q, p) : write_number(q, p);
}

/* ---- blocking handlers ---- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned running, ended;
    bool released;
} gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, false};

static void await_running(unsigned n)
{
    pthread_mutex_lock(&gate.lock);
    while (gate.running < n)
        pthread_cond_wait(&gate.changed, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
}

static void release_all(void)
{
    pthread_mutex_lock(&gate.lock);
    gate.released = true;
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.lock);
}

static enum err block(struct request *q, struct reply *p)
{
    pthread_mutex_lock(&gate.lock);
    gate.running++;
    pthread_cond_broadcast(&gate.changed);
    while (!gate.released)
        pthread_cond_wait(&gate.changed, &gate.lock);
    gate.ended++;
    pthread_mutex_unlock(&gate.lock);
    return reply_value(q, p, q->tx.db != NULL);
}

static enum err add_in_work(struct tx *tx, void *arg)
{
    (void)arg;
    return add_number(tx);
}

static enum err write_after_wait(struct request *q, struct reply *p)
{
    enum err e = block(q, p);
    return e ? e : gate_write(q, add_in_work, NULL);
}

static enum err write_result_after_wait(struct request *q, struct reply *p)
{
    enum err e = block(q, p);
    return e ? e : work_write(&q->work, add_in_work, NULL);
}

static enum err refuse_in_work(struct tx *tx, void *arg)
{
    (void)arg;
    enum err e = add_number(tx);
    tx->retry_after_s = 7;
    return e ? e : tx_fail(tx, ERR_PHONE_CODE_RATE_LIMIT, "refused in its transaction");
}

static enum err write_twice(struct request *q, struct reply *p)
{
    enum err e = work_write(&q->work, add_in_work, NULL);
    if (!e)
        e = work_write(&q->work, add_in_work, NULL);
    return e ? e : reply_value(q, p, 2);
}

static enum err fail_in_work(struct request *q, struct reply *p)
{
    (void)p;
    return work_write(&q->work, refuse_in_work, NULL);
}

static const struct route rows[] = {
    ROUTE("here", GET, "/v1/here", .run = RUN_HERE, .handler = here),
    ROUTE("read", GET, "/v1/read", .query = &slow_shape, .run = RUN_READ, .lengthy = is_slow, .handler = read_count),
    ROUTE("write", POST, "/v1/write", .run = RUN_WRITE, .handler = write_number),
    ROUTE("signed", POST, "/v1/signed", .run = RUN_WRITE, .flags = ROUTE_URGENT, .verify = need_signature,
          .handler = write_unless_refused, .committed = count_commit),
    ROUTE("keep", POST, "/v1/keep", .run = RUN_WRITE, .handler = keep_number),
    ROUTE("refuse", POST, "/v1/refuse", .run = RUN_WRITE, .handler = refuse_number),
    ROUTE("race", POST, "/v1/race", .run = RUN_WRITE, .handler = lose_race),
    ROUTE("broken", POST, "/v1/broken", .run = RUN_WRITE, .handler = break_down),
    ROUTE("brokenCreate", POST, "/v1/broken-create", .run = RUN_WRITE, .handler = break_down,
          .store_error = ERR_CREATE_FAILED),
    ROUTE("brokenRead", GET, "/v1/broken-read", .run = RUN_READ, .handler = break_down,
          .store_error = ERR_FETCH_FAILED),
    ROUTE("brokenBlocking", POST, "/v1/broken-blocking", .run = RUN_BLOCKING, .handler = break_down,
          .store_error = ERR_UPDATE_FAILED),
    ROUTE("silent", GET, "/v1/silent", .run = RUN_HERE, .handler = say_nothing),
    ROUTE("block", POST, "/v1/block", .run = RUN_BLOCKING, .handler = block),
    ROUTE("twice", POST, "/v1/twice", .run = RUN_BLOCKING, .handler = write_twice),
    ROUTE("failInWork", POST, "/v1/fail-in-work", .run = RUN_BLOCKING, .handler = fail_in_work),
    ROUTE("keyed", GET, "/v1/keyed", .credential = CRED_KEY, .scopes = SCOPE(ACCESS_READ), .limit = LIMIT_KEY,
          .run = RUN_READ, .handler = read_count),
    ROUTE("keyedBlocking", POST, "/v1/keyed-blocking", .credential = CRED_KEY, .scopes = SCOPE(ACCESS_READ),
          .limit = LIMIT_KEY, .run = RUN_BLOCKING, .handler = write_twice),
    ROUTE("keyedWait", POST, "/v1/keyed-wait", .credential = CRED_KEY, .scopes = SCOPE(ACCESS_READ), .limit = LIMIT_KEY,
          .run = RUN_BLOCKING, .handler = write_after_wait),
    ROUTE("keyedResult", POST, "/v1/keyed-result", .credential = CRED_KEY, .scopes = SCOPE(ACCESS_READ),
          .limit = LIMIT_KEY, .run = RUN_BLOCKING, .handler = write_result_after_wait),
};
static const struct route_set set = ROUTE_SET(rows);
static const struct route_set *const sets[] = {&set};

static int open_sqlite(void **state)
{
    gate.running = gate.ended = 0;
    race_runs = commits = 0;
    gate.released = false;
    return fixture_open(state) ? -1 : server_open(state, sets, 1);
}

static int open_postgresql(void **state)
{
    gate.running = gate.ended = 0;
    race_runs = commits = 0;
    gate.released = false;
    return fixture_open_postgresql(state) ? -1 : server_open(state, sets, 1);
}

/* Lets every handler end, also a failed test's. */
static int close_server(void **state)
{
    release_all();
    return server_close(state);
}

/* ---- tests ---- */

static void replies_value(const char *line, int64_t value)
{
    char wanted[40];
    struct answer a = server_ask(line, "", NULL);
    snprintf(wanted, sizeof wanted, "{\"value\":%lld}", (long long)value);
    if (a.statuses[0] != 200 || !str_eq(a.body, str_z(wanted)))
        fail_msg("%s: %d %.*s, expected %s", line, a.statuses[0], STR_ARG(a.body), wanted);
    answer_done(&a);
}

static void replies_error(const char *line, const char *headers, int status, const char *code)
{
    struct answer a = server_ask(line, headers, NULL);
    expect_envelope(&a, status, code);
    answer_done(&a);
}

static void a_committed_write_is_seen_by_the_next_read(void **state)
{
    (void)state;
    replies_value("GET /v1/read", 0);
    replies_value("POST /v1/write", 1);
    replies_value("GET /v1/read", 1);
}

static void a_returned_error_rolls_the_write_back(void **state)
{
    (void)state;
    struct answer a = server_ask("POST /v1/refuse", "", NULL);
    expect_envelope(&a, 409, "GRANT_REVOKED");
    assert_true(answer_has(&a, "refused on purpose"));
    answer_done(&a);
    replies_value("GET /v1/read", 0);
}

static void a_kept_error_commits_the_write(void **state)
{
    (void)state;
    replies_error("POST /v1/keep", "", 401, "INVALID_OTP");
    replies_value("GET /v1/read", 1);
}

static void a_request_that_is_not_verified_writes_nothing(void **state)
{
    (void)state;
    replies_error("POST /v1/signed", "", 403, "INVALID_SIGNATURE");
    replies_value("GET /v1/read", 0);
    struct answer a = server_ask("POST /v1/signed", "X-Signature: x\r\n", NULL);
    assert_text(a.body, "{\"value\":1}");
    answer_done(&a);
}

static void a_commit_is_reported_once_and_a_roll_back_is_not(void **state)
{
    (void)state;
    replies_error("POST /v1/signed?refuse", "X-Signature: x\r\n", 409, "GRANT_REVOKED");
    assert_int_equal(commits, 0);
    struct answer a = server_ask("POST /v1/signed", "X-Signature: x\r\n", NULL);
    assert_int_equal(a.statuses[0], 200);
    assert_int_equal(commits, 1);
    answer_done(&a);
}

static void a_lengthy_read_runs_on_another_thread_than_the_loop(void **state)
{
    struct server *s = *state;
    const bool sqlite = s->building->fixture->config.engine == ENGINE_SQLITE;
    replies_value("GET /v1/read?slow=false", 0);
    pthread_t loop = last_thread;
    replies_value("GET /v1/read?slow=true", 0);
    if (sqlite)
        assert_false(pthread_equal(loop, last_thread));
    replies_value("GET /v1/read", 0);
    if (sqlite)
        assert_true(pthread_equal(loop, last_thread));
}

static void a_blocking_handler_holds_up_no_other_request(void **state)
{
    (void)state;
    struct client c = client_plain(server->port);
    struct answer a = {0};
    server_send(&c, "POST /v1/block", "", NULL);
    await_running(1);
    replies_value("GET /v1/here", 0);
    replies_value("POST /v1/write", 1);
    release_all();
    assert_true(answer_next(&a, &c));
    assert_text(a.body, "{\"value\":0}");
    answer_done(&a);
    client_close(&c);
}

static void a_blocking_handler_commits_each_of_its_transactions(void **state)
{
    (void)state;
    replies_value("POST /v1/twice", 2);
    replies_value("GET /v1/read", 1);
}

static void the_error_of_a_blocking_transaction_is_the_reply(void **state)
{
    (void)state;
    struct answer a = server_ask("POST /v1/fail-in-work", "", NULL);
    expect_envelope(&a, 429, "PHONE_CODE_RATE_LIMIT");
    assert_true(answer_has(&a, "refused in its transaction"));
    assert_text(answer_field(a.head, "Retry-After"), "7");
    answer_done(&a);
    replies_value("GET /v1/read", 0);
}

static void a_failing_store_answers_the_error_of_the_route(void **state)
{
    (void)state;
    replies_error("POST /v1/broken", "", 500, "INTERNAL_ERROR");
    replies_error("POST /v1/broken-create", "", 500, "CREATE_FAILED");
    replies_error("GET /v1/broken-read", "", 500, "FETCH_FAILED");
    replies_error("POST /v1/broken-blocking", "", 500, "UPDATE_FAILED");
}

static void a_handler_without_a_reply_is_an_internal_error(void **state)
{
    (void)state;
    replies_error("GET /v1/silent", "", 500, "INTERNAL_ERROR");
    replies_value("GET /v1/here", 0);
}

/* Two edits of one row cannot meet on SQLite, which has one writer. */
static void a_lost_race_runs_the_handler_again(void **state)
{
    struct server *s = *state;
    if (s->building->fixture->config.engine == ENGINE_SQLITE) {
        race_runs = 1;
        replies_value("POST /v1/race", 1);
        return;
    }
    struct answer a = server_ask("POST /v1/race", "", NULL);
    assert_int_equal(a.statuses[0], 200);
    assert_text(a.body, "{\"value\":1}");
    struct str first = answer_field(a.head, "X-Run"); /* once: the reply of the lost run is gone */
    assert_true(first.p && !memmem(first.p, (size_t)(a.head.p + a.head.n - first.p), "X-Run", 5));
    assert_int_equal(race_runs, 2);
    answer_done(&a);
}

static void keys_are_checked_before_read_and_blocking_handlers(void **state)
{
    struct server *s = *state;
    char bearer[120];
    snprintf(bearer, sizeof bearer, "Authorization: Bearer %s\r\n", s->key);
    replies_error("GET /v1/keyed", "", 401, "AUTH_REQUIRED");
    replies_error("POST /v1/keyed-blocking", "", 401, "AUTH_REQUIRED");
    assert_int_equal(server_status("GET /v1/keyed", bearer, NULL), 200);
    assert_int_equal(server_status("POST /v1/keyed-blocking", bearer, NULL), 200);
}

static void a_revoked_key_is_refused_once_the_service_has_heard_of_it(void **state)
{
    struct server *s = *state;
    char bearer[120];
    snprintf(bearer, sizeof bearer, "Authorization: Bearer %s\r\n", s->key);
    assert_int_equal(server_status("GET /v1/keyed", bearer, NULL), 200);
    fixture_sql(s->building, "UPDATE api_key SET revoked_at = 1");
    service_changed(s->service, TOPIC_KEYS, &(struct store_fed){.count = 0});
    /* A write through the store renews the snapshot that reads keep. */
    replies_value("POST /v1/write", 1);
    replies_error("GET /v1/keyed", bearer, 401, "INVALID_KEY");
}

/* Asks with the key, and returns while the handler waits. */
static struct client ask_and_wait(struct server *s, const char *line)
{
    char bearer[120];
    struct client c = client_plain(s->port);
    snprintf(bearer, sizeof bearer, "Authorization: Bearer %s\r\n", s->key);
    server_send(&c, line, bearer, NULL);
    await_running(1);
    return c;
}

static struct answer release_and_read(struct client *c)
{
    struct answer a = {0};
    release_all();
    assert_true(answer_next(&a, c));
    client_close(c);
    return a;
}

/* KEY-20 */
static void a_key_that_ends_while_its_request_waits_begins_nothing(void **state)
{
    struct server *s = *state;
    struct client c = ask_and_wait(s, "POST /v1/keyed-wait");
    fixture_sql(s->building, "UPDATE api_key SET revoked_at = 1");
    struct answer a = release_and_read(&c);
    expect_envelope(&a, 401, "INVALID_KEY");
    assert_true(answer_has(&a, "ended while its request ran"));
    answer_done(&a);
    replies_value("GET /v1/read", 0);
}

/* KEY-20 */
static void a_key_that_ends_while_its_request_waits_keeps_results_and_learns_nothing(void **state)
{
    struct server *s = *state;
    struct client c = ask_and_wait(s, "POST /v1/keyed-result");
    fixture_sql(s->building, "UPDATE api_key SET revoked_at = 1");
    struct answer a = release_and_read(&c);
    expect_envelope(&a, 401, "INVALID_KEY");
    answer_done(&a);
    replies_value("GET /v1/read", 1);
}

/* KEY-20 */
static void a_key_that_expires_while_its_request_waits_is_good_to_its_end(void **state)
{
    struct server *s = *state;
    struct client c = ask_and_wait(s, "POST /v1/keyed-wait");
    fixture_sql(s->building,
                arena_printf(&s->building->arena, "UPDATE api_key SET expires_at = %lld", (long long)clock_now_us()).p);
    struct answer a = release_and_read(&c);
    assert_text(a.body, "{\"value\":0}");
    answer_done(&a);
    replies_value("GET /v1/read", 1);
}

static void the_use_of_a_key_is_recorded_to_the_minute(void **state)
{
    struct server *s = *state;
    char bearer[120];
    snprintf(bearer, sizeof bearer, "Authorization: Bearer %s\r\n", s->key);
    assert_int_equal(server_status("GET /v1/keyed", bearer, NULL), 200);
    for (int i = 0; i < 3000; i++) {
        if (fixture_sql(s->building,
                        "SELECT 1 FROM api_key WHERE last_used_at > 0 AND last_used_at % 60000000 = 0")[0] == '1')
            return;
        usleep(10000);
    }
    fail_msg("last_used_at was not written");
}

static void a_key_has_its_own_limit(void **state)
{
    struct server *s = *state;
    char bearer[120];
    snprintf(bearer, sizeof bearer, "Authorization: Bearer %s\r\n", s->key);
    for (int i = 0; i < 10; i++)
        assert_int_equal(server_status("GET /v1/keyed", bearer, NULL), 200);
    struct answer a = server_ask("GET /v1/keyed", bearer, NULL);
    expect_envelope(&a, 429, "RATE_LIMIT_EXCEEDED");
    assert_text(answer_field(a.head, "RateLimit-Remaining"), "0");
    assert_non_null(answer_field(a.head, "Retry-After").p);
    answer_done(&a);
    replies_value("GET /v1/here", 0);
}

static void plain_http_is_refused(void **state)
{
    (void)state;
    struct client c = client_plain(server->port);
    struct answer a = {0};
    client_send(&c, STR("GET /v1/here HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.7\r\n\r\n"));
    assert_true(answer_next(&a, &c));
    expect_envelope(&a, 426, "HTTPS_REQUIRED");
    assert_text(answer_field(a.head, "Upgrade"), "TLS/1.2");
    answer_done(&a);
    client_close(&c);
}

static void too_long_a_body_is_refused_and_names_the_limit(void **state)
{
    (void)state;
    struct answer a = server_ask("POST /v1/write", "Content-Length: 102401\r\n", NULL);
    expect_envelope(&a, 413, "PAYLOAD_TOO_LARGE");
    assert_true(answer_has(&a, "102400"));
    answer_done(&a);
}

/* More requests than workers: running ones end, waiting ones are dropped, and the service can be freed. */
static void the_service_ends_with_blocking_requests_waiting(void **state)
{
    struct server *s = *state;
    struct client clients[40];
    for (size_t i = 0; i < COUNT(clients); i++) {
        clients[i] = client_plain(s->port);
        server_send(&clients[i], "POST /v1/block", "", NULL);
    }
    await_running(32);
    http_server_stop(s->http, 100); /* waits in vain: nothing releases the handlers */
    release_all();
    service_stop(s->service);
    assert_true(gate.ended >= 32 && gate.ended == gate.running);
    for (size_t i = 0; i < COUNT(clients); i++)
        client_close(&clients[i]);
}

#define TESTS(T)                                                                                                       \
    T(a_committed_write_is_seen_by_the_next_read)                                                                      \
    T(a_returned_error_rolls_the_write_back)                                                                           \
    T(a_kept_error_commits_the_write)                                                                                  \
    T(a_request_that_is_not_verified_writes_nothing)                                                                   \
    T(a_commit_is_reported_once_and_a_roll_back_is_not)                                                                \
    T(a_lengthy_read_runs_on_another_thread_than_the_loop)                                                             \
    T(a_blocking_handler_holds_up_no_other_request)                                                                    \
    T(a_blocking_handler_commits_each_of_its_transactions)                                                             \
    T(the_error_of_a_blocking_transaction_is_the_reply)                                                                \
    T(a_failing_store_answers_the_error_of_the_route)                                                                  \
    T(a_handler_without_a_reply_is_an_internal_error)                                                                  \
    T(a_lost_race_runs_the_handler_again)                                                                              \
    T(keys_are_checked_before_read_and_blocking_handlers)                                                              \
    T(a_revoked_key_is_refused_once_the_service_has_heard_of_it)                                                       \
    T(a_key_that_ends_while_its_request_waits_begins_nothing)                                                          \
    T(a_key_that_ends_while_its_request_waits_keeps_results_and_learns_nothing)                                        \
    T(a_key_that_expires_while_its_request_waits_is_good_to_its_end)                                                   \
    T(the_use_of_a_key_is_recorded_to_the_minute)                                                                      \
    T(a_key_has_its_own_limit)                                                                                         \
    T(plain_http_is_refused)                                                                                           \
    T(too_long_a_body_is_refused_and_names_the_limit)                                                                  \
    T(the_service_ends_with_blocking_requests_waiting)

#define ON_SQLITE(test)     cmocka_unit_test_setup_teardown(test, open_sqlite, close_server),
#define ON_POSTGRESQL(test) cmocka_unit_test_setup_teardown(test, open_postgresql, close_server),

int main(void)
{
    const struct CMUnitTest sqlite[] = {TESTS(ON_SQLITE)};
    const struct CMUnitTest postgresql[] = {TESTS(ON_POSTGRESQL)};
    int failed = cmocka_run_group_tests(sqlite, NULL, NULL);
    if (getenv("PORTERO_TEST_DSN"))
        failed += cmocka_run_group_tests(postgresql, store_cluster_start, store_cluster_stop);
    return failed;
}
