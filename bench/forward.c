/* Forwarded calls: processor time, added delay, and the time to the first ring-back, with 100 calls between visitors
 * and residents.
 *
 * The service runs pinned to one core; visitors and phones, which are a trunk to it, in a second process on another.
 * Every packet of audio carries the time at which it was sent. The control is a packet a tick to a process next to the
 * service that sends it back and does nothing else. Ring-back: from a phone's 180 until the visitor has one. usage:
 * bench_forward [CALLS [SECONDS]] */
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "call/sound.h"
#include "media/media.h"
#include "sip_service.h"
#include "sized.h"

#define CALLS         100
#define SECONDS       10
#define PLACE_MS      40   /* between two calls */
#define RING_MS       300  /* a phone rings for this long */
#define SETTLE_MS     2000 /* after the last call was placed */
#define SAMPLES       (1 << 20)
#define FRAME         160
#define PACKETS_PER_S 50 /* of each end */

struct load;

/* A visitor, or a resident. */
struct end {
    struct load *load;
    struct sipsess *session;
    struct media *media;
    const struct sip_msg *invite;
    struct tmr ring;
    uint32_t timestamp;
    uint16_t seq;
    bool talks;
};

struct load {
    struct sa server, local;
    struct sip *sip;
    struct sipsess_sock *sessions;
    struct tick *tick;
    struct tick_entry entry;
    struct tmr speak;
    int64_t spoken_ms;
    struct udp_sock *from; /* of the control */
    struct sa echo;
    struct end *visitors, *phones;
    int count, placed, phone_count, talking;
    int64_t began_ms, place_ms, measured_ms, seconds;
    clockid_t service;
    int64_t cpu_us;
    int64_t *delays, *direct, *rings;
    int delay_count, direct_count, ring_count;
    int64_t rang_us; /* the last phone's 180; calls are set up one after the other */
};

/* ---- audio ---- */

static void on_packet(const struct media_packet *p, void *arg)
{
    struct end *e = arg;
    int64_t sent_us;
    if (p->event || p->n != FRAME || !e->load->measured_ms || e->load->delay_count == SAMPLES)
        return;
    memcpy(&sent_us, p->payload, sizeof sent_us);
    const int64_t took_us = clock_monotonic_us() - sent_us;
    if (took_us >= 0 && took_us < 10 * US_PER_S) /* not silence */
        e->load->delays[e->load->delay_count++] = took_us;
}

static void on_direct(const struct sa *src, struct mbuf *mb, void *arg)
{
    (void)src;
    struct load *l = arg;
    int64_t sent_us;
    memcpy(&sent_us, mbuf_buf(mb), sizeof sent_us);
    if (l->measured_ms && l->direct_count < SAMPLES)
        l->direct[l->direct_count++] = clock_monotonic_us() - sent_us;
}

static void on_key(char key, void *arg)
{
    (void)key;
    (void)arg;
}

static void on_played(void *arg)
{
    (void)arg;
}

static const struct media_events events = {.key = on_key, .played = on_played, .packet = on_packet};

static void speak(struct end *e)
{
    uint8_t payload[FRAME] = {0};
    const int64_t now_us = clock_monotonic_us();
    memcpy(payload, &now_us, sizeof now_us);
    e->timestamp += FRAME;
    const struct media_packet p = {
        .ssrc = 1, .seq = ++e->seq, .timestamp = e->timestamp, .payload = payload, .n = sizeof payload};
    media_relay(e->media, &p);
}

static void speak_directly(struct load *l)
{
    uint8_t payload[FRAME + 12] = {0};
    const int64_t now_us = clock_monotonic_us();
    memcpy(payload, &now_us, sizeof now_us);
    struct mbuf mb = {.buf = payload, .size = sizeof payload, .end = sizeof payload};
    (void)udp_send(l->from, &l->echo, &mb);
}

/* ---- calls ---- */

static struct mbuf *make_media(struct end *e, struct mbuf *offer)
{
    struct mbuf *sdp = NULL;
    struct media_options options = {.laddr = &e->load->local, .events = true};
    if (media_new(&e->media, &options, &events, e) || (offer && media_take_sdp(e->media, true, offer)) ||
        media_make_sdp(e->media, !offer, &sdp))
        fail("no media");
    return sdp;
}

static int on_answer(const struct sip_msg *msg, void *arg)
{
    struct end *e = arg;
    return media_take_sdp(e->media, false, msg->mb) ? EPROTO : 0;
}

static void on_progress(const struct sip_msg *msg, void *arg)
{
    struct end *e = arg;
    if (msg->scode == 180 && e->load->rang_us) {
        e->load->rings[e->load->ring_count++] = clock_monotonic_us() - e->load->rang_us;
        e->load->rang_us = 0;
    }
}

static void on_established(const struct sip_msg *msg, void *arg)
{
    struct end *e = arg;
    media_start(e->media, e->load->tick, &msg->src);
    e->talks = true;
    e->load->talking++;
}

