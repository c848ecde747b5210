/* The setup time of calls during a flood of INVITEs that are never acknowledged, and the fate of calls whose ACK is
 * late.
 *
 * The service (SIP agent, domain, SQLite store with durable commits) runs pinned to one core; caller and flood are
 * two processes on another. The caller places calls one after the other, repeats an INVITE that is not
 * answered as RFC 3261 says, and measures from its first INVITE to the 200. Each 200 of a late call gets its ACK. Each
 * flood runs next to a control without one, on the same service. The caller's addresses have called before. usage:
 * bench_flood [SECONDS]; prints a line for each flood and each delay. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "../test/unit/media/raw_sip.h"
#include "base/log.h"
#include "sip_service.h"
#include "sized.h"

#define SECONDS   30
#define NUMBER    "+19990000000"
#define SOURCES   1000
#define GAP_US    20000 /* between two calls of the caller */
#define CALLS_MAX 10000
#define RESEND_MS 500
#define CALLERS   20    /* addresses of the caller */
#define LATE_RATE 200   /* calls a second whose ACK is late */
#define LATE_MAX  1000  /* of these at once */
#define HEAR_MS   10000 /* from an ACK to its first audio; a lost one is asked for again within 4 s */

/* ---- the service ---- */

/* Runs until it is killed. */
static void serve(const char *dir, const char *voice, const char *sql, int address_fd)
{
    struct sip_service s = {.sql = sql};
    pin(0);
    log_set_level(LOG_WARN);
    start_service(&s, dir, voice, 1, address_fd);
    for (;;)
        pause();
}

struct service {
    pid_t pid;
    char dir[32], address[64];
};

static void start(struct service *s, const char *voice, const char *sql)
{
    int address[2];
    *s = (struct service){.dir = "/tmp/portero-bench-XXXXXX"};
    if (!mkdtemp(s->dir) || pipe(address) || (s->pid = fork()) < 0)
        fail("cannot start");
    if (!s->pid)
        serve(s->dir, voice, sql, address[1]);
    close(address[1]);
    if (read(address[0], s->address, sizeof s->address - 1) <= 0)
        fail("no service");
    close(address[0]);
}

static void stop(const struct service *s)
{
    kill(s->pid, SIGKILL);
    waitpid(s->pid, NULL, 0);
    remove_dir(s->dir);
}

/* The CPU seconds that it has used, and its resident memory in MB. */
static double cpu_of(const struct service *s, double *ret_mb)
{
    char path[64], text[4096] = "";
    unsigned long user = 0, kernel = 0;
    long pages = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/stat", s->pid);
    FILE *f = fopen(path, "r");
    if (!f || !fread(text, 1, sizeof text - 1, f))
        fail("the service is gone");
    fclose(f);
    const char *after = strrchr(text, ')');
    if (!after ||
        sscanf(after, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %*d %*d %*d %*d %*d %*d %*u %*u %ld",
               &user, &kernel, &pages) != 3)
        fail("cannot read /proc");
    *ret_mb = (double)pages * (double)sysconf(_SC_PAGESIZE) / 1e6;
    return (double)(user + kernel) / (double)sysconf(_SC_CLK_TCK);
}

/* ---- the flood ---- */

static void flood(const char *address, int rate)
{
    struct raw *forgers = calloc(SOURCES, sizeof *forgers);
    int64_t began_us = clock_monotonic_us();
    if (!forgers)
        fail("no memory");
    for (int i = 0; i < SOURCES; i++) {
        char host[32];
        (void)snprintf(host, sizeof host, "127.1.%d.%d", i / 250, 1 + i % 250);
        raw_open_at(&forgers[i], host, address);
    }
    for (int64_t sent = 0;; usleep(1000)) {
        int64_t due = (clock_monotonic_us() - began_us) * rate / 1000000;
        for (; sent < due; sent++) {
            struct raw *forger = &forgers[sent % SOURCES];
            forger->sip_port = 10000 + (int)(sent / SOURCES); /* part of Call-ID and branch: makes it another call */
            raw_invite(forger, NUMBER);
        }
    }
}

static pid_t start_flood(const char *address, int rate)
{
    pid_t pid = fork();
    if (pid < 0)
        fail("cannot fork");
    if (!pid) {
        pin(1);
        flood(address, rate);
    }
    return pid;
}

/* ---- the caller ---- */

struct figures {
    double p50_ms, p99_ms, max_ms, cpu, mb;
    int calls, refused, silent; /* silent: no audio arrived */
};

