/* Webhook deliveries, with the store, the engine and the receivers on this machine.
 *
 * rate: 4,000 waiting deliveries to 45 receivers, compared with a bare libcurl multi program that sends the same
 * requests.
 *
 * hanging: 1,000 events to 50 receivers of which 5 never answer, compared with 900 events to the 45 that do.
 *
 * latency: from an event's creation, before its commit, to the receiver, at 250 events a second.
 *
 * door: a call's decision while 10,000 deliveries wait for receivers that hang, compared with no deliveries; and while
 * deliveries are sent.
 *
 * waiting: CPU of an event while 20,000 endpoints wait for a retry, compared with no such endpoints.
 *
 * usage: bench_deliveries [rate|hanging|latency|waiting|door]; prints a line for each. */
#include <curl/curl.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include "base/crypto.h"
#include "domain/access.h"
#include "domain/event.h"
#include "domain/webhook.h"
#include "domain/work.h"
#include "jobs/delivery.h"
#include "receivers.h"
#include "sized.h"

#define GOOD          45
#define HANGING       5
#define MANY          10000
#define RATED         4000
#define ROUNDS        3
#define PAIRS         9
#define AT_ONCE       100 /* requests of the bare program in progress */
#define PACED         1000
#define PACE_US       4000
#define WAITING       20000
#define PACED_WAITING 250
#define DECISIONS     300
#define DECIDE_US     3000
#define BATCH         500
#define NUMBER        "+15550100001"
#define PATIENCE_S    60

struct bench {
    char dir[32];
    struct config *config;
    struct store *store;
    struct deliveries *engine;
    struct receivers receivers;
    struct id account, endpoints[GOOD + HANGING];
};

