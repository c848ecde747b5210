/* A caller's set-up while others flood the SIP port with INVITEs that they never acknowledge.
 *
 * The service (SIP agent, domain, SQLite store with durable commits) runs pinned to one core; caller and flood are
 * processes of their own on another. The caller places calls one after the other, repeats an INVITE that is not
 * answered as RFC 3261 says, and measures from its first INVITE to the 200. Each flood runs next to a control without
 * one, on the same service. usage: bench_flood [SECONDS]; prints a line for each flood. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../test/unit/voice/raw_sip.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/log.h"
#include "voice/sip.h"

#define SECONDS   30
#define NUMBER    "+19990000000"
#define SOURCES   1000
#define GAP_US    20000 /* between two calls of the caller */
#define CALLS_MAX 10000
#define RESEND_MS 500

static void fail(const char *what)
{
    fprintf(stderr, "bench_flood: %s\n", what);
    exit(1);
}

static void pin(int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)core, &set);
    if (sched_setaffinity(0, sizeof set, &set))
        fprintf(stderr, "bench_flood: not pinned to core %d\n", core);
}

/* ---- the service ---- */

static void seed(const char *dir)
{
    static const char sql[] =
        "INSERT INTO account (id, email, created_at, plan, subscription_status) "
        "VALUES ('a00000000000000000000000', 'a@example.com', 0, 'weekly', 'active');"
        "INSERT INTO building (account_id, id, created_at, is_primary, label, virtual_number, unlock_tone, "
        "greeting_welcome, greeting_granted) VALUES ('a00000000000000000000000', 'b00000000000000000000000', 0, 1, "
        "'Home', '" NUMBER "', '9', '', '');"
        "INSERT INTO grant_building (id, number) VALUES ('b00000000000000000000000', 1);"
        "INSERT INTO access_grant (building, id, type, label, enabled, version, created_at, ends_at, access_code) "
        "VALUES (1, x'c00000000000000000000000', 1, 'Visitor', 1, 0, 0, 9223372036854775807, '1234');";
    char path[128], *why = NULL;
    sqlite3 *db;
    (void)snprintf(path, sizeof path, "%s/portero.db", dir);
    if (sqlite3_open(path, &db) || sqlite3_exec(db, sql, NULL, NULL, &why))
        fail(why ? why : "cannot seed");
    sqlite3_close(db);
}

static struct config *configure(const char *dir, const char *peers)
{
    char path[128], *why = NULL;
    struct config *config;
    (void)snprintf(path, sizeof path, "%s/portero.conf", dir);
    FILE *f = fopen(path, "w");
    if (!f ||
        fprintf(f, "data_dir = \"%s\"\nlisten { sip = \"127.0.0.1:0\" }\nvoice { peers = {%s} }\n", dir, peers) < 0 ||
        fclose(f))
        fail("cannot write the configuration");
    if (config_load(path, &config, &why))
        fail(why);
    return config;
}

/* Runs until it is killed; nothing of it is needed any more then. */
static void serve(const char *dir, const char *peers, int address_fd)
{
    static const unsigned char master[SHA256_LEN];
    char *why = NULL;
    struct store *store = NULL;
    struct sip_agent *agent = NULL;
    struct config *config = configure(dir, peers);
    pin(0);
    crypto_set_master(master, NULL);
    log_set_level(LOG_WARN);
    if (store_open(config, true, &store, &why))
        fail(why);
    seed(dir);
    if (store_start(store) || sip_start(config, store, &agent, &why))
        fail(why ? why : "cannot start");
    const char *address = sip_address(agent);
    if (write(address_fd, address, strlen(address)) < 0)
        fail("nobody calls");
    for (;;)
        pause();
}

struct service {
    pid_t pid;
    char dir[32], address[64];
};

static void start(struct service *s, const char *peers)
{
    int address[2];
    *s = (struct service){.dir = "/tmp/portero-bench-XXXXXX"};
    if (!mkdtemp(s->dir) || pipe(address) || (s->pid = fork()) < 0)
        fail("cannot start");
    if (!s->pid)
        serve(s->dir, peers, address[1]);
    close(address[1]);
    if (read(address[0], s->address, sizeof s->address - 1) <= 0)
        fail("no service");
    close(address[0]);
}

