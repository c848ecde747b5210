#include "jobs/notices.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metric.h"
#include "domain/push.h"
#include "domain/work.h"
#include "jobs/bell.h"
#include "net/poster.h"
#include "providers/mime.h"

#define TIMEOUT_MS       5000
#define CONNECTIONS_KEPT 64
#define SENDING_MAX      256
#define ACCOUNT_MAX      PUSH_TAKE_MAX /* requests of one account after which none of its messages is taken */
#define SPREAD_MAX       32            /* moments in one transaction */
#define LIMITED_US       US_PER_S      /* between looks while nothing can be sent, unless a request ends */
#define SIGNED_S         (12 * 3600)   /* how long a signature is valid; RFC 8292 allows a day */
#define LINE_SIZE        2048
#define ADDRESS_MAX      254 /* RFC 5321 */

/* Between looks while there is nothing to send. A node is kicked for its own moments: another one's are found here only
 * if it has died. */
#define QUIET_US (10 * US_PER_S)

/* One message on its way, or its end that is not yet recorded. */
struct sending {
    struct net_post post;
    struct notices *engine;
    struct push_message message; /* without payload */
    enum push_end end;
    int64_t due_us;
    char *url;
    char authorization[LINE_SIZE], ttl[32], urgency[32], topic[48];
    unsigned char body[4096];
    struct sending *next; /* in the list of ended ones */
};

struct notices {
    struct notices_options options;
    pthread_t thread;
    bool running;
    int wake_fd;
    atomic_bool stopping;

    /* For the thread alone. */
    struct net_poster *poster;
    struct webpush_key key;
    bool has_key;
    struct sending *sending[SENDING_MAX];
    size_t sending_count;
    struct sending *ended; /* to be recorded */
    int64_t look_us;       /* when to look again, monotonic */
    bool failed;           /* the last round */
};

/* ---- the end of a request ---- */

/* Pauses grow; a push service may ask for a longer one. */
static int64_t again_us(const struct sending *s)
{
    static const int64_t pauses_s[] = {2, 10, 60, 300, 1800};
    const size_t last = sizeof pauses_s / sizeof *pauses_s - 1;
    const size_t i = (size_t)(s->message.attempt - 1);
    const int64_t pause_s = pauses_s[i < last ? i : last];
    return clock_now_us() + (pause_s > s->post.retry_after_s ? pause_s : s->post.retry_after_s) * US_PER_S;
}

static int64_t useless_us(const struct push_message *m)
{
    return m->at_us + notice_kinds[m->notice].ttl_s * US_PER_S;
}

/* RFC 8030, sections 5 and 7.3: 2xx is a success; 404 and 410 mean that the subscription has ended; 429 and 5xx pass.
 */
static enum push_end push_end_of(const struct sending *s)
{
    const long status = s->post.status;
    if (status >= 200 && status <= 299)
        return PUSH_DELIVERED;
    if (status == 404 || status == 410)
        return PUSH_GONE;
    if (status >= 300 && status <= 499 && status != 408 && status != 429)
        return PUSH_DROPPED;
    return s->due_us < useless_us(&s->message) ? PUSH_LATER : PUSH_DROPPED;
}

static void count_end(const struct sending *s)
{
    static const unsigned ends[] = {[PUSH_DELIVERED] = METRIC_PUSH_DELIVERED,
                                    [PUSH_GONE] = METRIC_PUSH_GONE,
                                    [PUSH_DROPPED] = METRIC_PUSH_DROPPED,
                                    [PUSH_LATER] = METRIC_PUSH_LATER};
    metric_add(&metrics.pushes[ends[s->end]], 1);
    if (s->end == PUSH_DELIVERED && s->message.notice == NOTICE_RING)
        metric_observe(metrics.push_ring, clock_now_us() - s->message.at_us);
    if (s->end == PUSH_DROPPED)
        log_warn("push dropped building=%s notice=%s attempts=%lld failure=%s code=%ld", s->message.building_id.text,
                 notice_kinds[s->message.notice].name, (long long)s->message.attempt,
                 s->post.failure ? s->post.failure : "status", s->post.status);
}

static void end_sending(struct sending *s)
{
    struct notices *n = s->engine;
    s->due_us = again_us(s);
    s->end = push_end_of(s);
    count_end(s);
    s->next = n->ended;
    n->ended = s;
    n->look_us = n->failed ? n->look_us : 0;
}

static void on_pushed(struct net_post *post)
{
    end_sending(post->context);
}

static void free_sending(struct sending *s)
{
    free(s->url);
    free(s);
}

/* ---- requests ---- */

/* The origin of an endpoint, which begins with https://. */
static struct str origin_of(struct str endpoint)
{
    static const size_t scheme = sizeof "https://" - 1;
    size_t n = scheme;
    while (n < endpoint.n && !strchr("/?#", endpoint.p[n]))
        n++;
    return str_n(endpoint.p, n);
}

