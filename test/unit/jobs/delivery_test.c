/* The delivery engine with a real store and TLS receivers in the test. */
#include "net/receiver.h"

#include "base/json.h"
#include "base/metric.h"
#include "domain/building_fixture.h"
#include "domain/delivery.h"
#include "domain/webhook.h"
#include "domain/work.h"
#include "jobs/delivery.h"
#include "jobs/endpoint.h"

#define COUNT(array)  (sizeof(array) / sizeof *(array))
#define PATIENCE_MS   60000 /* a failing test ends by then */
#define RECEIVERS_MAX 8
#define HANGING       3
#define LONG_MS       120000 /* the timeout of attempts that must not time out */

struct fixture {
    struct building_fixture *building;
    struct deliveries *engine;
    struct receiver *receivers[RECEIVERS_MAX];
    size_t receiver_count;
    unsigned endpoints;
};

/* The behaviour of a receiver, and the requests it has received. */
struct script {
    pthread_mutex_t lock; /* of all members */
    struct str says;
    bool hangs, closes;
    char heard[4][4096]; /* the first requests */
    unsigned count;
};

#define OK STR("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

static bool act(struct received *q, void *context)
{
    struct script *s = context;
    pthread_mutex_lock(&s->lock);
    if (s->count < COUNT(s->heard))
        snprintf(s->heard[s->count], sizeof s->heard[0], "%.4000s", q->text);
    s->count++;
    struct str says = s->says;
    bool hangs = s->hangs, closes = s->closes;
    pthread_mutex_unlock(&s->lock);
    bool said = !says.n || received_say(q, says);
    if (hangs)
        received_hang(q);
    return said && !hangs && !closes;
}

/* A receiver's threads outlive the test function, but not its fixture. */
static struct script *script_new(struct fixture *d, struct str says, bool hangs)
{
    struct script *s = arena_new(&d->building->arena, struct script);
    pthread_mutex_init(&s->lock, NULL);
    s->says = says;
    s->hangs = hangs;
    return s;
}

static unsigned count_of(struct script *s)
{
    pthread_mutex_lock(&s->lock);
    unsigned count = s->count;
    pthread_mutex_unlock(&s->lock);
    return count;
}

/* ---- the fixture ---- */

static int set_up_fixture(void **state)
{
    struct fixture *d = calloc(1, sizeof *d);
    if (!d)
        return -1;
    d->building = *state;
    d->building->fixture->config.webhooks_allow_private = true;
    d->building->now_us = clock_now_us();
    *state = d;
    return 0;
}

static int set_up(void **state)
{
    return fixture_open(state) ? -1 : set_up_fixture(state);
}

static int set_up_postgresql(void **state)
{
    return fixture_open_postgresql(state) ? -1 : set_up_fixture(state);
}

static int tear_down(void **state)
{
    struct fixture *d = *state;
    void *building = d->building;
    deliveries_free(d->engine);
    while (d->receiver_count > 0)
        receiver_close(d->receivers[--d->receiver_count]);
    clock_set_offset_s(0);
    free(d);
    return fixture_close(&building);
}

static void start_after(struct fixture *d, long timeout_ms, int64_t hours)
{
    const struct deliveries_options options = {.config = &d->building->fixture->config,
                                               .store = d->building->fixture->store,
                                               .timeout_ms = timeout_ms,
                                               .began_us = clock_monotonic_us() - hours * 3600 * US_PER_S};
    deliveries_free(d->engine);
    assert_int_equal(deliveries_new(&options, &d->engine), ERR_NONE);
    assert_int_equal(deliveries_start(d->engine, NULL), ERR_NONE);
}

static void start(struct fixture *d, long timeout_ms)
{
    start_after(d, timeout_ms, 0);
}

static void drain(struct fixture *d)
{
    assert_true(deliveries_drain(d->engine, PATIENCE_MS));
}

static const char *listen_to(struct fixture *d, struct script *s)
{
    struct receiver *r = receiver_open(true, act, s);
    assert_true(d->receiver_count < RECEIVERS_MAX);
    d->receivers[d->receiver_count++] = r;
    return r->url;
}

struct endpoint {
    struct id id;
    struct str secret;
    const char *url, *key;
};