static void on_close(int err, const struct sip_msg *msg, void *arg)
{
    (void)err;
    struct end *e = arg;
    if (msg && msg->scode >= 300)
        fprintf(stderr, "bench_forward: call refused with %u\n", msg->scode);
    e->talks = false;
    media_stop(e->media);
    e->session = mem_deref(e->session);
}

static void place(struct load *l, struct end *e, int number)
{
    char to[80];
    e->load = l;
    struct mbuf *sdp = make_media(e, NULL);
    (void)re_snprintf(to, sizeof to, "sip:+1999%07d@%J", number, &l->server);
    if (sipsess_connect(&e->session, l->sessions, to, NULL, "sip:bench@127.0.0.1", "bench", NULL, 0, "application/sdp",
                        sdp, NULL, NULL, false, NULL, on_answer, on_progress, on_established, NULL, NULL, on_close, e,
                        NULL))
        fail("no call");
    mem_deref(sdp);
}

static void on_ring(void *arg)
{
    struct end *e = arg;
    struct mbuf *sdp = make_media(e, e->invite->mb);
    if (sipsess_answer(e->session, 200, "OK", sdp, NULL))
        fail("no answer");
    mem_deref(sdp);
}

static void on_invite(const struct sip_msg *msg, void *arg)
{
    struct load *l = arg;
    if (l->phone_count == l->count)
        return;
    struct end *e = &l->phones[l->phone_count++];
    *e = (struct end){.load = l, .invite = mem_ref((void *)msg)};
    l->rang_us = clock_monotonic_us();
    if (sipsess_accept(&e->session, l->sessions, msg, 180, "Ringing", "phone", "application/sdp", NULL, NULL, NULL,
                       false, NULL, on_answer, on_established, NULL, NULL, on_close, e, NULL))
        fail("no call to a phone");
    tmr_start(&e->ring, RING_MS, on_ring, e);
}

/* ---- time ---- */

/* A tenth of the ends speaks every 2 ms, as packets of real calls come at any time. */
static void on_speak(void *arg)
{
    struct load *l = arg;
    tmr_start(&l->speak, 1, on_speak, l);
    for (; l->spoken_ms + 2 <= tick_now_ms(); l->spoken_ms += 2) {
        const int turn = (int)(l->spoken_ms / 2 % 10);
        for (int i = turn; i < 2 * l->count; i += 10) {
            struct end *e = i < l->count ? &l->visitors[i] : &l->phones[i - l->count];
            if (e->talks)
                speak(e);
        }
        if (turn == 0)
            speak_directly(l);
    }
}

static int64_t service_us(const struct load *l)
{
    struct timespec t;
    if (clock_gettime(l->service, &t))
        fail("no processor time of the service");
    return t.tv_sec * US_PER_S + t.tv_nsec / 1000;
}

static void on_tick(void *arg, int64_t now_ms)
{
    struct load *l = arg;
    if (l->placed < l->count && now_ms - l->place_ms >= PLACE_MS) {
        place(l, &l->visitors[l->placed], l->placed);
        l->placed++;
        l->place_ms = now_ms;
    }
    if (!l->measured_ms && l->placed == l->count && now_ms - l->place_ms > sized(SETTLE_MS, 500)) {
        l->measured_ms = now_ms;
        l->cpu_us = service_us(l);
    } else if (l->measured_ms && now_ms - l->measured_ms >= l->seconds * 1000) {
        l->cpu_us = service_us(l) - l->cpu_us;
        l->seconds = now_ms - l->measured_ms; /* in ms */
        re_cancel();
    }
}

static void make_sip(struct load *l)
{
    (void)sa_set_str(&l->local, "127.0.0.1", 0);
    rand_init();
    if (fd_setsize(4096) || sound_init() || sip_alloc(&l->sip, NULL, 256, 256, 256, "bench", NULL, NULL) ||
        sip_transp_add(l->sip, SIP_TRANSP_UDP, &l->local) || sipsess_listen(&l->sessions, l->sip, 256, on_invite, l) ||
        tick_new(&l->tick) || udp_listen(&l->from, &l->local, on_direct, l))
        fail("no SIP");
}

static double percentile(int64_t *times, int n, int percent)
{
    if (!n)
        fail("nothing was measured");
    qsort(times, (size_t)n, sizeof *times, ascending);
    return (double)times[(int64_t)n * percent / 100 - (percent == 100)] / 1000;
}