static void stop(const struct service *s)
{
    char command[128];
    kill(s->pid, SIGKILL);
    waitpid(s->pid, NULL, 0);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", s->dir);
    if (system(command))
        fprintf(stderr, "bench_flood: %s is left\n", s->dir);
}

/* CPU seconds it has used, and its resident memory in MB. */
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
    struct raw *liars = calloc(SOURCES, sizeof *liars);
    int64_t began_us = clock_monotonic_us();
    if (!liars)
        fail("no memory");
    for (int i = 0; i < SOURCES; i++) {
        char host[32];
        (void)snprintf(host, sizeof host, "127.1.%d.%d", i / 250, 1 + i % 250);
        raw_open_at(&liars[i], host, address);
    }
    for (int64_t sent = 0;; usleep(1000)) {
        int64_t due = (clock_monotonic_us() - began_us) * rate / 1000000;
        for (; sent < due; sent++) {
            struct raw *liar = &liars[sent % SOURCES];
            liar->sip_port = 10000 + (int)(sent / SOURCES); /* which goes into Call-ID and branch: another call */
            raw_request(liar, "INVITE", NUMBER, 1, RAW_SDP, raw_offer(liar, "sendrecv"));
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
    int calls, refused, silent; /* silent: no audio came, so it was dropped after all */
};

/* The final status; the INVITE is repeated while there is none. */
static int set_up(struct raw *r)
{
    for (int waited_ms = 0, wait_ms = RESEND_MS; waited_ms < 64 * RESEND_MS; waited_ms += wait_ms, wait_ms *= 2) {
        raw_request(r, "INVITE", NUMBER, 1, RAW_SDP, raw_offer(r, "sendrecv"));
        r->branch--; /* the next one is the same */
        struct pollfd p = {.fd = r->sip, .events = POLLIN};
        if (poll(&p, 1, wait_ms) > 0) {
            int status = raw_final(r);
            r->branch++;
            return status;
        }
    }
    return 0;
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static struct figures call_for(const struct service *s, int seconds)
{
    static int64_t times[CALLS_MAX];
    static int serial;
    struct figures f = {0};
    int64_t end_us = clock_monotonic_us() + (int64_t)seconds * 1000000;
    double before = cpu_of(s, &f.mb);
    while (clock_monotonic_us() < end_us && f.calls < CALLS_MAX) {
        struct raw r;
        char host[32]; /* another one each time, so that no Call-ID comes again */
        (void)snprintf(host, sizeof host, "127.2.%d.%d", serial / 250, 1 + serial % 250);
        serial++;
        raw_open_at(&r, host, s->address);
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
    f.cpu = (cpu_of(s, &f.mb) - before) / seconds * 100;
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

static void measure(const char *name, const char *peers, int rate, int seconds)
{
    struct service s;
    start(&s, peers);
    (void)call_for(&s, 1);
    struct figures without = call_for(&s, seconds);
    pid_t liar = start_flood(s.address, rate);
    (void)call_for(&s, 1);
    struct figures with = call_for(&s, seconds);
    kill(liar, SIGKILL);
    waitpid(liar, NULL, 0);
    stop(&s);
    printf("%s: p99 %.2f ms, without the flood %.2f ms, ratio %.1f\n", name, with.p99_ms, without.p99_ms,
           with.p99_ms / without.p99_ms);
    print("with", &with);
    print("without", &without);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int seconds = argc > 1 ? atoi(argv[1]) : SECONDS;
    if (seconds < 1)
        fail("usage: bench_flood [SECONDS]");
    pin(1);
    measure("300 INVITEs a second from 1,000 addresses", "", 300, seconds);
    measure("5,000 INVITEs a second from outside voice.peers", "\"127.0.0.1\", \"127.2.0.0/16\"", 5000, seconds);
    return 0;
}