static enum err create_run(struct tx *tx, void *arg)
{
    static const unsigned char hash[SHA256_LEN];
    struct endpoint *e = arg;
    struct webhook w;
    bool replayed;
    const struct id account = {"6b018c4a45a00d327e000001"};
    const struct webhook_request request = {.account = &account, .key = str_z(e->key), .hash = hash};
    enum err result = webhook_create(tx, &request, str_z(e->url), 31, &w, &e->secret, &replayed);
    e->id = w.id;
    return result;
}

static struct endpoint add_endpoint(struct fixture *d, const char *url)
{
    struct endpoint e = {.url = url};
    assert_int_equal(fixture_run(d->building, STORE_WRITE, create_run, &e), ERR_NONE);
    return e;
}

struct queue {
    const struct endpoint *endpoint;
    int count;
};

static enum err queue_run(struct tx *tx, void *arg)
{
    const struct queue *q = arg;
    const struct id account = {"6b018c4a45a00d327e000001"};
    struct id delivery;
    enum err e = ERR_NONE;
    for (int i = 0; !e && i < q->count; i++)
        e = webhook_test(tx, &account, &q->endpoint->id, &delivery);
    return e;
}

static void queue(struct fixture *d, const struct endpoint *e, int count)
{
    d->building->now_us = clock_now_us();
    assert_int_equal(fixture_run(d->building, STORE_WRITE, queue_run, &(struct queue){e, count}), ERR_NONE);
}

/* Expects rows of status, attempts, status code, failure and their count. */
static void are_now(struct fixture *d, const char *wanted)
{
    fixture_expect(d->building,
                   "SELECT status, attempts, status_code, failure, count(*) FROM delivery "
                   "GROUP BY status, attempts, status_code, failure ORDER BY 1, 2, 3, 4",
                   wanted);
}

/* Sends one delivery to a receiver with that script. */
static void deliver(struct fixture *d, struct script *s, long timeout_ms)
{
    struct endpoint e = add_endpoint(d, listen_to(d, s));
    start(d, timeout_ms);
    queue(d, &e, 1);
    drain(d);
}

/* ---- the request ---- */

static void test_a_delivery_is_sent_as_the_contract_says(void **state)
{
    struct fixture *d = *state;
    struct script *s = script_new(d, OK, false);
    unsigned char mac[SHA256_LEN];
    char hex[2 * SHA256_LEN + 1];
    struct endpoint e = add_endpoint(d, arena_printf(&d->building->arena, "%s/hook?a=b", listen_to(d, s)).p);
    start(d, LONG_MS);
    queue(d, &e, 1);
    drain(d);

    const char *heard = s->heard[0], *body = strstr(heard, "\r\n\r\n") + 4;
    struct received q = {.n = strlen(heard)};
    memcpy(q.text, heard, q.n + 1);
    assert_int_equal(strncmp(heard, "POST /hook?a=b HTTP/1.1\r\n", 25), 0);
    assert_true(str_eq(received_field(&q, "\r\nContent-Type: "), STR("application/json")));
    assert_true(str_eq(received_field(&q, "\r\nUser-Agent: "), STR("Portero/" PORTERO_VERSION)));
    assert_null(received_field(&q, "\r\nExpect:").p);
    assert_null(received_field(&q, "\r\nCookie:").p);

    struct str v1, signature = received_field(&q, "\r\nService-Signature: ");
    struct str t = str_cut(signature, ',', &v1);
    assert_true(str_starts(t, STR("t=")) && str_starts(v1, STR("v1=")));
    struct str text = arena_printf(&d->building->arena, "%.*s.%s", STR_ARG(str_from(t, 2)), body);
    crypto_hmac_sha256(e.secret, text, mac);
    hex_encode(mac, sizeof mac, hex);
    assert_true(str_eq(str_from(v1, 3), str_z(hex)));
    assert_in_range(strtoll(t.p + 2, NULL, 10), clock_real_us() / US_PER_S - 60, clock_real_us() / US_PER_S);

    json_t *json;
    assert_int_equal(json_read(str_z(body), &json), ERR_NONE);
    assert_int_equal(json_object_size(json), 5);
    assert_int_equal(strncmp(json_string_value(json_object_get(json, "id")), "evt_", 4), 0);
    assert_string_equal(json_string_value(json_object_get(json, "type")), "webhook.test");
    assert_string_equal(json_string_value(json_object_get(json, "api_version")), "v1");
    assert_int_equal(json_string_length(json_object_get(json, "created_at")), 24);
    assert_int_equal(json_object_size(json_object_get(json, "data")), 0);
    json_decref(json);
    are_now(d, "delivered|1|200||1\n");
}