/* Sends an INVITE and repeats it until the final answer: its status. */
static int set_up(struct raw *r)
{
    for (int waited_ms = 0, wait_ms = RESEND_MS; waited_ms < 64 * RESEND_MS; waited_ms += wait_ms, wait_ms *= 2) {
        raw_invite(r, NUMBER);
        r->branch--; /* the next request is a repetition */
        struct pollfd p = {.fd = r->sip, .events = POLLIN};
        if (poll(&p, 1, wait_ms) > 0) {
            int status = raw_final(r);
            r->branch++;
            return status;
        }
    }
    return 0;
}

static struct figures call_for(const struct service *s, int ms)
{
    static int64_t times[CALLS_MAX];
    static int serial;
    struct figures f = {0};
    int64_t end_us = clock_monotonic_us() + (int64_t)ms * 1000;
    double before = cpu_of(s, &f.mb);
    while (clock_monotonic_us() < end_us && f.calls < CALLS_MAX) {
        struct raw r;
        char host[32];
        (void)snprintf(host, sizeof host, "127.2.0.%d", 1 + ++serial % CALLERS);
        raw_open_at(&r, host, s->address);
        r.sip_port = 1024 + serial % 60000; /* part of Call-ID and branch: ports come again */
        int64_t began_us = clock_monotonic_us();
        int status = set_up(&r);
        times[f.calls++] = clock_monotonic_us() - began_us;
        if (status == 200) {
            struct pollfd p = {.fd = r.rtp, .events = POLLIN};
            raw_request(&r, "ACK", NUMBER, 1, "", "");
            f.silent += poll(&p, 1, 1000) <= 0;
            raw_request(&r, "BYE", NUMBER, 2, "", "");
        } else {
            f.refused++;
        }
        usleep(GAP_US);
        raw_close(&r);
    }
    f.cpu = (cpu_of(s, &f.mb) - before) / ms * 1e5;
    qsort(times, (size_t)f.calls, sizeof *times, ascending);
    f.p50_ms = (double)times[f.calls / 2] / 1000;
    f.p99_ms = (double)times[f.calls * 99 / 100] / 1000;
    f.max_ms = (double)times[f.calls - 1] / 1000;
    return f;
}

static void print(const char *what, const struct figures *f)
{
    printf(
        "  %s: %d calls, p50 %.2f ms, p99 %.2f ms, max %.2f ms, %d refused, %d without audio, CPU %.1f %%, %.1f MB\n",
        what, f->calls, f->p50_ms, f->p99_ms, f->max_ms, f->refused, f->silent, f->cpu, f->mb);
}

static void measure(const char *name, const char *voice, int rate, int ms)
{
    struct service s;
    start(&s, voice, NULL);
    (void)call_for(&s, sized(1000, 100));
    struct figures without = call_for(&s, ms);
    pid_t forger = start_flood(s.address, rate);
    (void)call_for(&s, sized(1000, 100));
    struct figures with = call_for(&s, ms);
    kill(forger, SIGKILL);
    waitpid(forger, NULL, 0);
    stop(&s);
    printf("%s: p99 %.2f ms, without the flood %.2f ms, ratio %.1f\n", name, with.p99_ms, without.p99_ms,
           with.p99_ms / without.p99_ms);
    print("with", &with);
    print("without", &without);
    fflush(stdout);
}

/* ---- calls whose ACK is late ---- */

/* Each opens the door at once, and so takes a use. */
#define OPEN "UPDATE access_grant SET type = 0, access_code = NULL, remaining_uses = 1000000"

struct late_call {
    struct raw r;
    int64_t began_us, repeat_us; /* its INVITE, and the next repetition; 0: there was a response */
    int64_t ack_us;              /* when the ACK of the last 200 is due; 0: each 200 has one */
    int64_t heard_us;            /* the end of the wait for audio; 0: no ACK was sent */
    bool used;
};

struct fates {
    int calls, refused, silent, dead;
};

/* The call is over; its place is free. */
static void end_late(struct late_call *c)
{
    raw_close(&c->r);
    c->used = false;
}

static void begin_late(struct late_call *c, const char *address, int hosts, int serial)
{
    char host[32];
    *c = (struct late_call){.used = true};
    (void)snprintf(host, sizeof host, "127.2.0.%d", 1 + serial % hosts);
    raw_open_at(&c->r, host, address);
    c->r.sip_port = 1024 + serial % 60000; /* part of Call-ID and branch: ports come again */
    raw_invite(&c->r, NUMBER);
    c->began_us = clock_monotonic_us();
    c->repeat_us = c->began_us + RESEND_MS * 1000;
}

/* As RFC 3261 says: after 0.5 s, then twice as long each time, until there is a response. False: after 32 s. */
static bool repeat_late(struct late_call *c, int64_t now_us)
{
    if (!c->repeat_us || now_us < c->repeat_us)
        return true;
    c->r.branch--; /* the same transaction */
    raw_invite(&c->r, NUMBER);
    c->repeat_us = now_us + (c->repeat_us - c->began_us);
    return now_us - c->began_us < 64 * RESEND_MS * 1000;
}

