/* The store compared with bare SQLite: the same statements on the same rows, through store.h and in a plain loop.
 *
 * usage: bench_store [ROWS]
 * prints, for ROWS grants (1,000,000): reading one grant (µs of CPU, ratio to a loop in one open transaction), and
 * durable writes (rows a second with 64 outstanding, ratio to a program that commits 32 rows at a time). */
#include <assert.h>
#include <ftw.h>
#include <semaphore.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/id.h"
#include "sized.h"
#include "store/engine.h"
#include "store/sql_table.h"
#include "store/store.h"

#define ROWS         1000000
#define PER_BUILDING 50
#define SEED_A_JOB   20000
#define READS        200000
#define WRITES       30000
#define OUTSTANDING  64
#define BARE_BATCH   32
#define ROUNDS       5

static int64_t rows;

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "bench_store: %s failed\n", what);
    exit(1);
}

/* ---- a grant's row ---- */

struct grant {
    struct id building, request;
    char code[12];
    struct id_bytes id;
};

static struct grant grant_of(int64_t n)
{
    struct grant g;
    snprintf(g.building.text, sizeof g.building.text, "%024llx",
             (long long)(n / PER_BUILDING) * 2654435761 % 4294967296);
    struct id id;
    snprintf(id.text, sizeof id.text, "%024llx", (long long)n);
    g.id = id_to_bytes(&id);
    g.request = id;
    snprintf(g.code, sizeof g.code, "%08lld", (long long)n % 100000000);
    return g;
}

#define GRANT_VALUES ARGS_grant_insert
static struct args_grant_insert grant_values(const struct grant *g)
{
    return SQL_ARGS(grant_insert, .building_id = &g->building, .id = &g->id, .type = 1, .label = STR("Parcel service"),
                    .enabled = true, .created_at = 1700000000000000, .starts_at = 0, .ends_at = INT64_MAX,
                    .remaining_uses = v_null(), .access_code = str_n(g->code, 8), .voice = false, .days = v_null(),
                    .start_minute = v_null(), .end_minute = v_null(), .timezone = STR_NONE,
                    .request_id = id_str(&g->request), .request_key = crypto_hash64(id_str(&g->request)),
                    .request_hash = str_bytes("0123456789abcdef", 16), .created_by = NULL, .member_id = NULL);
}

static enum err insert_grant(struct db *db, int64_t n)
{
    struct grant g = grant_of(n);
    const struct args_grant_insert values = grant_values(&g);
    if (n % PER_BUILDING == 0) {
        enum err e = db_exec(db, SQL(grant_building_add, .id = &g.building), NULL);
        if (e)
            return e;
    }
    return db_exec(db, &values.call, NULL);
}

/* ---- through the store ---- */

static enum err seed(void *arg, struct db *db)
{
    enum err e = ERR_NONE;
    int64_t first = *(int64_t *)arg;
    for (int64_t n = first; !e && n < first + SEED_A_JOB && n < rows; n++)
        e = insert_grant(db, n);
    return e;
}

static struct grant wanted[READS];
static int reads, writes; /* of a round */

/* Chooses the grants to read, among the first `among`. */
static void choose(uint64_t state, int64_t among)
{
    for (int i = 0; i < reads; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        wanted[i] = grant_of((int64_t)((state >> 33) % (uint64_t)among));
    }
}

static int64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Nanoseconds of CPU for one read. */
static double read_store(struct db *session)
{
    size_t bytes = 0;
    int64_t from = cpu_ns();
    for (int i = 0; i < reads; i++) {
        const struct grant *g = &wanted[i];
        must(!store_session_begin(session), "begin");
        CURSOR c;
        must(!db_one(session, SQL(grant_find, .building_id = &g->building, .id = &g->id), &c), "get");
        const struct row_grant row = row_grant(&c, NULL);
        bytes += row.label.n + (size_t)row.created_at;
    }
    int64_t to = cpu_ns();
    store_session_idle(session);
    must(bytes > 0, "read");
    return (double)(to - from) / reads;
}

struct writes {
    struct store *store;
    sem_t slots;
    _Atomic int64_t next;
    _Atomic int failures;
};

struct write {
    struct store_task job;
    struct writes *writes;
};

static enum err write_run(struct store_task *job, struct db *db)
{
    return insert_grant(db, ((struct write *)job)->writes->next++);
}