static void test_many_are_delivered_once_each_over_kept_connections(void **state)
{
    struct fixture *d = *state;
    struct script *s[2];
    struct endpoint e[2];
    start(d, LONG_MS);
    for (size_t i = 0; i < COUNT(e); i++) {
        s[i] = script_new(d, OK, false);
        e[i] = add_endpoint(d, listen_to(d, s[i]));
        queue(d, &e[i], 300);
    }
    drain(d);
    are_now(d, "delivered|1|200||600\n");
    for (size_t i = 0; i < COUNT(e); i++) {
        assert_int_equal(count_of(s[i]), 300);
        assert_true(d->receivers[i]->connections <= 150); /* 32 at once, and new ones after a pause of the machine */
    }
}

/* ---- responses ---- */

static void test_the_status_of_the_response_decides(void **state)
{
    static const struct {
        const char *says, *now;
    } cases[] = {
        {"HTTP/1.1 204 No Content\r\n\r\n", "delivered|1|204||1\n"},
        {"HTTP/1.1 299 Odd\r\nContent-Length: 0\r\n\r\n", "delivered|1|299||1\n"},
        {"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "delivered|1|200||1\n"},
        {"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n", "pending|1|302|status|1\n"},
        {"HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n", "pending|1|410|status|1\n"},
        {"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", "pending|1|500|status|1\n"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\ncut", "delivered|1|200||1\n"},
        {"HTTP/1.1 200 OK\r\nContent-Le", "pending|1||broken|1\n"},
        {"220 mail.example.com ESMTP\r\n", "pending|1||broken|1\n"},
        {"", "pending|1||broken|1\n"},
    };
    struct fixture *d = *state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct script *s = script_new(d, str_z(cases[i].says), false);
        s->closes = true;
        deliver(d, s, LONG_MS);
        assert_int_equal(count_of(s), 1);
        are_now(d, cases[i].now);
        deliveries_free(d->engine);
        d->engine = NULL;
        receiver_close(d->receivers[--d->receiver_count]);
        fixture_sql(d->building, "DELETE FROM delivery");
        fixture_sql(d->building, "DELETE FROM webhook");
    }
}

static bool pour(struct received *q, void *context)
{
    static const char much[65536];
    _Atomic uint64_t *poured = context;
    if (!received_say(q, STR("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")))
        return false;
    while (received_say(q, str_n(much, sizeof much)))
        *poured += sizeof much;
    return false;
}

static void test_an_endless_response_is_aborted(void **state)
{
    struct fixture *d = *state;
    _Atomic uint64_t poured = 0;
    struct receiver *r = receiver_open(true, pour, &poured);
    struct endpoint e = add_endpoint(d, r->url);
    start(d, LONG_MS);
    queue(d, &e, 1);
    drain(d);
    are_now(d, "delivered|1|200||1\n");
    deliveries_stop(d->engine);
    receiver_close(r);
    assert_true(poured < 100000000);
}

/* WEBHOOK-22 */
static void test_an_endless_header_is_a_failure(void **state)
{
    struct fixture *d = *state;
    struct buf says = BUF(1 << 20);
    buf_lit(&says, "HTTP/1.1 200 OK\r\n");
    for (int i = 0; i < 10000; i++)
        buf_lit(&says, "X-Filler: xxxxxxxxxxxxxxxx\r\n");
    struct script *s = script_new(d, arena_str(&d->building->arena, buf_view(&says)), false);
    s->closes = true;
    deliver(d, s, LONG_MS);
    are_now(d, "pending|1||broken|1\n");
    buf_done(&says);
}

/* WEBHOOK-22 */
static void test_the_status_counts_though_the_body_never_ends(void **state)
{
    struct fixture *d = *state;
    struct script *s = script_new(d, STR("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n"), true);
    deliver(d, s, 3000);
    are_now(d, "delivered|1|200||1\n");
}

/* WEBHOOK-21 */
static void test_a_timeout_is_a_failure(void **state)
{
    struct fixture *d = *state;
    struct script *s = script_new(d, STR_NONE, true);
    deliver(d, s, 1000);
    are_now(d, "pending|1||timeout|1\n");
}

/* ---- receivers that cannot be reached ---- */

static void cannot_reach(struct fixture *d, const char *url, const char *now)
{
    struct endpoint e = add_endpoint(d, url);
    start(d, LONG_MS);
    queue(d, &e, 1);
    drain(d);
    are_now(d, now);
}

static void test_a_closed_port_is_a_failure(void **state)
{
    cannot_reach(*state, "https://127.0.0.1:1/", "pending|1||connect|1\n");
}

static void test_a_name_without_an_address_is_a_failure(void **state)
{
    cannot_reach(*state, "https://no-such-host.invalid/", "pending|1||resolve|1\n");
}

static void test_only_https_is_used(void **state)
{
    cannot_reach(*state, "http://127.0.0.1:1/", "pending|1||url|1\n");
}

static void test_a_private_address_is_never_connected_to(void **state)
{
    struct fixture *d = *state;
    struct script *s = script_new(d, OK, false);
    d->building->fixture->config.webhooks_allow_private = false;
    deliver(d, s, LONG_MS);
    are_now(d, "pending|1||address|1\n");
    assert_int_equal(d->receivers[0]->connections, 0);
    struct endpoint e =
        add_endpoint(d, arena_printf(&d->building->arena, "https://localhost%s", strrchr(d->receivers[0]->url, ':')).p);
    queue(d, &e, 1);
    drain(d);
    are_now(d, "pending|1||address|2\n");
    assert_int_equal(d->receivers[0]->connections, 0);
}

/* WEBHOOK-21 */
static void test_a_certificate_is_checked(void **state)
{
    struct fixture *d = *state;
    struct script *s = script_new(d, OK, false);
    d->building->fixture->config.webhooks_verify_tls = true;
    deliver(d, s, LONG_MS);
    are_now(d, "pending|1||tls|1\n");
    assert_int_equal(count_of(s), 0);
}

/* ---- repeating ---- */

static void test_a_failed_delivery_is_repeated_with_the_same_event_and_then_fails(void **state)
{
    static const int64_t pauses_s[] = {60, 300, 1800, 7200};
    struct fixture *d = *state;
    struct script *s = script_new(d, STR("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"), false);
    deliver(d, s, LONG_MS);
    for (unsigned i = 0; i < COUNT(pauses_s); i++) {
        assert_int_equal(count_of(s), i + 1);
        clock_set_offset_s(clock_offset_s() + pauses_s[i] - 30);
        drain(d);
        assert_int_equal(count_of(s), i + 1);
        clock_set_offset_s(clock_offset_s() + 31);
        drain(d);
    }
    are_now(d, "failed|5|503|status|1\n");
    clock_set_offset_s(clock_offset_s() + 86400);
    drain(d);
    assert_int_equal(count_of(s), 5);
    for (unsigned i = 1; i < COUNT(s->heard); i++)
        assert_string_equal(strstr(s->heard[i], "\r\n\r\n"), strstr(s->heard[0], "\r\n\r\n"));
}

/* Ten deliveries that are due for four days: a failure of one ends all that have not begun, unless the service was
 * away. */
/* WEBHOOK-29 */
static void test_deliveries_of_an_endpoint_that_fails_are_given_up_when_they_are_late(void **state)
{
    static const struct {
        bool production;
        int64_t hours; /* that the process has run */
        bool given_up;
    } table[] = {{true, 4, true}, {true, 2, false}, {false, 4, false}};
    struct fixture *d = *state;
    for (size_t i = 0; i < COUNT(table); i++) {
        struct script *s = script_new(d, STR("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"), false);
        struct endpoint e = add_endpoint(d, listen_to(d, s));
        int64_t given_up = metric_get(metrics.deliveries_given_up);
        d->building->fixture->config.production = table[i].production;
        queue(d, &e, 10);
        clock_set_offset_s(clock_offset_s() + 4 * 86400);
        start_after(d, LONG_MS, table[i].hours);
        drain(d);
        deliveries_free(d->engine);
        d->engine = NULL;
        given_up = metric_get(metrics.deliveries_given_up) - given_up;
        assert_int_equal(given_up > 0, table[i].given_up);
        assert_true(given_up || count_of(s) == 10);
        fixture_expect(d->building,
                       "SELECT count(CASE WHEN status = 'failed' AND attempts = 0 THEN 1 END),"
                       " count(CASE WHEN status = 'pending' AND attempts = 0 THEN 1 END) FROM delivery",
                       arena_printf(&d->building->arena, "%lld|0\n", (long long)given_up).p);
        fixture_sql(d->building, "DELETE FROM delivery");
    }
}

/* The service runs with another master key for a while. */
/* WEBHOOK-26 */
static void test_a_delivery_waits_until_its_secret_can_be_decrypted(void **state)
{
    struct fixture *d = *state;
    struct script *s = script_new(d, OK, false);
    struct endpoint e = add_endpoint(d, listen_to(d, s));
    fixture_sql(d->building, d->building->fixture->config.engine == ENGINE_SQLITE
                                 ? "UPDATE webhook SET request_hash = secret, secret = X'00'"
                                 : "UPDATE webhook SET request_hash = secret, secret = '\\x00'");
    start(d, LONG_MS);
    queue(d, &e, 1);
    drain(d);
    are_now(d, "pending|1||secret|1\n");
    assert_int_equal(count_of(s), 0);
    fixture_sql(d->building, "UPDATE webhook SET secret = request_hash");
    clock_set_offset_s(clock_offset_s() + 61);
    drain(d);
    are_now(d, "delivered|2|200||1\n");
    assert_int_equal(count_of(s), 1);
}

static void test_a_deleted_event_cannot_be_sent(void **state)
{
    struct fixture *d = *state;
    struct endpoint e = add_endpoint(d, "https://127.0.0.1:1/");
    queue(d, &e, 1);
    fixture_sql(d->building, "DELETE FROM event");
    start(d, LONG_MS);
    drain(d);
    are_now(d, "pending|1||gone|1\n");
}

static void wait_for_requests(struct script *s, unsigned count)
{
    for (int i = 0; i < PATIENCE_MS && count_of(s) < count; i++)
        usleep(1000);
    assert_true(count_of(s) >= count);
}

/* WEBHOOK-24 */
static void test_a_request_in_progress_at_the_stop_is_sent_again_after_a_start(void **state)
{
    struct fixture *d = *state;
    struct script *s = script_new(d, STR_NONE, true);
    struct endpoint e = add_endpoint(d, listen_to(d, s));
    start(d, LONG_MS);
    queue(d, &e, 1);
    deliveries_kick(d->engine);
    wait_for_requests(s, 1);
    deliveries_free(d->engine);
    d->engine = NULL;
    are_now(d, "pending|0|||1\n");
    fixture_sql(d->building, "UPDATE delivery SET leased_until = 0"); /* with a shared store, a minute has passed */
    fixture_sql(d->building, "UPDATE delivery_lane SET due_at = 1");
    pthread_mutex_lock(&s->lock);
    s->hangs = false;
    s->says = OK;
    pthread_mutex_unlock(&s->lock);
    start(d, LONG_MS);
    drain(d);
    are_now(d, "delivered|1|200||1\n");
    assert_string_equal(strstr(s->heard[0], "\r\n\r\n"), strstr(s->heard[1], "\r\n\r\n"));
}

static void test_a_delivery_canceled_while_it_is_sent_stays_canceled(void **state)
{
    struct fixture *d = *state;
    struct script *s = script_new(d, STR_NONE, true);
    struct endpoint e = add_endpoint(d, listen_to(d, s));
    start(d, 3000);
    queue(d, &e, 1);
    deliveries_kick(d->engine);
    wait_for_requests(s, 1);
    fixture_sql(d->building, "UPDATE delivery SET status = 'canceled'");
    drain(d);
    are_now(d, "canceled|0|||1\n");
}

/* ---- many endpoints ---- */

static void test_endpoints_that_hang_do_not_hold_up_the_others(void **state)
{
    struct fixture *d = *state;
    struct script *good[3];
    for (size_t i = 0; i < HANGING; i++) {
        struct endpoint e = add_endpoint(d, listen_to(d, script_new(d, STR_NONE, true)));
        queue(d, &e, 1000);
        if (i == 1)
            /* an account has five at most */
            fixture_sql(d->building, "UPDATE webhook SET account_id = '6b018c4a45a00d327e000002'");
    }
    for (size_t i = 0; i < COUNT(good); i++) {
        good[i] = script_new(d, OK, false);
        struct endpoint e = add_endpoint(d, listen_to(d, good[i]));
        queue(d, &e, 100);
    }
    start(d, LONG_MS); /* so that no hanging request ends before the test */
    for (size_t i = 0; i < COUNT(good); i++)
        wait_for_requests(good[i], 100);
    for (size_t i = 0; i < HANGING; i++)
        assert_in_range(d->receivers[i]->requests, 1, 32);
    assert_false(deliveries_drain(d->engine, 1));
}

/* Copies the only endpoint with deliveries, its event and its delivery `count` times for another account, which then
 * has them alone. */
static void copy_for_another(struct fixture *d, int count)
{
    static const char *const copies[] = {
        "INSERT INTO event (account_id, id, type, created_at, data) "
        "SELECT '6b018c4a45a00d327e000002', id, type, created_at, data FROM event",
        "INSERT INTO webhook (account_id, id, created_at, url, events, secret) "
        "WITH RECURSIVE n(i) AS (SELECT 100001 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
        "SELECT '6b018c4a45a00d327e000002', '6b018c4a45a00d327e' || i, created_at, url, events, secret FROM webhook, n "
        "WHERE id IN (SELECT webhook_id FROM delivery)",
        "INSERT INTO delivery (webhook_id, id, account_id, event_id, created_at, due_at) "
        "SELECT w.id, d.id, w.account_id, d.event_id, d.created_at, d.due_at FROM delivery d, webhook w "
        "WHERE w.account_id <> d.account_id",
        "DELETE FROM delivery WHERE account_id <> '6b018c4a45a00d327e000002'",
        "DELETE FROM delivery_lane",
        "INSERT INTO delivery_lane (webhook_id, due_at) SELECT webhook_id, due_at FROM delivery",
    };
    for (size_t i = 0; i < COUNT(copies); i++)
        fixture_sql(d->building, arena_printf(&d->building->arena, copies[i], 100000 + count).p);
}

/* More endpoints than there are attempts at once, as an account can have with many buildings. */
/* WEBHOOK-28 */
static void test_an_account_whose_endpoints_hang_does_not_hold_up_the_others(void **state)
{
    struct fixture *d = *state;
    const unsigned share = ENDPOINTS_ACTIVE_MAX / ENDPOINTS_ACCOUNT;
    struct script *hanging = script_new(d, STR_NONE, true), *good = script_new(d, OK, false);
    struct endpoint e = add_endpoint(d, listen_to(d, hanging));
    queue(d, &e, 1);
    copy_for_another(d, ENDPOINTS_ACTIVE_MAX);
    start(d, LONG_MS); /* so that no hanging request ends before the test */
    wait_for_requests(hanging, share);
    e = add_endpoint(d, listen_to(d, good));
    queue(d, &e, 10);
    deliveries_kick(d->engine);
    wait_for_requests(good, 10);
    assert_int_equal(count_of(hanging), share);
}

static void test_a_kick_is_enough(void **state)
{
    struct fixture *d = *state;
    struct script *s = script_new(d, OK, false);
    struct endpoint e = add_endpoint(d, listen_to(d, s));
    start(d, LONG_MS);
    drain(d);
    queue(d, &e, 1);
    deliveries_kick(d->engine);
    wait_for_requests(s, 1);
}

#define WRITERS 3
#define WRITTEN 60 /* by each */

struct writer {
    struct store_fixture *fixture;
    struct queue queue;
};

static void *write_on(void *arg)
{
    struct writer *w = arg;
    struct arena arena;
    intptr_t failed = 0;
    struct work work = {.store = w->fixture->store, .config = &w->fixture->config, .arena = &arena};
    arena_init(&arena, NULL, 0);
    for (int i = 0; i < WRITTEN; i++)
        failed += work_write(&work, queue_run, &w->queue) != 0;
    arena_done(&arena);
    return (void *)failed;
}

static void kick(void *context, unsigned topics, const struct store_fed *fed)
{
    struct fixture *d = context;
    (void)fed;
    if (topics & TOPIC_DELIVERIES)
        deliveries_kick(d->engine);
}

static void test_events_added_during_a_look_are_all_delivered(void **state)
{
    struct fixture *d = *state;
    struct script *s = script_new(d, OK, false);
    struct endpoint e = add_endpoint(d, listen_to(d, s));
    struct writer w = {d->building->fixture, {&e, 1}};
    pthread_t writers[WRITERS];
    start(d, LONG_MS);
    store_listen(d->building->fixture->store, kick, d);
    for (size_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&writers[i], NULL, write_on, &w), 0);
    for (size_t i = 0; i < WRITERS; i++) {
        void *failed;
        pthread_join(writers[i], &failed);
        assert_null(failed);
    }
    drain(d);
    store_listen(d->building->fixture->store, NULL, NULL);
    are_now(d, "delivered|1|200||180\n");
}

