/* Browsers in calls: the processor time of the service for each, with 50 packets a second each way.
 *
 * Browsers run on a thread of their own, the endpoint on the main thread, whose time is counted. The control, in the
 * same run, sends and takes the same packets through the same kind of socket without sessions and encryption. usage:
 * bench_webrtc [CALLS [SECONDS]] */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "media/player.h"
#include "sized.h"
#include "webrtc/private.h"
#include "webrtc/raw_browser.h"

#define CALLS   30
#define SECONDS 10

static struct webrtc *w;
static struct tick *tick;
static struct tick_entry entry;
static struct webrtc_socket *plain;
static int calls, seconds;
static struct browser *browsers;
static struct webrtc_session **sessions;
static struct sa *echoes; /* of the control's peers */
static unsigned ready, taken, sent;
static uint16_t seq;
static atomic_bool ends, encrypted;

/* ---- the service ---- */

static void bench_on_ready(void *arg)
{
    (void)arg;
    ready++;
}

static void bench_on_packet(const struct media_packet *p, void *arg)
{
    (void)p;
    (void)arg;
    taken++;
}

static void bench_on_gone(enum webrtc_end end, void *arg)
{
    (void)arg;
    (void)fprintf(stderr, "gone: %s\n", webrtc_end_text(end));
    exit(1);
}

static void bench_on_plain(uint8_t *p, size_t n, const struct sa *from, const struct sa *to, void *arg)
{
    (void)p;
    (void)n;
    (void)from;
    (void)to;
    (void)arg;
    taken++;
}

static void send_all(void *arg, int64_t now_ms)
{
    (void)arg;
    (void)now_ms;
    static uint8_t payload[RTP_HEADER_SIZE + PLAYER_FRAME + 16];
    payload[0] = 0x80; /* as RTP */
    seq++;
    for (int i = 0; i < calls; i++, sent++) {
        if (encrypted)
            webrtc_send(sessions[i],
                        &(struct media_packet){
                            .seq = seq, .ssrc = 1, .timestamp = seq * 160u, .payload = payload, .n = PLAYER_FRAME});
        else
            webrtc_socket_send(plain, webrtc_socket_address(plain), &echoes[i], payload, sizeof payload);
    }
}

/* ---- browsers ---- */

static void *talk(void *arg)
{
    (void)arg;
    static uint8_t p[RTP_HEADER_SIZE + PLAYER_FRAME + 16];
    p[0] = 0x80;
    int64_t next_us = clock_monotonic_us();
    while (!ends) {
        for (int i = 0; i < calls; i++) {
            browser_receive(&browsers[i]);
            if (encrypted)
                browser_talk(&browsers[i], PT_PCMU, 0x55);
            else
                browser_put(&browsers[i], p, sizeof p);
        }
        next_us += TICK_MS * 1000;
        const int64_t left_us = next_us - clock_monotonic_us();
        if (left_us > 0)
            usleep((useconds_t)left_us);
    }
    return NULL;
}

static bool connect_all(void)
{
    static const struct webrtc_events events = {bench_on_ready, bench_on_packet, bench_on_gone};
    char answer[WEBRTC_ANSWER_MAX];
    for (int i = 0; i < calls; i++) {
        struct browser *b = &browsers[i];
        browser_new(b, BROWSER_GCM, true);
        if (webrtc_open(w, &(struct webrtc_request){.offer = str_z(browser_offer(b, "sendrecv")), .owner = (uint64_t)i},
                        &events, NULL, answer, &sessions[i]))
            return false;
        browser_read_answer(b, answer);
        browser_check(b, BROWSER_NOMINATES);
        while (!b->up) {
            webrtc_socket_drain(w->socket);
            browser_turn(b, true);
        }
    }
    return ready == (unsigned)calls;
}

/* ---- measuring ---- */

static int64_t cpu_us(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * US_PER_S + t.tv_nsec / 1000;
}

static void bench_on_end(void *arg)
{
    (void)arg;
    re_cancel();
}

static void measure(const char *name)
{
    struct tmr end;
    pthread_t thread;
    ends = false;
    taken = sent = 0;
    tmr_init(&end);
    tmr_start(&end, (uint64_t)seconds * 1000, bench_on_end, NULL);
    tick_add(tick, &entry, send_all, NULL);
    const int64_t before_us = cpu_us();
    if (pthread_create(&thread, NULL, talk, NULL))
        exit(1);
    (void)re_main(NULL);
    const int64_t spent_us = cpu_us() - before_us;
    ends = true;
    pthread_join(thread, NULL);
    tick_remove(&entry);
    printf("%s calls=%d taken=%u sent=%u cpu_percent_a_call=%.3f\n", name, calls, taken, sent,
           (double)spent_us / 1e4 / seconds / calls);
}

int main(int argc, char **argv)
{
    struct sa at;
    calls = argc > 1 ? atoi(argv[1]) : sized(CALLS, 2);
    seconds = argc > 2 ? atoi(argv[2]) : sized(SECONDS, 1);
    browsers = calloc((size_t)calls, sizeof *browsers);
    sessions = calloc((size_t)calls, sizeof(struct webrtc_session *));
    echoes = calloc((size_t)calls, sizeof *echoes);
    if (libre_init() || tick_new(&tick) || sa_set_str(&at, "127.0.0.1", 0) || !browsers || !sessions || !echoes ||
        webrtc_new(&w, &(struct webrtc_options){.listen = &at, .tick = tick}) ||
        webrtc_socket_open(&plain, &at, bench_on_plain, NULL) || !connect_all())
        return 1;
    encrypted = true;
    measure("webrtc");
    encrypted = false;
    for (int i = 0; i < calls; i++) {
        browsers[i].service = *webrtc_socket_address(plain);
        echoes[i] = browsers[i].at;
        browsers[i].up = false;
    }
    measure("control");
    for (int i = 0; i < calls; i++) {
        webrtc_close(sessions[i]);
        browser_free(&browsers[i]);
    }
    webrtc_socket_close(plain);
    webrtc_free(w);
    tick_free(tick);
    free(browsers);
    free(sessions);
    free(echoes);
    libre_close();
    return 0;
}
