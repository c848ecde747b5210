/* 400 calls at once that hear a greeting of 20 seconds: the set-up of a call, the spacing of the packets next to a bare
 * 20 ms timer's on the service's core, and the processor time next to sipp's play_pcap_audio.
 *
 * The service (SIP agent, domain, SQLite store with durable commits) and the timer run on core 0, the callers on
 * core 1. They send silence, as call boxes do. Packets are timed by the kernel when they arrive. In the second half
 * sipp places the calls and sends as many packets; needs root, for its raw sockets. usage: bench_greetings [CALLS] */
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "sip_service.h"
#include "sized.h"

#define CALLS      400
#define A_SECOND   200 /* calls that are placed */
#define MEASURE_MS 8000
#define FRAME_MS   20
#define FRAME_LEN  172 /* header and 160 samples */
#define INTERVALS  (1 << 20)
#define GAP_MAX_US 1000000
#define GREETING                                                                                                       \
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "      \
    "eighteen"
#define SIPP_MS 10000

/* ---- times ---- */

struct times {
    int64_t us[INTERVALS];
    int n;
};

static void add_time(struct times *t, int64_t us)
{
    if (t->n < INTERVALS)
        t->us[t->n++] = us;
}

static double part_ms(struct times *t, int per_thousand)
{
    if (!t->n)
        return 0;
    qsort(t->us, (size_t)t->n, sizeof *t->us, ascending);
    return (double)t->us[(int64_t)t->n * per_thousand / 1000] / 1000;
}

static int64_t cpu_us(const struct rusage *r)
{
    return (r->ru_utime.tv_sec + r->ru_stime.tv_sec) * INT64_C(1000000) + r->ru_utime.tv_usec + r->ru_stime.tv_usec;
}

/* ---- the bare timer ---- */

/* The times between its ticks go into shared memory. */
static pid_t start_timer(struct times *shared)
{
    const pid_t child = fork();
    if (child)
        return child;
    const struct itimerspec every = {{0, FRAME_MS * 1000000L}, {0, FRAME_MS * 1000000L}};
    const int fd = timerfd_create(CLOCK_MONOTONIC, 0);
    int64_t last_us = 0;
    uint64_t passed;
    pin(0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    timerfd_settime(fd, 0, &every, NULL);
    while (read(fd, &passed, sizeof passed) > 0) {
        const int64_t now_us = clock_monotonic_us();
        if (last_us)
            add_time(shared, now_us - last_us);
        last_us = now_us;
    }
    exit(0);
}

/* ---- callers ---- */

struct caller {
    int rtp, number;
    struct sockaddr_in to; /* the service's RTP */
    int64_t invited_us, last_us;
    bool established;
    uint16_t seq;
};

struct load {
    struct sockaddr_in server;
    int sip, events;
    struct caller *callers;
    int count, placed, established;
    struct times set_up, spacing;
    bool measuring;
};

static int udp_socket(int *ret_port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof at;
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1, room = 1 << 20;
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) || getsockname(fd, (struct sockaddr *)&at, &n))
        fail("no socket");
    (void)setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    *ret_port = ntohs(at.sin_port);
    return fd;
}

static void listen_to(struct load *l, int fd, int number)
{
    struct epoll_event e = {.events = EPOLLIN, .data.u64 = (uint64_t)number};
    if (epoll_ctl(l->events, EPOLL_CTL_ADD, fd, &e))
        fail("no epoll");
}

static void send_request(struct load *l, const struct caller *c, const char *method, const char *tag, const char *body)
{
    char text[2048];
    struct sockaddr_in mine;
    socklen_t length = sizeof mine;
    (void)getsockname(l->sip, (struct sockaddr *)&mine, &length);
    const int port = ntohs(mine.sin_port);
    const int n =
        snprintf(text, sizeof text,
                 "%s sip:+1999%07d@127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.1:%d;branch=z9hG4bK%s%d\r\n"
                 "Max-Forwards: 70\r\nFrom: <sip:bench@127.0.0.1>;tag=%d\r\nTo: <sip:+1999%07d@127.0.0.1>%s\r\n"
                 "Call-ID: bench-%d\r\nCSeq: 1 %s\r\nContact: <sip:127.0.0.1:%d>\r\n%sContent-Length: %zu\r\n\r\n%s",
                 method, c->number, port, method, c->number, c->number, c->number, tag, c->number, method, port,
                 *body ? "Content-Type: application/sdp\r\n" : "", strlen(body), body);
    (void)sendto(l->sip, text, (size_t)n, 0, (struct sockaddr *)&l->server, sizeof l->server);
}