/* The sender that a push service is told (RFC 8292, 2.1): the sender of e-mail, if its address is a configured one that
 * a URI and JSON take unchanged; otherwise the service's URL. Some push services refuse a host that they cannot reach.
 */
static struct str sender_of(const struct config *c, struct arena *a)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.@_+-";
    const struct str address = mime_address(str_z(c->mail_from));
    struct str host = STR_NONE;
    if (address.n && address.n <= ADDRESS_MAX && strspn(address.p, plain) >= address.n)
        str_cut(address, '@', &host);
    if (host.n && memchr(host.p, '.', host.n)) /* the default's host is localhost */
        return arena_printf(a, "mailto:%.*s", STR_ARG(address));
    return str_z(*c->top_public_url ? c->top_public_url : "https://localhost");
}

static bool write_lines(struct sending *s, const struct push_message *m, struct arena *a)
{
    const struct notices *n = s->engine;
    const struct str value = webpush_authorization(&n->key, origin_of(m->endpoint), sender_of(n->options.config, a),
                                                   clock_real_us() / US_PER_S + SIGNED_S, a);
    const int64_t left_s = (useless_us(m) - clock_now_us()) / US_PER_S;
    snprintf(s->ttl, sizeof s->ttl, "TTL: %lld", (long long)(left_s > 0 ? left_s : 0));
    snprintf(s->urgency, sizeof s->urgency, "Urgency: %s", notice_kinds[m->notice].urgency);
    snprintf(s->topic, sizeof s->topic, "Topic: %d-%s", (int)m->notice, m->building_id.text);
    s->post.headers[0] = s->authorization;
    s->post.headers[1] = s->ttl;
    s->post.headers[2] = s->urgency;
    s->post.headers[3] = s->topic;
    s->post.headers[4] = "Content-Encoding: aes128gcm";
    return snprintf(s->authorization, sizeof s->authorization, "Authorization: %.*s", STR_ARG(value)) <
           (int)sizeof s->authorization;
}

static struct sending *sending_new(struct notices *n, const struct push_message *m, struct arena *a)
{
    struct sending *s = mem_new(struct sending);
    s->engine = n;
    s->message = *m;
    s->message.payload = STR_NONE;
    s->post.done = on_pushed;
    s->post.context = s;
    s->url = mem_strndup(m->endpoint.p ? m->endpoint.p : "", m->endpoint.n);
    s->post.url = s->url;
    s->message.endpoint = str_z(s->url);
    s->post.body = str_n((const char *)s->body, WEBPUSH_BODY_LEN(m->payload.n));
    if (!m->endpoint.p || !write_lines(s, m, a) || !webpush_encrypt(&m->keys, m->payload, s->body)) {
        s->post.status = 410; /* the browser was signed out */
        s->post.done = NULL;
    }
    crypto_wipe(&s->message.keys, sizeof s->message.keys);
    return s;
}

static void start_sending(struct notices *n, const struct push_message *m, struct arena *a)
{
    struct sending *s = sending_new(n, m, a);
    n->sending[n->sending_count++] = s;
    if (!s->post.done) {
        end_sending(s);
    } else if (net_poster_start(n->poster, &s->post)) {
        s->post.failure = "broken";
        end_sending(s);
    }
}

/* ---- rounds: a transaction that records, spreads and takes ---- */

struct round {
    struct notices *engine;
    struct id busy[SENDING_MAX]; /* accounts with their share of the requests */
    size_t busy_count;
    struct push_message taken[PUSH_TAKE_MAX];
    size_t taken_count;
    int64_t next_us, spread;
};

static void find_busy(struct round *r)
{
    const struct notices *n = r->engine;
    for (size_t i = 0; i < n->sending_count; i++) {
        const struct id *account = &n->sending[i]->message.account_id;
        size_t mine = 0;
        for (size_t k = 0; k <= i; k++)
            mine += id_equal(&n->sending[k]->message.account_id, account);
        if (mine == ACCOUNT_MAX)
            r->busy[r->busy_count++] = *account;
    }
}

static enum err run_round(struct tx *tx, void *arg)
{
    struct round *r = arg;
    struct notices *n = r->engine;
    enum err e = ERR_NONE;
    r->taken_count = 0;
    r->next_us = INT64_MAX;
    r->spread = 0;
    if (!n->has_key)
        e = push_key_get(tx, &n->key);
    n->has_key = !e;
    for (const struct sending *s = n->ended; !e && s; s = s->next)
        e = push_record(tx, &s->message, s->end, s->post.status, s->due_us);
    if (!e)
        e = notice_spread(tx, SPREAD_MAX, &r->spread);
    if (!e && n->sending_count + PUSH_TAKE_MAX <= SENDING_MAX)
        e = push_take(tx, r->busy, r->busy_count, r->taken, &r->taken_count);
    if (!e)
        e = push_next(tx, &r->next_us);
    return e;
}