/* Each 200 gets its ACK, a repeated one as well: else the service must take the call for one that lost its answer. */
static void hear_late(struct late_call *c, int status, int64_t delay_us, int64_t now_us)
{
    if (status)
        c->repeat_us = 0;
    if (status != 200 || c->ack_us)
        return;
    raw_note_tag(&c->r);
    c->ack_us = now_us + delay_us;
}

static void acknowledge_late(struct late_call *c, int64_t now_us)
{
    raw_request(&c->r, "ACK", NUMBER, 1, "", "");
    c->ack_us = 0;
    if (!c->heard_us)
        c->heard_us = now_us + HEAR_MS * 1000;
}

/* Handles a message or audio that came for the call, and the end of a wait. */
static void step_late(struct late_call *c, int64_t delay_us, struct fates *f)
{
    const int64_t now_us = clock_monotonic_us();
    char packet[2048];
    const int status = raw_receive(&c->r, 0);
    hear_late(c, status, delay_us, now_us);
    if (status >= 300) {
        c->r.branch--; /* part of the same transaction */
        raw_note_tag(&c->r);
        raw_request(&c->r, "ACK", NUMBER, 1, "", "");
        f->refused++;
        end_late(c);
    } else if (!repeat_late(c, now_us)) {
        f->silent++;
        end_late(c);
    } else if (c->ack_us && now_us >= c->ack_us) {
        acknowledge_late(c, now_us);
    } else if (c->heard_us && recv(c->r.rtp, packet, sizeof packet, MSG_DONTWAIT) > 0) {
        raw_request(&c->r, "BYE", NUMBER, 2, "", "");
        end_late(c);
    } else if (c->heard_us && now_us >= c->heard_us) {
        f->dead++;
        end_late(c);
    }
}

/* The uses that the calls have taken. */
static int uses_of(const struct service *s)
{
    char path[128];
    sqlite3 *db;
    sqlite3_stmt *statement = NULL;
    (void)snprintf(path, sizeof path, "%s/portero.db", s->dir);
    if (sqlite3_open(path, &db) ||
        sqlite3_prepare_v2(db, "SELECT 1000000 - remaining_uses FROM access_grant", -1, &statement, NULL) ||
        sqlite3_step(statement) != SQLITE_ROW)
        fail("cannot read the store");
    const int uses = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return uses;
}

static void measure_late(int hosts, int delay_ms, int ms)
{
    static struct late_call calls[LATE_MAX];
    struct fates f = {0};
    struct service s;
    start(&s, "peers = {\"127.0.0.0/8\"} calls = 2000 calls_per_source = 2000", OPEN);
    const int64_t began_us = clock_monotonic_us();
    const int all = LATE_RATE * ms / 1000;
    for (int busy = 1; busy; usleep(500)) {
        const int64_t due = (clock_monotonic_us() - began_us) * LATE_RATE / 1000000;
        busy = f.calls < all;
        for (int i = 0; i < LATE_MAX; i++) {
            struct late_call *c = &calls[i];
            if (!c->used && f.calls < all && f.calls < due)
                begin_late(c, s.address, hosts, f.calls++);
            else if (c->used)
                step_late(c, delay_ms * 1000, &f);
            busy |= c->used;
        }
    }
    const int heard = f.calls - f.refused - f.silent - f.dead;
    printf("%d calls a second from %d addresses, ACK after %d ms: %d calls, %d refused, %d without an answer, %d dead, "
           "%d uses lost\n",
           LATE_RATE, hosts, delay_ms, f.calls, f.refused, f.silent, f.dead, uses_of(&s) - heard);
    fflush(stdout);
    stop(&s);
}

/* Both processes hold two descriptors for each call. */
static void allow_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit))
        fail("no limit of descriptors");
    limit.rlim_cur = limit.rlim_max < 8192 ? limit.rlim_max : 8192;
    if (setrlimit(RLIMIT_NOFILE, &limit))
        fail("too few descriptors");
}

int main(int argc, char **argv)
{
    static const int delays_ms[] = {0, 100, 300, 1000};
    const int ms = argc > 1 ? 1000 * atoi(argv[1]) : sized(1000 * SECONDS, 200);
    if (ms < 1)
        fail("usage: bench_flood [SECONDS]");
    allow_descriptors();
    pin(1);
    for (size_t i = 0; i < 4; i++) {
        measure_late(1, delays_ms[i], ms / 3);
        measure_late(40, delays_ms[i], ms / 3);
    }
    measure("300 INVITEs a second from 1,000 addresses", "", 300, ms);
    measure("5,000 INVITEs a second from outside voice.peers", "peers = {\"127.0.0.1\", \"127.2.0.0/16\"}", 5000, ms);
    return 0;
}