static void place(struct load *l, int number)
{
    struct caller *c = &l->callers[number];
    char sdp[256];
    int port;
    *c = (struct caller){.number = number, .to = l->server};
    c->rtp = udp_socket(&port);
    listen_to(l, c->rtp, number);
    (void)snprintf(sdp, sizeof sdp,
                   "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio %d RTP/AVP 0\r\n",
                   port);
    c->invited_us = clock_monotonic_us();
    send_request(l, c, "INVITE", "", sdp);
}

static void take_answer(struct load *l, char *text)
{
    char tag[200] = "";
    const char *id = strstr(text, "Call-ID: bench-"), *to = strstr(text, "\r\nTo: "), *media = strstr(text, "m=audio ");
    struct caller *c = id ? &l->callers[atoi(id + 15)] : NULL;
    if (!c || strncmp(text, "SIP/2.0 200", 11) != 0 || !to || !media || !strstr(text, "INVITE"))
        return;
    const char *at = strstr(to, ";tag=");
    if (at)
        (void)snprintf(tag, sizeof tag, "%.*s", (int)strcspn(at, "\r\n"), at);
    send_request(l, c, "ACK", tag, "");
    if (c->established)
        return;
    c->established = true;
    c->to.sin_port = htons((uint16_t)atoi(media + 8));
    l->established++;
    add_time(&l->set_up, clock_monotonic_us() - c->invited_us);
}

/* The kernel's time of the packet, in microseconds. */
static int64_t arrival_us(struct msghdr *m)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        struct timespec t;
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SO_TIMESTAMPNS)
            continue;
        memcpy(&t, CMSG_DATA(c), sizeof t);
        return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
    }
    return 0;
}

static void read_all(struct load *l, int number)
{
    char bytes[4096], control[256];
    const bool is_sip = number == l->count;
    const int fd = is_sip ? l->sip : l->callers[number].rtp;
    for (;;) {
        struct iovec v = {bytes, sizeof bytes - 1};
        struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
        const ssize_t n = recvmsg(fd, &m, 0);
        if (n <= 0)
            return;
        bytes[n] = '\0';
        if (is_sip) {
            take_answer(l, bytes);
            continue;
        }
        struct caller *c = &l->callers[number];
        const int64_t at_us = arrival_us(&m);
        if (l->measuring && c->last_us && at_us - c->last_us < GAP_MAX_US)
            add_time(&l->spacing, at_us - c->last_us);
        c->last_us = at_us;
    }
}

static void send_silence(struct load *l)
{
    uint8_t packet[FRAME_LEN] = {0x80};
    memset(packet + 12, 0xff, sizeof packet - 12);
    for (int i = 0; i < l->placed; i++) {
        struct caller *c = &l->callers[i];
        if (!c->established)
            continue;
        const uint32_t timestamp = htonl(c->seq * 160U), source = htonl((uint32_t)i + 1);
        const uint16_t seq = htons(c->seq++);
        memcpy(packet + 2, &seq, sizeof seq);
        memcpy(packet + 4, &timestamp, sizeof timestamp);
        memcpy(packet + 8, &source, sizeof source);
        (void)sendto(c->rtp, packet, sizeof packet, 0, (struct sockaddr *)&c->to, sizeof c->to);
    }
}

/* Places the calls, then measures; a byte to `done_fd` marks each end. */
static void load(int address_fd, int done_fd, int calls)
{
    char address[64] = "";
    struct load *l = calloc(1, sizeof *l);
    int port;
    pin(1);
    if (read(address_fd, address, sizeof address - 1) <= 0)
        fail("no service");
    l->server = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    l->server.sin_port = htons((uint16_t)atoi(strrchr(address, ':') + 1));
    l->count = calls;
    l->callers = calloc((size_t)calls, sizeof *l->callers);
    l->events = epoll_create1(0);
    l->sip = udp_socket(&port);
    listen_to(l, l->sip, calls);
    const int64_t began_us = clock_monotonic_us();
    int64_t next_us = began_us, measure_us = 0;
    for (;;) {
        struct epoll_event events[64];
        const int64_t now_us = clock_monotonic_us();
        if (now_us >= next_us) {
            next_us += FRAME_MS * 1000;
            send_silence(l);
            for (int i = 0; i < A_SECOND * FRAME_MS / 1000 && l->placed < calls; i++)
                place(l, l->placed++);
        }
        if (!measure_us && l->established == calls) {
            measure_us = now_us + 500000;
        } else if (measure_us && !l->measuring && now_us >= measure_us) {
            l->measuring = true;
            (void)!write(done_fd, "b", 1);
        } else if (l->measuring && now_us - measure_us > sized(MEASURE_MS, 500) * INT64_C(1000)) {
            break;
        }
        if (now_us - began_us > INT64_C(15000000) && !l->measuring)
            fail("calls were not answered");
        const int n = epoll_wait(l->events, events, 64, now_us < next_us ? (int)((next_us - now_us) / 1000) : 0);
        for (int i = 0; i < n; i++)
            read_all(l, (int)events[i].data.u64);
    }
    (void)!write(done_fd, "e", 1);
    printf("set-up: %d calls, p50 %.2f ms, p99 %.2f ms\n", l->set_up.n, part_ms(&l->set_up, 500),
           part_ms(&l->set_up, 990));
    printf("spacing: %d packets, p50 %.2f ms, p99 %.2f ms, p99.9 %.2f ms\n", l->spacing.n, part_ms(&l->spacing, 500),
           part_ms(&l->spacing, 990), part_ms(&l->spacing, 999));
    fflush(stdout);
    exit(0);
}

