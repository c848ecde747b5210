/* The time of an urgent write while 256 clients write without pause, compared with a write that is not urgent, and with
 * one while nobody else writes. They take turns, as the speed of disks varies.
 *
 * usage: bench_queue [DSN]
 * prints p50 and p99 of each, in ms, and how many writes a second the clients made meanwhile; on SQLite, or in a
 * database of PostgreSQL, whose content is lost. */
#include <ftw.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/id.h"
#include "sized.h"
#include "store/store.h"

#define CLIENTS 256
#define ROWS    3 /* in one client's write: as many as a grant and its receipt have */
#define ROUNDS  7
#define ASKED   200
#define PACE_US 5000

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "bench_queue: %s failed\n", what);
    exit(1);
}

/* ---- writes ---- */

static enum err insert(struct db *db, int count)
{
    const struct id account = {"0123456789abcdef01234567"};
    enum err e = ERR_NONE;
    for (int i = 0; !e && i < count; i++) {
        const struct id id = id_new(clock_now_us());
        e = db_exec(db,
                    SQL(event_insert, .account_id = &account, .id = str_z(id.text), .building_id = NULL,
                        .type = STR("access.denied"), .created_at = clock_now_us(),
                        .data = STR("{\"building_label\":\"Home\"}"), .trace = STR_NONE),
                    NULL);
    }
    return e;
}

struct load;
struct client {
    struct store_task job;
    struct load *load;
};
struct load {
    struct store *store;
    struct client clients[CLIENTS];
    _Atomic bool over;
    _Atomic int written;
    sem_t ended;
};

static enum err client_run(struct store_task *job, struct db *db)
{
    (void)job;
    return insert(db, ROWS);
}

static void client_done(struct store_task *job, enum err result)
{
    struct load *l = ((struct client *)job)->load;
    must(!result, "a client's write");
    l->written++;
    if (l->over)
        sem_post(&l->ended);
    else
        store_submit(l->store, job);
}

static void load_start(struct load *l)
{
    l->over = false;
    for (int i = 0; i < CLIENTS; i++) {
        l->clients[i] =
            (struct client){.job = {.mode = STORE_WRITE, .run = client_run, .done = client_done}, .load = l};
        store_submit(l->store, &l->clients[i].job);
    }
}

static void load_stop(struct load *l)
{
    l->over = true;
    for (int i = 0; i < CLIENTS; i++)
        sem_wait(&l->ended);
}

/* ---- the measurements ---- */

static enum err asked_run(void *arg, struct db *db)
{
    (void)arg;
    return insert(db, 1);
}

static void ask(struct store *store, bool urgent, int asked, double ret_ms[static asked])
{
    for (int i = 0; i < asked; i++) {
        const int64_t from_us = clock_monotonic_us();
        must(!(urgent ? store_run_urgent(store, asked_run, NULL) : store_run(store, STORE_WRITE, asked_run, NULL)),
             "a write");
        ret_ms[i] = (double)(clock_monotonic_us() - from_us) / 1000;
        usleep(PACE_US);
    }
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

static int unlink_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

int main(int argc, char **argv)
{
    static double urgent[ROUNDS * ASKED], other[ROUNDS * ASKED], idle[ROUNDS * ASKED];
    static struct load load;
    char dir[] = "/var/tmp/portero-bench-XXXXXX", *why = NULL; /* /tmp may be memory */
    must(mkdtemp(dir) != NULL, "a directory");
    struct config c = {.engine = argc > 1 ? ENGINE_POSTGRESQL : ENGINE_SQLITE,
                       .top_data_dir = dir,
                       .store_dsn = argc > 1 ? argv[1] : NULL,
                       .store_workers = 16,
                       .store_wait_s = 30,
                       .store_queue = 10000,
                       .store_statement_timeout_s = 10,
                       .store_lock_timeout_s = 3,
                       .store_idle_timeout_s = 3};
    must(!store_open(&c, true, &load.store, &why), why ? why : "open");
    must(!store_start(load.store), "start");
    sem_init(&load.ended, 0, 0);
    const int rounds = sized(ROUNDS, 2), asked = sized(ASKED, 5);
    int64_t loaded_us = 0;
    for (int i = 0; i < rounds; i++) {
        ask(load.store, true, asked, idle + (ptrdiff_t)i * asked);
        loaded_us -= clock_monotonic_us();
        load_start(&load);
        ask(load.store, i % 2, asked, (i % 2 ? urgent : other) + (ptrdiff_t)i * asked);
        ask(load.store, !(i % 2), asked, (i % 2 ? other : urgent) + (ptrdiff_t)i * asked);
        load_stop(&load);
        loaded_us += clock_monotonic_us();
    }
    const size_t n = (size_t)rounds * (size_t)asked;
    printf("queue: urgent p50 %.2f ms, p99 %.2f ms; not urgent p50 %.2f ms, p99 %.2f ms; no clients p50 %.2f ms, p99 "
           "%.2f ms; clients %.0f writes/s\n",
           percentile(urgent, n, 0.5), percentile(urgent, n, 0.99), percentile(other, n, 0.5),
           percentile(other, n, 0.99), percentile(idle, n, 0.5), percentile(idle, n, 0.99),
           (double)load.written * 1e6 / (double)loaded_us);
    store_close(load.store);
    nftw(dir, unlink_one, 8, FTW_DEPTH | FTW_PHYS);
    return 0;
}