static void write_done(struct store_task *job, enum err result)
{
    struct writes *w = ((struct write *)job)->writes;
    w->failures += result != ERR_NONE;
    sem_post(&w->slots);
}

/* Rows a second. */
static double write_store(struct store *store, int64_t *next)
{
    static struct write jobs[WRITES];
    struct writes w = {.store = store, .next = *next};
    sem_init(&w.slots, 0, OUTSTANDING);
    int64_t from = clock_monotonic_us();
    for (int i = 0; i < writes; i++) {
        jobs[i] = (struct write){.job = {.mode = STORE_WRITE, .run = write_run, .done = write_done}, .writes = &w};
        sem_wait(&w.slots);
        store_submit(store, &jobs[i].job);
    }
    for (int i = 0; i < OUTSTANDING; i++)
        sem_wait(&w.slots);
    int64_t to = clock_monotonic_us();
    must(w.failures == 0, "write");
    sem_destroy(&w.slots);
    *next = w.next;
    return (double)writes * 1e6 / (double)(to - from);
}

/* ---- bare SQLite ---- */

struct bare {
    sqlite3 *handle;
    sqlite3_stmt *get, *insert, *add, *begin, *commit;
    int slots[GRANT_VALUES]; /* of the insert's arguments */
    int building_slot, id_slot;
};

static sqlite3_stmt *prepare(sqlite3 *handle, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    must(sqlite3_prepare_v3(handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL) == SQLITE_OK, sql);
    return stmt;
}

static void bare_open(struct bare *b, const char *dir)
{
    char path[200];
    snprintf(path, sizeof path, "%s/portero.db", dir);
    must(sqlite3_open_v2(path, &b->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK, path);
    must(sqlite3_exec(b->handle,
                      "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA mmap_size=2147418112;"
                      "PRAGMA cache_size=-65536;",
                      NULL, NULL, NULL) == SQLITE_OK,
         "pragma");
    b->get = prepare(b->handle, sql_table[SQL_GRANT_FIND].sqlite);
    b->building_slot = sqlite3_bind_parameter_index(b->get, "$1");
    b->id_slot = sqlite3_bind_parameter_index(b->get, "$2");
    b->insert = prepare(b->handle, sql_table[SQL_GRANT_INSERT].sqlite);
    b->add = prepare(b->handle, sql_table[SQL_GRANT_BUILDING_ADD].sqlite);
    b->begin = prepare(b->handle, "BEGIN IMMEDIATE");
    b->commit = prepare(b->handle, "COMMIT");
    for (int i = 0; i < GRANT_VALUES; i++) {
        char name[8];
        snprintf(name, sizeof name, "$%d", i + 1);
        b->slots[i] = sqlite3_bind_parameter_index(b->insert, name);
    }
}

static void bare_close(struct bare *b)
{
    sqlite3_finalize(b->get);
    sqlite3_finalize(b->insert);
    sqlite3_finalize(b->add);
    sqlite3_finalize(b->begin);
    sqlite3_finalize(b->commit);
    sqlite3_close(b->handle);
}

static void run(sqlite3_stmt *stmt)
{
    must(sqlite3_step(stmt) == SQLITE_DONE, sqlite3_sql(stmt));
    sqlite3_reset(stmt);
}

static double read_bare(struct bare *b)
{
    size_t bytes = 0;
    sqlite3_exec(b->handle, "BEGIN", NULL, NULL, NULL);
    int64_t from = cpu_ns();
    for (int i = 0; i < reads; i++) {
        const struct grant *g = &wanted[i];
        sqlite3_bind_text(b->get, b->building_slot, g->building.text, ID_LEN, SQLITE_STATIC);
        sqlite3_bind_blob(b->get, b->id_slot, g->id.p, sizeof g->id.p, SQLITE_STATIC);
        must(sqlite3_step(b->get) == SQLITE_ROW, "get");
        must(sqlite3_column_blob(b->get, 0) && sqlite3_column_text(b->get, 3), "get");
        bytes += (size_t)sqlite3_column_bytes(b->get, 0) + (size_t)sqlite3_column_bytes(b->get, 3) +
                 (size_t)sqlite3_column_int64(b->get, 6) + (sqlite3_column_type(b->get, 8) == SQLITE_NULL);
        sqlite3_reset(b->get);
    }
    int64_t to = cpu_ns();
    sqlite3_exec(b->handle, "COMMIT", NULL, NULL, NULL);
    must(bytes > 0, "read");
    return (double)(to - from) / reads;
}

static void bare_insert(struct bare *b, int64_t n)
{
    struct grant g = grant_of(n);
    const struct args_grant_insert values = grant_values(&g);
    for (int i = 0; i < GRANT_VALUES; i++) {
        const struct val v = db_argument(&values.call, i);
        if (v.kind == VAL_STR)
            sqlite3_bind_text(b->insert, b->slots[i], v.s.p, (int)v.s.n, SQLITE_STATIC);
        else if (v.kind == VAL_BLOB)
            sqlite3_bind_blob(b->insert, b->slots[i], v.s.p, (int)v.s.n, SQLITE_STATIC);
        else if (v.kind == VAL_NULL)
            sqlite3_bind_null(b->insert, b->slots[i]);
        else
            sqlite3_bind_int64(b->insert, b->slots[i], v.kind == VAL_BOOL ? v.b : v.i);
    }
    if (n % PER_BUILDING == 0) {
        sqlite3_bind_text(b->add, 1, g.building.text, ID_LEN, SQLITE_STATIC);
        run(b->add);
    }
    run(b->insert);
}

static double write_bare(struct bare *b, int64_t *next)
{
    int64_t from = clock_monotonic_us();
    for (int i = 0; i < writes; i += BARE_BATCH) {
        run(b->begin);
        for (int k = 0; k < BARE_BATCH; k++)
            bare_insert(b, (*next)++);
        run(b->commit);
    }
    int64_t to = clock_monotonic_us();
    return (double)writes * 1e6 / (double)(to - from);
}

/* ---- the comparison ---- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double v[static ROUNDS])
{
    qsort(v, ROUNDS, sizeof *v, ascending);
    return v[ROUNDS / 2];
}

static int unlink_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static struct store *open_store(char *dir)
{
    struct config c = {.engine = ENGINE_SQLITE, .top_data_dir = dir};
    struct store *store;
    char *why = NULL;
    must(!store_open(&c, true, &store, &why), why ? why : "open");
    must(!store_start(store), "start");
    return store;
}

static void compare_reads(struct db *session, struct bare *bare, int64_t among)
{
    double ours[ROUNDS], theirs[ROUNDS];
    for (int i = -1; i < ROUNDS; i++) { /* round -1 warms up */
        choose((uint64_t)i, among);
        double a = read_store(session), b = read_bare(bare);
        if (i >= 0)
            ours[i] = a, theirs[i] = b;
    }
    double a = median(ours), b = median(theirs);
    printf("read one of %lld grants, %lld in the table: %.2f us, bare SQLite %.2f us, ratio %.2f\n", (long long)among,
           (long long)rows, a / 1000, b / 1000, b / a);
}

