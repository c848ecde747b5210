/* Writes to the store, and checks it, for store_crash_test.
 *
 *   store_crash write DIR FIRST    writes pairs of rows numbered from FIRST without end; prints each number after its
 *                                  write was acknowledged
 *   store_crash check DIR END      reads acknowledged numbers from standard input: each of these pairs must be
 * complete, and every other number below END must have both rows or no row; prints totals
 *
 * Pair n is one row in `setting` and one in `commit_mark`. The body of each number divisible by 7 writes its pair and
 * then returns an error: these pairs must not exist. */
#include <semaphore.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/store.h"

#define OUTSTANDING 48
#define WORKER      1
#define VALUE_MAX   600

struct pair {
    struct store_task task;
    long number;
};

static sem_t slots;

static void pair_name(long n, char name[static 24])
{
    snprintf(name, 24, "%08lx-%ld", (unsigned long)n * 2654435761 % 4294967296, n); /* spread over the table */
}

/* The value of a complete pair. */
static void pair_value(long n, char value[static VALUE_MAX])
{
    int length = 100 + (int)(n % 400);
    memset(value, 'a' + (int)(n % 26), (size_t)length);
    snprintf(value + length, 24, "%ld", n);
}

static bool refused(long n)
{
    return n % 7 == 0;
}

static enum err pair_write(struct store_task *task, struct db *db)
{
    char name[24], value[VALUE_MAX];
    long n = ((struct pair *)task)->number;
    pair_name(n, name);
    pair_value(n, value);
    enum err e = db_exec(db, SQL(setting_put, .name = str_z(name), .value = str_z(value)), NULL);
    if (!e)
        e = db_exec(db, SQL(commit_mark_put, .worker = WORKER, .mark = n, .created_at = 0), NULL);
    return !e && refused(n) ? ERR_INVALID_ID : e;
}

static void pair_done(struct store_task *task, enum err result)
{
    struct pair *p = (struct pair *)task;
    char line[24];
    int length = snprintf(line, sizeof line, "%ld\n", p->number);
    if (result == ERR_NONE && write(STDOUT_FILENO, line, (size_t)length) != length)
        abort();
    free(p);
    sem_post(&slots);
}

static int write_on(struct store *store, long first)
{
    sem_init(&slots, 0, OUTSTANDING);
    for (long n = first;; n++) {
        struct pair *p = malloc(sizeof *p);
        if (!p)
            return 1;
        *p = (struct pair){.task = {.mode = STORE_WRITE, .run = pair_write, .done = pair_done}, .number = n};
        sem_wait(&slots);
        store_submit(store, &p->task);
    }
}

/* ---- after the crash ---- */

enum { ACKNOWLEDGED = 1, SETTING = 2, MARK = 4, SPOILT = 8 };

struct check {
    const char *dir;
    long end;
    unsigned char *pairs; /* bits of each number below end */
    bool corrupt;         /* SQLite's own check fails */
};

static bool seen(struct check *c, long n, unsigned char what)
{
    if (n < 0 || n >= c->end)
        return false;
    c->pairs[n] |= what;
    return true;
}

/* Reads the rows from the database, without the store. */
static bool read_rows(struct check *c)
{
    char path[4096];
    sqlite3 *handle;
    sqlite3_stmt *settings, *marks, *verdict;
    bool good = true;
    snprintf(path, sizeof path, "%s/portero.db", c->dir);
    if (sqlite3_open(path, &handle) ||
        sqlite3_prepare_v2(handle, "SELECT name, value FROM setting", -1, &settings, NULL) ||
        sqlite3_prepare_v2(handle, "SELECT mark FROM commit_mark WHERE worker = 1", -1, &marks, NULL)) {
        fprintf(stderr, "%s: %s\n", path, sqlite3_errmsg(handle));
        return false;
    }
    while (good && sqlite3_step(settings) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(settings, 0);
        char value[VALUE_MAX];
        long n = strtol(strchr(name, '-') + 1, NULL, 10);
        pair_value(n, value);
        bool same = strcmp(value, (const char *)sqlite3_column_text(settings, 1)) == 0;
        good = seen(c, n, same ? SETTING : SETTING | SPOILT);
    }
    while (good && sqlite3_step(marks) == SQLITE_ROW)
        good = seen(c, (long)sqlite3_column_int64(marks, 0), MARK);
    sqlite3_finalize(settings);
    sqlite3_finalize(marks);
    c->corrupt = sqlite3_prepare_v2(handle, "PRAGMA integrity_check(1)", -1, &verdict, NULL) ||
                 sqlite3_step(verdict) != SQLITE_ROW ||
                 strcmp((const char *)sqlite3_column_text(verdict, 0), "ok") != 0;
    sqlite3_finalize(verdict);
    return sqlite3_close(handle) == SQLITE_OK && good;
}

static const char *fault_of(unsigned char pair, long n)
{
    bool setting = pair & SETTING, mark = pair & MARK;
    return setting != mark                   ? "half"
           : pair & SPOILT                   ? "spoilt"
           : setting && refused(n)           ? "there though refused"
           : pair & ACKNOWLEDGED && !setting ? "missing"
                                             : NULL;
}

static int check(const char *dir, long end)
{
    struct check c = {.dir = dir, .end = end, .pairs = calloc((size_t)end, 1)};
    long n, acknowledged = 0, present = 0, wrong = 0;
    bool good = c.pairs;
    for (; good && scanf("%ld", &n) == 1; acknowledged++)
        good = seen(&c, n, ACKNOWLEDGED);
    good = good && read_rows(&c);
    for (n = 0; good && n < end; n++) {
        const char *fault = fault_of(c.pairs[n], n);
        present += (c.pairs[n] & (SETTING | MARK)) != 0;
        if (fault && wrong++ < 5)
            fprintf(stderr, "pair %ld is %s\n", n, fault);
    }
    free(c.pairs);
    printf("%ld acknowledged, %ld present, %ld wrong%s\n", acknowledged, present, wrong,
           c.corrupt ? ", the database is corrupt" : "");
    return good && !wrong && !c.corrupt ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: store_crash write|check DIR NUMBER\n");
        return 2;
    }
    const long number = strtol(argv[3], NULL, 10);
    struct config c = {.engine = ENGINE_SQLITE, .top_data_dir = argv[2]};
    struct store *store;
    char *why = NULL;
    if (store_open(&c, true, &store, &why) || store_start(store)) {
        fprintf(stderr, "%s\n", why ? why : "the store cannot start");
        return 1;
    }
    if (argv[1][0] == 'w')
        return write_on(store, number);
    store_close(store);
    return check(argv[2], number);
}