static void fail(const char *what)
{
    fprintf(stderr, "bench_deliveries: %s\n", what);
    exit(1);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double percentile(double *values, size_t n, double p)
{
    qsort(values, n, sizeof *values, ascending);
    return values[(size_t)((double)(n - 1) * p)];
}

static double seconds_since(int64_t from_us)
{
    return (double)(clock_monotonic_us() - from_us) / 1e6;
}

/* ---- the store ---- */

static void sql(const struct bench *b, const char *text)
{
    char path[64], *why = NULL;
    sqlite3 *db;
    snprintf(path, sizeof path, "%s/portero.db", b->dir);
    if (sqlite3_open(path, &db) || sqlite3_busy_timeout(db, 10000) || sqlite3_exec(db, text, NULL, NULL, &why))
        fail(why ? why : "cannot open the store");
    sqlite3_close(db);
}

static void transact(const struct bench *b, enum err (*run)(struct tx *tx, void *arg), void *arg)
{
    struct arena a;
    struct work work = {.store = b->store, .config = b->config, .arena = &a};
    arena_init(&a, NULL, 0);
    enum err e = work_write(&work, run, arg);
    if (e)
        fail(err_info(e)->code);
    arena_done(&a);
}

/* A door with a timer that opens it, and endpoints: GOOD ones, then HANGING ones. */
static void seed(struct bench *b)
{
    struct arena a;
    struct buf text = BUF(1 << 20);
    char hex[400];
    arena_init(&a, NULL, 0);
    b->account = id_new(clock_now_us());
    struct id building = id_new(clock_now_us());
    buf_printf(&text,
               "INSERT INTO account (id, email, created_at, plan, subscription_status) VALUES ('%s', 'a@example.com', "
               "0, 'weekly', 'active'); INSERT INTO building (account_id, id, created_at, is_primary, label, "
               "virtual_number, unlock_tone) VALUES ('%s', '%s', 0, 1, 'Home', '" NUMBER "', '9'); "
               "INSERT INTO grant_building (id, number) VALUES ('%s', 1); "
               "INSERT INTO access_grant (building, id, type, label, enabled, version, created_at, starts_at, "
               "ends_at) VALUES (1, x'%s', 0, 'Visitor', 1, 0, 0, 0, 9223372036854775807);",
               b->account.text, b->account.text, building.text, building.text, building.text);
    for (int i = 0; i < GOOD + HANGING; i++) {
        struct str sealed =
            crypto_seal(MASTER_CURRENT, WEBHOOK_PURPOSE, STR("whsec_0123456789012345678901234567890123456789012"), &a);
        hex_encode(sealed.p, sealed.n, hex);
        b->endpoints[i] = id_new(clock_now_us());
        buf_printf(&text,
                   "INSERT INTO webhook (account_id, id, created_at, url, events, secret) VALUES ('%s%02d', '%s', 0, "
                   "'https://127.0.0.%d:%d/%s', 31, X'%s');",
                   "0000000000000000000000", i, b->endpoints[i].text, i + 2, b->receivers.port,
                   i < GOOD ? "hook" : "hang", hex);
    }
    buf_char(&text, '\0');
    sql(b, text.p);
    buf_done(&text);
    arena_done(&a);
}

struct queue {
    const struct bench *bench;
    int first, endpoints; /* the endpoints, in turn */
    int from, to;
};

static enum err queue_run(struct tx *tx, void *arg)
{
    const struct queue *q = arg;
    enum err e = ERR_NONE;
    struct id delivery;
    const struct event_data data = {.building_id = v_str(id_str(&q->bench->account)),
                                    .building_label = v_str(STR("Home")),
                                    .occurred_at = v_time(tx->now_us)};
    for (int i = q->from; !e && i < q->to; i++)
        e = event_write_to(tx, EVENT_ACCESS_DENIED, &q->bench->account,
                           &q->bench->endpoints[q->first + i % q->endpoints], &data, &delivery);
    return e;
}

static void queue(const struct bench *b, int first, int endpoints, int count)
{
    for (int from = 0; from < count; from += BATCH) {
        int to = from + BATCH < count ? from + BATCH : count;
        transact(b, queue_run, &(struct queue){b, first, endpoints, from, to});
    }
}

static void on_commit(void *context, unsigned topics, const struct store_fed *fed)
{
    struct bench *b = context;
    (void)fed;
    if (topics & TOPIC_DELIVERIES && b->engine)
        deliveries_kick(b->engine);
}

/* ---- the engine ---- */

static void start(struct bench *b)
{
    const struct deliveries_options options = {
        .config = b->config, .store = b->store, .began_us = clock_monotonic_us()};
    struct deliveries *engine;
    b->receivers.heard->count = b->receivers.heard->hanging = 0;
    if (deliveries_new(&options, &engine) || deliveries_start(engine, NULL))
        fail("the engine does not start");
    b->engine = engine;
}

static void stop(struct bench *b)
{
    struct deliveries *engine = b->engine;
    deliveries_stop(engine);
    b->engine = NULL;
    deliveries_free(engine);
    sql(b, "DELETE FROM delivery; DELETE FROM event; DELETE FROM delivery_lane;");
}

static void wait_for(const struct bench *b, int64_t count)
{
    for (int64_t from_us = clock_monotonic_us(); b->receivers.heard->count < count; usleep(1000))
        if (seconds_since(from_us) > PATIENCE_S)
            fail("deliveries do not arrive");
}

static double cpu_us(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Deliveries a second, until all that are answered have arrived. Adds their CPU time to *cpu. */
static double measure(struct bench *b, int endpoints, int count, int answered, double *cpu)
{
    queue(b, 0, endpoints, count);
    *cpu -= cpu_us();
    int64_t from_us = clock_monotonic_us();
    start(b);
    wait_for(b, answered);
    double rate = answered / seconds_since(from_us);
    *cpu += cpu_us();
    stop(b);
    return rate;
}

/* ---- the bare program ---- */

static const char bare_body[] =
    "{\"id\":\"evt_0123456789abcdef01234567\",\"type\":\"access.denied\",\"created_at\":\"2026-11-20T09:30:00.000Z\","
    "\"api_version\":\"v1\",\"data\":{\"building_id\":\"0123456789abcdef01234567\",\"building_label\":\"Home\","
    "\"occurred_at\":\"2026-11-20T09:30:00.000Z\"}}";

static size_t bare_skip(char *p, size_t size, size_t count, void *arg)
{
    (void)p, (void)arg;
    return size * count;
}

static void bare_begin(const struct bench *b, CURLM *multi, CURL *c, int number)
{
    char url[64];
    snprintf(url, sizeof url, "https://127.0.0.%d:%d/hook", 2 + number % GOOD, b->receivers.port);
    curl_easy_setopt(c, CURLOPT_URL, url);
    curl_multi_add_handle(multi, c);
}

static CURL *bare_handle(struct curl_slist *headers)
{
    CURL *c = curl_easy_init();
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(c, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(c, CURLOPT_SSL_VERIFYHOST, 0L);
    curl_easy_setopt(c, CURLOPT_POSTFIELDS, bare_body);
    curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, bare_skip);
    curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, 5000L);
    return c;
}

static double bare(const struct bench *b, int count)
{
    CURLM *multi = curl_multi_init();
    CURL *handles[AT_ONCE];
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    int begun = 0, ended = 0, running, left;
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 1024L);
    int64_t from_us = clock_monotonic_us();
    for (int i = 0; i < AT_ONCE; i++)
        bare_begin(b, multi, handles[i] = bare_handle(headers), begun++);
    while (ended < count) {
        CURLMsg *m;
        curl_multi_perform(multi, &running);
        while ((m = curl_multi_info_read(multi, &left))) {
            CURL *c = m->easy_handle;
            if (m->data.result)
                fail(curl_easy_strerror(m->data.result));
            curl_multi_remove_handle(multi, c);
            ended++;
            if (begun < count)
                bare_begin(b, multi, c, begun++);
        }
        curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
    double rate = count / seconds_since(from_us);
    for (int i = 0; i < AT_ONCE; i++)
        curl_easy_cleanup(handles[i]);
    curl_multi_cleanup(multi);
    curl_slist_free_all(headers);
    return rate;
}

/* ---- the measurements ---- */

static void measure_rate(struct bench *b)
{
    double mine[ROUNDS], theirs[ROUNDS], mine_us = 0, theirs_us = 0;
    const int rounds = sized(ROUNDS, 1), rated = sized(RATED, 2 * AT_ONCE);
    for (int i = 0; i < rounds; i++) {
        theirs_us -= cpu_us();
        theirs[i] = bare(b, rated);
        theirs_us += cpu_us();
        mine[i] = measure(b, GOOD, rated, rated, &mine_us);
    }
    double rate = percentile(mine, (size_t)rounds, 0.5), limit = percentile(theirs, (size_t)rounds, 0.5);
    printf("rate: %.0f deliveries/s, bare libcurl multi %.0f/s, ratio %.2f; CPU for one %.0f us, bare %.0f us\n", rate,
           limit, rate / limit, mine_us / rounds / rated, theirs_us / rounds / rated);
}

static void measure_hanging(struct bench *b)
{
    double with[PAIRS], without[PAIRS], ratio[PAIRS], cpu = 0;
    const int pairs = sized(PAIRS, 2), each = sized(20, 1);
    const int all = each * (GOOD + HANGING), answered = each * GOOD;
    for (int i = 0; i < pairs; i++) {
        if (i % 2)
            with[i] = measure(b, GOOD + HANGING, all, answered, &cpu);
        without[i] = measure(b, GOOD, answered, answered, &cpu);
        if (i % 2 == 0)
            with[i] = measure(b, GOOD + HANGING, all, answered, &cpu);
        ratio[i] = with[i] / without[i];
    }
    printf("hanging: %.0f deliveries/s, without those that hang %.0f/s, ratio %.2f\n",
           percentile(with, (size_t)pairs, 0.5), percentile(without, (size_t)pairs, 0.5),
           percentile(ratio, (size_t)pairs, 0.5));
}

static void measure_latency(struct bench *b)
{
    static double ms[PACED];
    const int paced = sized(PACED, 20);
    start(b);
    for (int i = 0; i < paced; i++) {
        transact(b, queue_run, &(struct queue){b, 0, GOOD, i, i + 1});
        usleep(PACE_US);
    }
    wait_for(b, paced);
    for (int i = 0; i < paced; i++)
        ms[i] = (double)b->receivers.heard->latency_us[i] / 1000;
    printf("latency: %d events, p50 %.2f ms, p99 %.2f ms\n", paced, percentile(ms, (size_t)paced, 0.5),
           percentile(ms, (size_t)paced, 0.99));
    stop(b);
}

/* ---- endpoints that wait for a retry ---- */

/* They are due in an hour, after the end of this run. */
static void add_waiting(const struct bench *b, int count)
{
    char text[900];
    snprintf(text, sizeof text,
             "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %d) "
             "INSERT INTO delivery (webhook_id, id, account_id, event_id, created_at, due_at, attempts) "
             "SELECT printf('%%024d', i), printf('%%024d', i), '%s', 'evt_0', 0, %lld + i, 1 FROM n WHERE %d > 0; "
             "INSERT INTO delivery_lane (webhook_id, due_at) SELECT webhook_id, due_at FROM delivery;",
             count, b->account.text, (long long)(clock_now_us() + 3600 * US_PER_S), count);
    sql(b, text);
}

/* The CPU time of an event, in us, from its creation to its recorded attempt; *ret_ms is the median time to its
 * arrival. */
static double pace(struct bench *b, int waiting, double *ret_ms)
{
    static double ms[PACED_WAITING];
    const int paced = sized(PACED_WAITING, 10);
    add_waiting(b, waiting);
    start(b);
    double cpu = -cpu_us();
    for (int i = 0; i < paced; i++) {
        transact(b, queue_run, &(struct queue){b, 0, GOOD, i, i + 1});
        usleep(PACE_US);
    }
    wait_for(b, paced);
    deliveries_drain(b->engine, PATIENCE_S * 1000);
    cpu += cpu_us();
    for (int i = 0; i < paced; i++)
        ms[i] = (double)b->receivers.heard->latency_us[i] / 1000;
    *ret_ms = percentile(ms, (size_t)paced, 0.5);
    stop(b);
    return cpu / paced;
}

static void measure_waiting(struct bench *b)
{
    double none[PAIRS], many[PAIRS], ratio[PAIRS], none_ms[PAIRS], many_ms[PAIRS];
    const int pairs = sized(PAIRS, 2), endpoints = sized(WAITING, 100);
    for (int i = 0; i < pairs; i++) {
        if (i % 2)
            many[i] = pace(b, endpoints, &many_ms[i]);
        none[i] = pace(b, 0, &none_ms[i]);
        if (i % 2 == 0)
            many[i] = pace(b, endpoints, &many_ms[i]);
        ratio[i] = many[i] / none[i];
    }
    printf("waiting: CPU of an event %.0f us with %d endpoints waiting, %.0f us with none, ratio %.2f; "
           "p50 %.2f ms, %.2f ms\n",
           percentile(many, (size_t)pairs, 0.5), endpoints, percentile(none, (size_t)pairs, 0.5),
           percentile(ratio, (size_t)pairs, 0.5), percentile(many_ms, (size_t)pairs, 0.5),
           percentile(none_ms, (size_t)pairs, 0.5));
}

static enum err decide_run(struct tx *tx, void *arg)
{
    struct access_decision d = {0};
    enum err e = access_arrive(tx, STR(NUMBER), STR("+15551112222"), false, &d);
    *(enum access_verdict *)arg = d.verdict;
    return e;
}

struct decisions {
    double p50, p99; /* in ms */
};

/* With `waiting` deliveries queued for endpoints [first, first + endpoints), and the engine running. */
static struct decisions decide(struct bench *b, int waiting, int first, int endpoints)
{
    static double ms[DECISIONS];
    const int decisions = sized(DECISIONS, 10);
    queue(b, first, endpoints, waiting);
    start(b);
    for (int i = 0; i < decisions; i++) {
        enum access_verdict verdict = ACCESS_REJECT;
        int64_t from_us = clock_monotonic_us();
        transact(b, decide_run, &verdict);
        ms[i] = seconds_since(from_us) * 1000;
        if (verdict != ACCESS_RELEASE)
            fail("the door stays closed");
        usleep(DECIDE_US);
    }
    stop(b);
    double p50 = percentile(ms, (size_t)decisions, 0.5);
    return (struct decisions){p50, percentile(ms, (size_t)decisions, 0.99)};
}

/* In pairs, as a decision waits for the disk, and the speed of disks varies. */
static void measure_door(struct bench *b)
{
    double none[PAIRS], waiting[PAIRS], ratio[PAIRS], none_p99[PAIRS], waiting_p99[PAIRS];
    const int pairs = sized(PAIRS, 2), many = sized(MANY, 100);
    for (int i = 0; i < pairs; i++) {
        struct decisions w = {0}, n;
        if (i % 2)
            w = decide(b, many, GOOD, HANGING);
        n = decide(b, 0, GOOD, HANGING);
        if (i % 2 == 0)
            w = decide(b, many, GOOD, HANGING);
        none[i] = n.p50, none_p99[i] = n.p99, waiting[i] = w.p50, waiting_p99[i] = w.p99;
        ratio[i] = w.p50 / n.p50;
    }
    printf("door: p50 %.2f ms with %d waiting, %.2f ms with none, ratio %.2f; p99 %.2f ms, %.2f ms\n",
           percentile(waiting, (size_t)pairs, 0.5), many, percentile(none, (size_t)pairs, 0.5),
           percentile(ratio, (size_t)pairs, 0.5), percentile(waiting_p99, (size_t)pairs, 0.5),
           percentile(none_p99, (size_t)pairs, 0.5));
    struct decisions sending = decide(b, many, 0, GOOD);
    printf("door while they are sent: p50 %.2f ms, p99 %.2f ms\n", sending.p50, sending.p99);
}

/* ---- the program ---- */

static const char *write_config(const struct bench *b, const char *name, const char *listen, char path[static 64])
{
    snprintf(path, 64, "%s/%s.conf", b->dir, name);
    FILE *f = fopen(path, "w");
    if (!f ||
        fprintf(f,
                "data_dir = \"%s\"\nlisten { https = \"%s\" http = \"\" sip = \"\" }\n"
                "http { threads = 1 connections = 10000 connections_per_address = 10000 }\n"
                "webhooks { allow_private = true verify_tls = false }\n",
                b->dir, listen) < 0 ||
        fclose(f))
        fail("cannot write the configuration");
    return path;
}

int main(int argc, char **argv)
{
    static const unsigned char master[SHA256_LEN];
    struct bench b = {.dir = "/tmp/portero-bench-XXXXXX"};
    char path[64], command[64], *why = NULL;
    signal(SIGPIPE, SIG_IGN);
    if (!mkdtemp(b.dir) || !receivers_start(write_config(&b, "receivers", "0.0.0.0:0", path), &b.receivers))
        fail("the receivers do not start");
    crypto_set_master(master, NULL);
    if (config_load(write_config(&b, "engine", "127.0.0.1:0", path), &b.config, &why) ||
        store_open(b.config, true, &b.store, &why))
        fail(why);
    seed(&b);
    store_listen(b.store, on_commit, &b);
    if (store_start(b.store))
        fail("the store does not start");
    const struct {
        const char *name;
        void (*measure)(struct bench *b);
    } parts[] = {{"rate", measure_rate},
                 {"hanging", measure_hanging},
                 {"latency", measure_latency},
                 {"waiting", measure_waiting},
                 {"door", measure_door}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (argc == 1 || strcmp(argv[1], parts[i].name) == 0)
            parts[i].measure(&b);
    store_close(b.store);
    config_free(b.config);
    receivers_stop(&b.receivers);
    snprintf(command, sizeof command, "rm -rf '%s'", b.dir);
    return system(command) ? 1 : 0;
}
