/* From the last digit to the first release-tone packet, with 100 calls at once on one core.
 *
 * The service (SIP agent, domain, SQLite store with durable commits) runs pinned to one core, the callers in a second
 * process on another. Every call presses a passcode as RFC 4733. The time runs from the moment the fourth digit's first
 * packet is handed to the kernel until the first packet of the release tone arrives. Greetings are empty. usage:
 * bench_calls [CALLS [ROUNDS [ADDRESS]]]; prints a line for digits spread over a second and one for all digits at once.
 * With an ADDRESS, the service there is called, which must have the buildings of sip_service.h. Then, in a third line,
 * 200 calls a second are placed to buildings +1999000100 and so on, which a timer opens: from INVITE to tone. */
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "media/media.h"
#include "sip_service.h"
#include "sized.h"

#define CALLS        100
#define ROUNDS       5
#define LIMIT_MS     20.0
#define SPREAD_MS    1000
#define ESTABLISH_MS 2500 /* until the first last digit, when all calls are established */
#define BEFORE_MS    600  /* the first three digits begin this long before the last */
#define ROUND_MS     6000
#define OPEN_CALLS   2000 /* that a timer opens */
#define OPEN_TICK    4    /* placed in a tick of 20 ms: 200 a second */
#define OPEN_FIRST   100  /* the first of their buildings */
#define OPEN_DOORS   100
#define OPEN_MS      14000

/* ---- callers ---- */

struct caller {
    struct load *load;
    int number;
    struct sipsess *session;
    struct media *media;
    bool established, begun;
    int64_t due_ms; /* when to press the fourth digit */
    int64_t pressed_us;
    int64_t took_us; /* 0: no tone arrived */
};

struct load {
    struct sa server;
    struct sip *sip;
    struct sipsess_sock *sessions;
    struct tick *tick;
    struct tick_entry entry;
    struct caller *callers;
    int count, placed, ended, refused;
    bool burst, open;
    int64_t began_ms;
};

static void on_key(char key, void *arg)
{
    (void)key;
    struct caller *c = arg;
    if (c->pressed_us && !c->took_us)
        c->took_us = clock_monotonic_us() - c->pressed_us;
}

static void on_played(void *arg)
{
    (void)arg;
}

static const struct media_events events = {.key = on_key, .played = on_played};

static void on_established(const struct sip_msg *msg, void *arg)
{
    struct caller *c = arg;
    media_start(c->media, c->load->tick, &msg->src);
    c->established = true;
}

static int on_answer(const struct sip_msg *msg, void *arg)
{
    struct caller *c = arg;
    return media_take_sdp(c->media, false, msg->mb) ? EPROTO : 0;
}

static void on_close(int err, const struct sip_msg *msg, void *arg)
{
    (void)err;
    struct caller *c = arg;
    if (msg && msg->scode >= 300 && c->load->refused++ < 3)
        fprintf(stderr, "bench_calls: call refused with %u\n", msg->scode);
    media_stop(c->media);
    c->session = mem_deref(c->session);
    if (++c->load->ended == c->load->count)
        re_cancel();
}

static void place(struct load *l, struct caller *c)
{
    struct sa local;
    struct mbuf *sdp = NULL;
    char to[80];
    (void)sa_set_str(&local, "127.0.0.1", 0);
    struct media_options options = {.laddr = &local, .events = true};
    if (media_new(&c->media, &options, &events, c) || media_make_sdp(c->media, true, &sdp))
        fail("no media");
    if (l->open)
        c->pressed_us = clock_monotonic_us();
    (void)re_snprintf(to, sizeof to, "sip:+1999%07d@%J", l->open ? OPEN_FIRST + c->number % OPEN_DOORS : c->number,
                      &l->server);
    if (sipsess_connect(&c->session, l->sessions, to, NULL, "sip:bench@127.0.0.1", "bench", NULL, 0, "application/sdp",
                        sdp, NULL, NULL, false, NULL, on_answer, NULL, on_established, NULL, NULL, on_close, c, NULL))
        fail("no call");
    mem_deref(sdp);
}

static const struct release PRESS = {.length_ms = 60, .gap_ms = 60};

/* Places two calls a tick, and presses the last digits after all are established. */
static void on_tick(void *arg, int64_t now_ms)
{
    struct load *l = arg;
    for (int i = 0; i < (l->open ? OPEN_TICK : 2) && l->placed < l->count; i++)
        place(l, &l->callers[l->placed++]);
    for (int i = 0; i < l->placed; i++) {
        struct caller *c = &l->callers[i];
        if (l->open)
            break;
        if (c->established && !c->begun && now_ms >= c->due_ms - BEFORE_MS) {
            c->begun = true;
            (void)media_press(c->media, "123", &PRESS);
        } else if (c->begun && !c->pressed_us && now_ms >= c->due_ms) {
            c->pressed_us = clock_monotonic_us();
            (void)media_press(c->media, "4", &PRESS);
        }
    }
    if (now_ms - l->began_ms > (l->open ? sized(OPEN_MS, 2000) : sized(ROUND_MS, 3000)))
        re_cancel();
}