/* The two take turns on one database, which the other does not use meanwhile. */
static void compare_writes(char *dir)
{
    double ours[ROUNDS], theirs[ROUNDS];
    int64_t next = rows;
    for (int i = 0; i < ROUNDS; i++) {
        struct store *store = open_store(dir);
        ours[i] = write_store(store, &next);
        store_close(store);
        struct bare bare;
        bare_open(&bare, dir);
        theirs[i] = write_bare(&bare, &next);
        bare_close(&bare);
    }
    double a = median(ours), b = median(theirs);
    printf("durable writes, %d outstanding: %.0f/s, bare SQLite %d in a commit %.0f/s, ratio %.2f\n", OUTSTANDING, a,
           BARE_BATCH, b, a / b);
}

int main(int argc, char **argv)
{
    char dir[] = "/var/tmp/portero-bench-XXXXXX"; /* /tmp may be memory */
    reads = sized(READS, 2000);
    writes = sized(WRITES, 320);
    rows = argc > 1 ? strtoll(argv[1], NULL, 10) : sized(ROWS, 1000);
    must(rows >= PER_BUILDING && mkdtemp(dir), "usage: bench_store [ROWS]; directory");
    struct store *store = open_store(dir);
    for (int64_t n = 0; n < rows; n += SEED_A_JOB)
        must(!store_run(store, STORE_WRITE, seed, &n), "seed");
    struct db *session = store_session_new(store);
    struct bare bare;
    must(session, "session");
    bare_open(&bare, dir);
    compare_reads(session, &bare, 1000);
    compare_reads(session, &bare, rows);
    bare_close(&bare);
    store_session_free(session);
    store_close(store);
    compare_writes(dir);
    nftw(dir, unlink_one, 8, FTW_DEPTH | FTW_PHYS);
    return 0;
}