/* ---- an event during a take ---- */

struct race {
    struct writer writer;
    struct delivery_take take;
    bool written;
};

static void *write_one(void *arg)
{
    struct writer *w = arg;
    struct arena arena;
    struct work work = {.store = w->fixture->store, .config = &w->fixture->config, .arena = &arena};
    arena_init(&arena, NULL, 0);
    enum err e = work_write(&work, queue_run, &w->queue);
    arena_done(&arena);
    return e ? arg : NULL;
}

/* Takes a snapshot, has another transaction commit an event, and then takes the due deliveries. */
static enum err take_run(struct tx *tx, void *arg)
{
    struct race *r = arg;
    pthread_t writer;
    void *failed = NULL;
    CURSOR c;
    enum err e = db_one(tx->db, SQL(job_next), &c);
    if (e && e != ERR_NOT_FOUND)
        return e;
    if (!r->written &&
        (pthread_create(&writer, NULL, write_one, &r->writer) || pthread_join(writer, &failed) || failed))
        return ERR_INTERNAL_ERROR;
    r->written = true;
    r->take = (struct delivery_take){
        .leases = true, .writing = true, .lane_room = 4, .room = 4, .slow_room = 4, .account_max = 4};
    return delivery_take(tx, &r->take);
}

static void test_an_event_committed_during_a_take_is_due_at_once(void **state)
{
    struct fixture *d = *state;
    struct endpoint e = add_endpoint(d, "https://receiver.example");
    struct race r = {.writer = {d->building->fixture, {&e, 1}}};
    queue(d, &e, 1);
    d->building->now_us = clock_now_us() + US_PER_S;
    assert_int_equal(fixture_run(d->building, STORE_WRITE, take_run, &r), ERR_NONE);
    size_t taken = r.take.count;
    assert_int_equal(fixture_run(d->building, STORE_WRITE, take_run, &r), ERR_NONE);
    assert_int_equal(taken + r.take.count, 2);
}