static void forget_ended(struct notices *n)
{
    for (struct sending *s, *next = n->ended; (s = next);) {
        next = s->next;
        for (size_t i = 0; i < n->sending_count; i++)
            if (n->sending[i] == s)
                n->sending[i--] = n->sending[--n->sending_count];
        free_sending(s);
    }
    n->ended = NULL;
}

static int64_t quiet_pause_us(const struct notices *n, enum err result, int64_t next_us)
{
    const int64_t us = bell_sleep_us(n->options.store, result, next_us);
    return !result && next_us == INT64_MAX && us < QUIET_US ? QUIET_US : us;
}

/* Moments that did not fit are due at once; messages of busy accounts are when a request ends. */
static int64_t round_pause_us(const struct round *r, enum err result)
{
    const struct notices *n = r->engine;
    if (!result && r->spread == SPREAD_MAX)
        return 0;
    const int64_t us = quiet_pause_us(n, result, r->next_us);
    const bool limited = r->busy_count || n->sending_count + PUSH_TAKE_MAX > SENDING_MAX;
    return limited && us < LIMITED_US ? LIMITED_US : us;
}

static void run_notices_round(struct notices *n)
{
    struct arena arena;
    arena_init(&arena, NULL, 0);
    struct work work = {.store = n->options.store, .config = n->options.config, .arena = &arena};
    struct round *r = mem_new(struct round);
    r->engine = n;
    find_busy(r);
    enum err e = work_write(&work, run_round, r);
    n->failed = e != ERR_NONE;
    n->look_us = clock_monotonic_us() + round_pause_us(r, e);
    if (e)
        log_error("notices not sent error=%s", err_info(e)->code);
    else
        forget_ended(n);
    for (size_t i = 0; !e && i < r->taken_count; i++)
        start_sending(n, &r->taken[i], &arena);
    free(r);
    arena_done(&arena);
}

static enum err run_look(struct tx *tx, void *ret_next_us)
{
    return push_next(tx, ret_next_us);
}

/* Another node may have recorded something; most often there is nothing, and no transaction that writes. */
static void look_around(struct notices *n)
{
    int64_t next_us = INT64_MAX;
    enum err e = work_once(n->options.store, n->options.config, STORE_READ, run_look, &next_us);
    n->look_us = clock_monotonic_us() + quiet_pause_us(n, e, next_us);
    if (!e && next_us <= clock_now_us())
        run_notices_round(n);
}

/* ---- the thread ---- */

static int notices_wait_ms(const struct notices *n)
{
    const int64_t us = n->look_us - clock_monotonic_us();
    return us <= 0 ? 0 : us < BELL_SLEEP_ALONE_US ? (int)((us + 999) / 1000) : (int)(BELL_SLEEP_ALONE_US / 1000);
}

static bool was_kicked(const struct notices *n)
{
    eventfd_t kicks;
    return eventfd_read(n->wake_fd, &kicks) == 0;
}

static void *notices_thread(void *arg)
{
    struct notices *n = arg;
    while (!atomic_load(&n->stopping)) {
        (void)net_poster_wait(n->poster, notices_wait_ms(n));
        const bool kicked = was_kicked(n), due = clock_monotonic_us() >= n->look_us;
        if (kicked || (due && n->ended))
            run_notices_round(n);
        else if (due)
            look_around(n);
    }
    return NULL;
}

enum err notices_new(const struct notices_options *options, struct notices **ret)
{
    struct notices *n = mem_new(struct notices);
    n->options = *options;
    n->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (n->wake_fd < 0) {
        free(n);
        return ERR_IO;
    }
    *ret = n;
    return ERR_NONE;
}

enum err notices_start(struct notices *n)
{
    const struct net_poster_options options = {
        .allow_private = n->options.config->webhooks_allow_private,
        .verify_tls = n->options.config->webhooks_verify_tls,
        .timeout_ms = n->options.timeout_ms ? n->options.timeout_ms : TIMEOUT_MS,
        .connections_kept = CONNECTIONS_KEPT,
        .type = "Content-Type: application/octet-stream",
    };
    enum err e = net_poster_new(&options, n->wake_fd, &n->poster);
    if (e)
        return e;
    if (pthread_create(&n->thread, NULL, notices_thread, n))
        return ERR_IO;
    n->running = true;
    return ERR_NONE;
}

void notices_stop(struct notices *n)
{
    atomic_store(&n->stopping, true);
    if (!n->running)
        return;
    notices_kick(n);
    pthread_join(n->thread, NULL);
    n->running = false;
}

void notices_free(struct notices *n)
{
    if (!n)
        return;
    notices_stop(n);
    net_poster_free(n->poster);
    while (n->sending_count > 0)
        free_sending(n->sending[--n->sending_count]);
    crypto_wipe(&n->key, sizeof n->key);
    close(n->wake_fd);
    free(n);
}

void notices_kick(struct notices *n)
{
    (void)eventfd_write(n->wake_fd, 1);
}