static void report_load(struct load *l)
{
    const double p50 = percentile(l->delays, l->delay_count, 50), p99 = percentile(l->delays, l->delay_count, 99);
    const double direct = percentile(l->direct, l->direct_count, 50);
    const double rate = (double)l->delay_count * 1000 / (double)l->seconds;
    printf("calls: %d of %d ends talk, %.0f packets a second\n", l->talking, 2 * l->count, rate);
    if (rate < 0.9 * 2 * l->count * PACKETS_PER_S) /* the figures would measure dropped packets */
        fail("packets were lost");
    printf("cpu: %.1f %% of a core\n", (double)l->cpu_us / 10 / (double)l->seconds);
    printf("delay: p50 %.2f ms, p99 %.2f ms; control p50 %.2f ms, p99 %.2f ms\n", p50, p99, direct,
           percentile(l->direct, l->direct_count, 99));
    printf("ring-back: p50 %.2f ms, max %.2f ms\n", percentile(l->rings, l->ring_count, 50),
           percentile(l->rings, l->ring_count, 100));
}

/* The child: tells the port of its phones, reads the address of the service, places the calls and exits. */
static void load(int port_fd, int address_fd, const struct sockaddr_in *echo, int calls, int seconds)
{
    struct load l = {.count = calls, .seconds = seconds};
    struct sa at;
    char address[64] = "";
    pin(1);
    make_sip(&l);
    if (sa_set_sa(&l.echo, (const struct sockaddr *)echo))
        fail("no control");
    l.visitors = calloc((size_t)calls, sizeof *l.visitors);
    l.phones = calloc((size_t)calls, sizeof *l.phones);
    l.rings = calloc((size_t)calls, sizeof *l.rings);
    l.delays = calloc(SAMPLES, sizeof *l.delays);
    l.direct = calloc(SAMPLES, sizeof *l.direct);
    if (!l.visitors || !l.phones || !l.rings || !l.delays || !l.direct ||
        sip_transp_laddr(l.sip, &at, SIP_TRANSP_UDP, NULL))
        fail("no memory");
    const uint16_t port = sa_port(&at);
    if (write(port_fd, &port, sizeof port) != sizeof port || read(address_fd, address, sizeof address - 1) <= 0 ||
        sa_decode(&l.server, address, strlen(address)) || clock_getcpuclockid(getppid(), &l.service))
        fail("no service");
    tick_add(l.tick, &l.entry, on_tick, &l);
    l.spoken_ms = tick_now_ms();
    on_speak(&l);
    (void)re_main(NULL);
    report_load(&l);
}

/* ---- service ---- */

static void serve(const char *dir, int calls, int port_fd, int address_fd, pid_t child)
{
    struct sip_service s = {.sql = "DELETE FROM access_grant;"
                                   "UPDATE building SET ring_numbers = '+15550001234', ring_accept = 0;"};
    char voice[300];
    uint16_t port;
    int status;
    pin(0);
    if (read(port_fd, &port, sizeof port) != sizeof port)
        fail("no phones");
    (void)snprintf(voice, sizeof voice,
                   "calls = %d calls_per_source = %d peer phones { server = \"127.0.0.1:%u\" probe_s = 0 calls = %d "
                   "calls_out = %d }",
                   8 * calls, 8 * calls, port, 8 * calls, 8 * calls);
    start_service(&s, dir, voice, calls, address_fd);
    waitpid(child, &status, 0);
    sip_stop(s.agent, 0);
    store_close(s.store);
    sip_free(s.agent);
    config_free(s.config);
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        fail("the callers failed");
}

/* The control: sends every packet back, until it is killed. */
static pid_t start_echo(struct sockaddr_in *ret)
{
    char packet[2048];
    socklen_t n = sizeof *ret;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    *ret = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd < 0 || bind(fd, (struct sockaddr *)ret, n) || getsockname(fd, (struct sockaddr *)ret, &n))
        fail("no control");
    pid_t child = fork();
    if (child) {
        close(fd);
        return child;
    }
    pin(0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        struct sockaddr_in from;
        n = sizeof from;
        ssize_t got = recvfrom(fd, packet, sizeof packet, 0, (struct sockaddr *)&from, &n);
        if (got > 0)
            (void)sendto(fd, packet, (size_t)got, 0, (struct sockaddr *)&from, n);
    }
}

int main(int argc, char **argv)
{
    int calls = argc > 1 ? atoi(argv[1]) : sized(CALLS, 2), seconds = argc > 2 ? atoi(argv[2]) : sized(SECONDS, 1);
    char dir[] = "/tmp/portero-bench-XXXXXX";
    int address[2], port[2];
    struct sockaddr_in echo;
    if (calls < 1 || seconds < 1 || !mkdtemp(dir) || pipe(address) || pipe(port))
        fail("usage: bench_forward [CALLS [SECONDS]]");
    pid_t control = start_echo(&echo), child = fork(); /* before any thread is started */
    if (control < 0 || child < 0)
        fail("cannot fork");
    if (!child) {
        load(port[1], address[0], &echo, calls, seconds);
        exit(0);
    }
    signal(SIGPIPE, SIG_IGN);
    serve(dir, calls, port[0], address[1], child);
    kill(control, SIGKILL);
    remove_dir(dir);
    return 0;
}