static void run_round(struct load *l, int64_t *times, int *ret_n)
{
    struct sa local;
    (void)sa_set_str(&local, "127.0.0.1", 0);
    l->callers = calloc((size_t)l->count, sizeof *l->callers);
    l->placed = l->ended = 0;
    l->began_ms = tick_now_ms();
    if (!l->callers || sip_alloc(&l->sip, NULL, 256, 256, 256, "bench", NULL, NULL) ||
        sip_transp_add(l->sip, SIP_TRANSP_UDP, &local) || sipsess_listen(&l->sessions, l->sip, 256, NULL, NULL) ||
        tick_new(&l->tick))
        fail("no SIP");
    for (int i = 0; i < l->count; i++) {
        int64_t at_ms = l->burst ? 0 : (int64_t)(rand_u32() % (uint32_t)sized(SPREAD_MS, 100));
        l->callers[i] =
            (struct caller){.load = l, .number = i, .due_ms = l->began_ms + sized(ESTABLISH_MS, 1000) + at_ms};
    }
    tick_add(l->tick, &l->entry, on_tick, l);
    (void)re_main(NULL);
    tick_remove(&l->entry);
    for (int i = 0; i < l->count; i++) {
        if (l->callers[i].took_us)
            times[(*ret_n)++] = l->callers[i].took_us;
        mem_deref(l->callers[i].session);
        media_free(l->callers[i].media);
    }
    sipsess_close_all(l->sessions);
    sip_transp_flush(l->sip);
    sip_close(l->sip, true);
    mem_deref(l->sessions);
    mem_deref(l->sip);
    tick_free(l->tick);
    free(l->callers);
}

static void report(const char *what, int64_t *times, int n, int calls)
{
    if (n < calls)
        fprintf(stderr, "bench_calls: %d of %d calls heard no tone\n", calls - n, calls);
    if (!n)
        fail("no tone was heard");
    qsort(times, (size_t)n, sizeof *times, ascending);
    double p50 = (double)times[n / 2] / 1000, p99 = (double)times[n * 99 / 100] / 1000;
    printf("%s: %d calls, p50 %.2f ms, p99 %.2f ms, max %.2f ms, p99 / limit of %.0f ms = %.2f\n", what, n, p50, p99,
           (double)times[n - 1] / 1000, LIMIT_MS, p99 / LIMIT_MS);
    fflush(stdout);
}

/* Places the calls. */
static void load(const char *address, int calls, int rounds, bool foreign)
{
    struct load l = {.count = calls};
    pin(1);
    if (sa_decode(&l.server, address, strlen(address)))
        fail("no service");
    rand_init();
    int64_t *times = calloc((size_t)(calls * rounds + OPEN_CALLS), sizeof *times);
    if (!times || fd_setsize(8192) || sound_init())
        fail("no memory");
    for (int burst = 0; burst < 2; burst++) {
        int n = 0;
        l.burst = burst;
        for (int i = 0; i < rounds; i++)
            run_round(&l, times, &n);
        report(burst ? "last digits at once" : "last digits in a second", times, n, calls * rounds);
    }
    if (foreign) {
        int n = 0;
        l.open = true;
        l.count = sized(OPEN_CALLS, 20);
        run_round(&l, times, &n);
        report("200 calls a second, INVITE to tone", times, n, l.count);
    }
    free(times);
}

/* The child: reads the address of the service. */
static void load_child(int address_fd, int calls, int rounds)
{
    char address[64] = "";
    if (read(address_fd, address, sizeof address - 1) <= 0)
        fail("no service");
    load(address, calls, rounds, false);
}

/* ---- service ---- */

static void serve(const char *dir, int calls, int address_fd, pid_t child)
{
    struct sip_service s = {0};
    char voice[128];
    int status;
    pin(0);
    (void)snprintf(voice, sizeof voice, "calls = %d calls_per_source = %d tone_ms = 60 tone_gap_ms = 60", 2 * calls,
                   2 * calls);
    start_service(&s, dir, voice, calls, address_fd);
    waitpid(child, &status, 0);
    sip_stop(s.agent, 0);
    store_close(s.store);
    sip_free(s.agent);
    config_free(s.config);
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        fail("the callers failed");
}

int main(int argc, char **argv)
{
    int calls = argc > 1 ? atoi(argv[1]) : sized(CALLS, 2), rounds = argc > 2 ? atoi(argv[2]) : sized(ROUNDS, 1);
    char dir[] = "/tmp/portero-bench-XXXXXX";
    int address[2];
    if (calls < 1 || rounds < 1)
        fail("usage: bench_calls [CALLS [ROUNDS [ADDRESS]]]");
    if (argc > 3) {
        load(argv[3], calls, rounds, true);
        return 0;
    }
    if (!mkdtemp(dir) || pipe(address))
        fail("no directory");
    pid_t child = fork(); /* before any thread is started */
    if (child < 0)
        fail("cannot fork");
    if (!child) {
        close(address[1]);
        load_child(address[0], calls, rounds);
        return 0;
    }
    close(address[0]);
    signal(SIGPIPE, SIG_IGN);
    serve(dir, calls, address[1], child);
    remove_dir(dir);
    return 0;
}