/* ---- sipp ---- */

static void write_file(const char *dir, const char *name, const void *bytes, size_t n)
{
    char path[160];
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    const int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n || close(fd))
        fail("cannot write for sipp");
}

/* SIPP_MS of silent packets: Ethernet, IPv4, UDP, RTP. sipp replaces addresses and ports. */
static void write_pcap(const char *dir)
{
    static uint8_t file[24 + SIPP_MS / FRAME_MS * (16 + 42 + FRAME_LEN)];
    static const uint32_t head[] = {0xa1b2c3d4, 4U << 16 | 2, 0, 0, 65535, 1};
    uint8_t *p = file;
    memcpy(p, head, sizeof head);
    p += sizeof head;
    for (uint32_t i = 0; i < SIPP_MS / FRAME_MS; i++) {
        const uint32_t record[] = {i * FRAME_MS / 1000, i * FRAME_MS % 1000 * 1000, 42 + FRAME_LEN, 42 + FRAME_LEN};
        uint8_t frame[42 + FRAME_LEN] = {
            [12] = 8, [14] = 0x45, [17] = 28 + FRAME_LEN, [22] = 64, [23] = 17, [42] = 0x80};
        const uint32_t timestamp = htonl(i * 160);
        frame[38] = (8 + FRAME_LEN) >> 8;
        frame[39] = (8 + FRAME_LEN) & 0xff;
        frame[44] = (uint8_t)(i >> 8);
        frame[45] = (uint8_t)i;
        memcpy(frame + 46, &timestamp, sizeof timestamp);
        memset(frame + 54, 0xff, FRAME_LEN - 12);
        memcpy(p, record, sizeof record);
        memcpy(p + sizeof record, frame, sizeof frame);
        p += sizeof record + sizeof frame;
    }
    write_file(dir, "silence.pcap", file, sizeof file);
}

static const char SCENARIO[] =
    "<?xml version=\"1.0\"?><scenario name=\"greetings\"><send retrans=\"500\"><![CDATA[\n"
    "INVITE sip:+19990000000@[remote_ip]:[remote_port] SIP/2.0\n"
    "Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]\nMax-Forwards: 70\n"
    "From: <sip:sipp@[local_ip]>;tag=[call_number]\nTo: <sip:+19990000000@[remote_ip]>\n"
    "Call-ID: [call_id]\nCSeq: 1 INVITE\nContact: <sip:sipp@[local_ip]:[local_port]>\n"
    "Content-Type: application/sdp\nContent-Length: [len]\n\n"
    "v=0\no=- 1 1 IN IP4 [local_ip]\ns=-\nc=IN IP4 [media_ip]\nt=0 0\nm=audio [auto_media_port] RTP/AVP "
    "0\n\n]]></send>\n"
    "<recv response=\"100\" optional=\"true\"/><recv response=\"200\" rrs=\"true\"/><send><![CDATA[\n"
    "ACK [next_url] SIP/2.0\nVia: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]\nMax-Forwards: 70\n"
    "From: <sip:sipp@[local_ip]>;tag=[call_number]\n[last_To:]\nCall-ID: [call_id]\nCSeq: 1 ACK\n"
    "Content-Length: 0\n\n]]></send>\n"
    "<nop><action><exec play_pcap_audio=\"silence.pcap\"/></action></nop><pause milliseconds=\"60000\"/></scenario>\n";