/* SANDBOX-10 */
static void test_a_drain_without_deliveries_returns_at_once(void **state)
{
    struct fixture *d = *state;
    start(d, LONG_MS);
    drain(d);
    drain(d);
    deliveries_stop(d->engine);
    deliveries_stop(d->engine);
}

#define TESTS(x)                                                                                                       \
    x(test_a_delivery_is_sent_as_the_contract_says), x(test_many_are_delivered_once_each_over_kept_connections),       \
        x(test_the_status_of_the_response_decides), x(test_an_endless_response_is_aborted),                            \
        x(test_an_endless_header_is_a_failure), x(test_the_status_counts_though_the_body_never_ends),                  \
        x(test_a_timeout_is_a_failure), x(test_a_closed_port_is_a_failure),                                            \
        x(test_a_name_without_an_address_is_a_failure), x(test_only_https_is_used),                                    \
        x(test_a_private_address_is_never_connected_to), x(test_a_certificate_is_checked),                             \
        x(test_a_failed_delivery_is_repeated_with_the_same_event_and_then_fails),                                      \
        x(test_deliveries_of_an_endpoint_that_fails_are_given_up_when_they_are_late),                                  \
        x(test_a_delivery_waits_until_its_secret_can_be_decrypted), x(test_a_deleted_event_cannot_be_sent),            \
        x(test_a_request_in_progress_at_the_stop_is_sent_again_after_a_start),                                         \
        x(test_a_delivery_canceled_while_it_is_sent_stays_canceled),                                                   \
        x(test_endpoints_that_hang_do_not_hold_up_the_others),                                                         \
        x(test_an_account_whose_endpoints_hang_does_not_hold_up_the_others), x(test_a_kick_is_enough),                 \
        x(test_events_added_during_a_look_are_all_delivered), x(test_a_drain_without_deliveries_returns_at_once)

#define SQLITE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define POSTGRESQL(name)                                                                                               \
    {                                                                                                                  \
#name " on postgresql", name, set_up_postgresql, tear_down, NULL                                               \
    }

int main(void)
{
    const struct CMUnitTest sqlite[] = {TESTS(SQLITE)};
    const struct CMUnitTest postgresql[] = {TESTS(POSTGRESQL),
                                            POSTGRESQL(test_an_event_committed_during_a_take_is_due_at_once)};
    int failed = cmocka_run_group_tests(sqlite, NULL, NULL);
    return failed + cmocka_run_group_tests(postgresql, store_cluster_start, store_cluster_stop);
}