/* The calls of sipp, from core 1. */
static pid_t start_sipp(const char *dir, const char *address, int calls)
{
    char n[12], rate[12];
    write_pcap(dir);
    write_file(dir, "greetings.xml", SCENARIO, sizeof SCENARIO - 1);
    (void)snprintf(n, sizeof n, "%d", calls);
    (void)snprintf(rate, sizeof rate, "%d", A_SECOND);
    const pid_t child = fork();
    if (child)
        return child;
    pin(1);
    const int null = open("/dev/null", O_RDWR);
    if (chdir(dir) || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
        exit(1);
    execlp("sipp", "sipp", address, "-sf", "greetings.xml", "-m", n, "-r", rate, "-l", n, "-i", "127.0.0.1",
           "-base_cseq", "1", "-cid_str", "%u-bench@%s", "-nostdin", NULL);
    exit(1);
}

/* The processor time of a process so far, from /proc. */
static int64_t cpu_of(pid_t pid)
{
    char path[40];
    unsigned long user = 0, system_time = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    if (!f || fscanf(f, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system_time) != 2)
        fail("sipp has ended");
    (void)fclose(f);
    return (int64_t)(user + system_time) * (1000000 / sysconf(_SC_CLK_TCK));
}

static int64_t own_cpu(void)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return cpu_us(&r);
}

/* UDP packets that sockets of this network namespace have received. */
static int64_t received(void)
{
    char line[512];
    long long n = 0;
    FILE *f = fopen("/proc/net/snmp", "r");
    while (f && fgets(line, sizeof line, f) && sscanf(line, "Udp: %lld", &n) != 1)
        ;
    if (f)
        (void)fclose(f);
    return n;
}

/* Prints the time that the service takes for a second of a call, `mine` in us, next to sipp's time for as many
 * packets. On a busy machine sipp sends fewer than it should, so its time is counted for each packet. */
static void compare_with_sipp(const char *dir, const char *address, int calls, double mine)
{
    const pid_t sipp = start_sipp(dir, address, calls);
    usleep((useconds_t)(calls * 1000000LL / A_SECOND + sized(1000000, 300000)));
    const int64_t cpu = cpu_of(sipp), packets = received();
    usleep((useconds_t)sized(5000000, 500000));
    const double its = (double)(cpu_of(sipp) - cpu) / (double)(received() - packets) * 1000 / FRAME_MS;
    kill(sipp, SIGKILL);
    waitpid(sipp, NULL, 0);
    printf("cpu: %.1f us for a second of a call, sipp %.1f us, ratio %.2f\n", mine, its, mine / its);
}

/* A network of its own, so that only packets of this measurement are counted. */
static bool isolate(void)
{
    return !geteuid() && !system("command -v sipp ip >/dev/null") && !unshare(CLONE_NEWNET) &&
           !system("ip link set lo up");
}

/* ---- service ---- */

static void serve(const char *dir, int calls, int address_fd, int done_fd, pid_t child, struct times *timer,
                  bool isolated)
{
    struct sip_service s = {0};
    char voice[128], byte;
    int status;
    pin(0);
    (void)snprintf(voice, sizeof voice, "calls = %d calls_per_source = %d", 2 * calls, 2 * calls);
    start_service(&s, dir, voice, calls, address_fd);
    if (read(done_fd, &byte, 1) != 1)
        fail("the callers failed");
    const int before = timer->n;
    const int64_t cpu = own_cpu(), at_us = clock_monotonic_us();
    if (read(done_fd, &byte, 1) != 1)
        fail("the callers failed");
    const double core = (double)(own_cpu() - cpu) / (double)(clock_monotonic_us() - at_us);
    static struct times bare;
    for (int i = before; i < timer->n; i++)
        add_time(&bare, timer->us[i]);
    waitpid(child, &status, 0);
    printf("timer: p50 %.2f ms, p99 %.2f ms; the service took %.1f %% of its core\n", part_ms(&bare, 500),
           part_ms(&bare, 990), 100 * core);
    fflush(stdout);
    if (isolated)
        compare_with_sipp(dir, sip_address(s.agent), calls, core * 1e6 / calls);
    sip_stop(s.agent, 0);
    store_close(s.store);
    sip_free(s.agent);
    config_free(s.config);
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        fail("the callers failed");
}

int main(int argc, char **argv)
{
    const int calls = argc > 1 ? atoi(argv[1]) : sized(CALLS, 20);
    char dir[] = "/tmp/portero-bench-XXXXXX";
    int address[2], done[2];
    struct times *timer = mmap(NULL, sizeof *timer, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (calls < 1 || timer == MAP_FAILED || !mkdtemp(dir) || pipe(address) || pipe(done))
        fail("usage: bench_greetings [CALLS]");
    greeting = GREETING;
    const bool isolated = isolate();
    const pid_t child = fork(); /* before any thread is started */
    if (child < 0)
        fail("cannot fork");
    if (!child) {
        close(address[1]);
        close(done[0]);
        load(address[0], done[1], calls);
    }
    close(address[0]);
    close(done[1]);
    const pid_t ticks = start_timer(timer);
    signal(SIGPIPE, SIG_IGN);
    serve(dir, calls, address[1], done[0], child, timer, isolated);
    kill(ticks, SIGKILL);
    waitpid(ticks, NULL, 0);
    remove_dir(dir);
    return 0;
}
