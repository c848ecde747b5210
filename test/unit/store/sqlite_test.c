/* The guarantees of the SQLite engine beyond store.h: sessions, files, full disks, and a WAL that stays small. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "fixture.h"
#include "store/sqlite.h"

static enum err put(void *arg, struct db *db)
{
    return db_exec(db, SQL(setting_put, .name = STR("k"), .value = str_z(arg)), NULL);
}

static enum err read_setting(struct db *db, char *ret, size_t n)
{
    CURSOR c;
    enum err e = db_one(db, SQL(setting_get, .name = STR("k")), &c);
    if (!e)
        snprintf(ret, n, "%.*s", STR_ARG(row_setting_get(&c, NULL).value));
    return e;
}

static void assert_reads(struct db *session, const char *value)
{
    char text[16];
    assert_int_equal(read_setting(session, text, sizeof text), ERR_NONE);
    assert_string_equal(text, value);
}

static off_t size_of(const struct store_fixture *f, const char *name)
{
    char path[120];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    return stat(path, &st) == 0 ? st.st_size : -1;
}

/* The database passes SQLite's own check. */
static void assert_intact(const struct store_fixture *f)
{
    char path[120];
    sqlite3 *handle;
    sqlite3_stmt *stmt;
    snprintf(path, sizeof path, "%s/portero.db", f->dir);
    assert_int_equal(sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_busy_timeout(handle, 10000), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(handle, "PRAGMA integrity_check(1)", -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(stmt, 0), "ok");
    sqlite3_finalize(stmt);
    assert_int_equal(sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(handle), SQLITE_OK);
}

/* ---- sessions ---- */

static void a_session_sees_every_write_acknowledged_before_its_request(void **state)
{
    struct store_fixture *f = *state;
    struct db *session = store_session_new(f->store);
    assert_non_null(session);
    assert_int_equal(store_run(f->store, STORE_WRITE, put, "1"), ERR_NONE);
    assert_int_equal(store_session_begin(session), ERR_NONE);
    assert_reads(session, "1");
    assert_int_equal(store_run(f->store, STORE_WRITE, put, "2"), ERR_NONE);
    assert_reads(session, "1"); /* the snapshot of a request does not change */
    assert_int_equal(store_session_begin(session), ERR_NONE);
    assert_reads(session, "2");
    store_session_idle(session);
    assert_int_equal(store_run(f->store, STORE_WRITE, put, "3"), ERR_NONE);
    assert_int_equal(store_session_begin(session), ERR_NONE);
    assert_reads(session, "3");
    store_session_free(session);
}

static void a_session_recovers_from_a_failed_statement(void **state)
{
    struct store_fixture *f = *state;
    struct db *session = store_session_new(f->store);
    assert_int_equal(store_run(f->store, STORE_WRITE, put, "1"), ERR_NONE);
    assert_int_equal(store_session_begin(session), ERR_NONE);
    assert_int_equal(put("2", session), ERR_INTERNAL_ERROR); /* sessions only read */
    char text[16];
    assert_int_equal(read_setting(session, text, sizeof text), ERR_INTERNAL_ERROR);
    assert_int_equal(store_session_begin(session), ERR_NONE);
    assert_reads(session, "1");
    store_session_free(session);
}

/* ---- files ---- */

static void a_second_opener_is_refused(void **state)
{
    struct store_fixture *f = *state;
    struct store *second = NULL;
    char *why = NULL;
    assert_int_equal(store_open(&f->config, true, &second, &why), ERR_USAGE);
    assert_null(second);
    assert_non_null(strstr(why, "in use by another"));
    free(why);
}

static void files_are_private_with_any_umask(void **state)
{
    struct store_fixture *f = *state;
    char dir[90];
    snprintf(dir, sizeof dir, "%s/data", f->dir);
    struct config c = {.engine = ENGINE_SQLITE, .top_data_dir = dir};
    struct store *store;
    char *why = NULL;
    assert_int_equal(mkdir(dir, 0700), 0);
    mode_t before = umask(0);
    assert_int_equal(store_open(&c, true, &store, &why), ERR_NONE);
    umask(before);
    struct stat st;
    static const char *const names[] = {"portero.db", "portero.db-wal", "portero.db-shm", "portero.lock"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[120];
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0600);
    }
    store_close(store);
}

static void closing_leaves_one_complete_file(void **state)
{
    struct store_fixture *f = *state;
    assert_int_equal(store_run(f->store, STORE_WRITE, put, "1"), ERR_NONE);
    store_close(f->store);
    f->store = NULL;
    assert_int_equal(size_of(f, "portero.db-wal"), -1);
    assert_true(size_of(f, "portero.db") > 0);
}

static void the_error_names_a_file_that_cannot_be_opened(void **state)
{
    struct store_fixture *f = *state;
    struct store *store = NULL;
    char *why = NULL;
    struct config c = {.engine = ENGINE_SQLITE, .top_data_dir = "/proc/nowhere/data"};
    assert_int_equal(store_open(&c, true, &store, &why), ERR_USAGE);
    assert_non_null(strstr(why, "/proc/nowhere/data"));
    free(why);

    char dir[90], path[120];
    snprintf(dir, sizeof dir, "%s/data", f->dir);
    snprintf(path, sizeof path, "%s/portero.db", dir);
    assert_int_equal(mkdir(dir, 0700), 0);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < 1000; i++)
        fputs("this is no database. ", file);
    fclose(file);
    c.top_data_dir = dir;
    why = NULL;
    assert_int_equal(store_open(&c, true, &store, &why), ERR_USAGE);
    assert_non_null(strstr(why, path));
    free(why);
}

/* ---- full disk ---- */

static void set_file_size_limit(rlim_t n)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = n < limit.rlim_max ? n : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* STORE-5 */
static void writes_fail_on_a_full_disk_and_recover(void **state)
{
    struct store_fixture *f = *state;
    struct db *session = store_session_new(f->store);
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(store_run(f->store, STORE_WRITE, put, "1"), ERR_NONE);
    set_file_size_limit(4096); /* less than one page of the WAL needs */
    enum err full[3];
    for (int i = 0; i < 3; i++)
        full[i] = store_run(f->store, STORE_WRITE, put, "2");
    const char *failing = store_failing(f->store);
    enum err begun = store_session_begin(session);
    char text[16] = "";
    enum err read = read_setting(session, text, sizeof text);
    set_file_size_limit(RLIM_INFINITY);
    for (int i = 0; i < 3; i++)
        assert_int_equal(full[i], ERR_SERVICE_UNAVAILABLE);
    assert_string_equal(failing, "File too large"); /* as a size limit calls it */
    assert_int_equal(begun, ERR_NONE);
    assert_int_equal(read, ERR_NONE);
    assert_string_equal(text, "1");
    assert_int_equal(store_run(f->store, STORE_WRITE, put, "3"), ERR_NONE);
    assert_int_equal(store_session_begin(session), ERR_NONE);
    assert_reads(session, "3");
    assert_intact(f);
    signal(SIGXFSZ, before);
    store_session_free(session);
}

/* ---- the WAL ---- */

#define PAGES_LEAST 12000             /* 47 MiB, three rounds of checkpoints */
#define PAGES_MOST  (4 * PAGES_LEAST) /* on a machine so busy that readers delay checkpoints */
#define FEW_PAGES   1000              /* less than a round */
#define SOME_PAGES  6000              /* more than one round */
#define IN_FLIGHT   64

/* Whether the WAL is short after writing this many pages: without checkpoints it would have two frames for each. */
static bool is_short(off_t wal, int pages)
{
    return wal > 0 && wal < (off_t)pages * 4096 * 4 / 3;
}

struct load {
    struct store *store;
    _Atomic bool stop;
    _Atomic int next, failures;
    sem_t slots;
};

struct page {
    struct store_task task;
    struct load *load;
};

static enum err page_run(struct store_task *task, struct db *db)
{
    static const char filler[3800];
    struct load *load = ((struct page *)task)->load;
    char id[24];
    snprintf(id, sizeof id, "%08x", (unsigned)load->next++ * 2654435761u); /* all over the table */
    return db_exec(db,
                   SQL(job_insert, .id = str_z(id), .kind = STR("k"), .created_at = 1, .due_at = 1,
                       .payload = str_bytes(filler, sizeof filler)),
                   NULL);
}

static void page_done(struct store_task *task, enum err result)
{
    struct load *load = ((struct page *)task)->load;
    load->failures += result != ERR_NONE;
    free(task);
    sem_post(&load->slots);
}

/* Has a snapshot open at all times. */
static void *read_constantly(void *arg)
{
    struct load *load = arg;
    struct db *session = store_session_new(load->store);
    while (!load->stop) {
        char text[16];
        enum err e = store_session_begin(session);
        if (!e)
            e = read_setting(session, text, sizeof text);
        load->failures += e != ERR_NONE;
    }
    store_session_free(session);
    return NULL;
}

/* Writes this many pages. */
static void write_pages(struct load *load, int pages)
{
    sem_init(&load->slots, 0, IN_FLIGHT);
    for (int i = 0; i < pages + IN_FLIGHT; i++) {
        sem_wait(&load->slots);
        if (i >= pages)
            continue; /* wait for the last ones, too */
        struct page *page = malloc(sizeof *page);
        assert_non_null(page);
        *page = (struct page){.task = {.mode = STORE_WRITE, .run = page_run, .done = page_done}, .load = load};
        store_submit(load->store, &page->task);
    }
    sem_destroy(&load->slots);
}

/* Writes until the WAL is short in relation to the pages. Returns the number of pages; *ret_longest is the maximum
 * length of the WAL. */
static int write_under_load(struct store_fixture *f, struct load *load, off_t *ret_longest)
{
    int pages = 0;
    *ret_longest = 0;
    sem_init(&load->slots, 0, IN_FLIGHT);
    for (; pages < PAGES_LEAST || (pages < PAGES_MOST && !is_short(*ret_longest, pages)); pages++) {
        struct page *page = malloc(sizeof *page);
        assert_non_null(page);
        *page = (struct page){.task = {.mode = STORE_WRITE, .run = page_run, .done = page_done}, .load = load};
        sem_wait(&load->slots);
        store_submit(f->store, &page->task);
        off_t size = size_of(f, "portero.db-wal");
        *ret_longest = size > *ret_longest ? size : *ret_longest;
    }
    for (int i = 0; i < IN_FLIGHT; i++)
        sem_wait(&load->slots);
    sem_destroy(&load->slots);
    load->stop = true;
    return pages;
}

static void the_wal_stays_small_under_constant_load(void **state)
{
    struct store_fixture *f = *state;
    struct load load = {.store = f->store};
    pthread_t readers[2];
    off_t longest;
    assert_int_equal(store_run(f->store, STORE_WRITE, put, "1"), ERR_NONE);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_constantly, &load), 0);
    const int pages = write_under_load(f, &load, &longest);
    for (int i = 0; i < 2; i++)
        pthread_join(readers[i], NULL);
    assert_int_equal(load.failures, 0);
    assert_true(is_short(longest, pages));
    assert_true(size_of(f, "portero.db") > (off_t)pages * 4096 * 2 / 3); /* the pages were copied there */
    assert_intact(f);
}

struct lengthy {
    struct store_task task;
    struct load *load;
    sem_t ended;
};

static enum err lengthy_run(struct store_task *task, struct db *db)
{
    char text[16];
    (void)task;
    enum err e = read_setting(db, text, sizeof text);
    usleep(20000);
    return e;
}

static void lengthy_done(struct store_task *task, enum err result)
{
    struct lengthy *l = (struct lengthy *)task;
    l->load->failures += result != ERR_NONE;
    if (l->load->stop)
        sem_post(&l->ended);
    else
        store_submit(l->load->store, task);
}

static void the_wal_stays_small_under_constant_lengthy_reads(void **state)
{
    struct store_fixture *f = *state;
    struct load load = {.store = f->store};
    struct lengthy reads[2];
    off_t longest;
    assert_int_equal(store_run(f->store, STORE_WRITE, put, "1"), ERR_NONE);
    for (int i = 0; i < 2; i++) {
        reads[i] = (struct lengthy){{.lengthy = true, .run = lengthy_run, .done = lengthy_done}, .load = &load};
        sem_init(&reads[i].ended, 0, 0);
        store_submit(f->store, &reads[i].task);
    }
    const int pages = write_under_load(f, &load, &longest);
    for (int i = 0; i < 2; i++) {
        sem_wait(&reads[i].ended);
        sem_destroy(&reads[i].ended);
    }
    assert_int_equal(load.failures, 0);
    assert_true(is_short(longest, pages));
    assert_intact(f);
}

/* Waits until the file has at least this size, for half a minute at most. */
static bool grows_to(const struct store_fixture *f, const char *name, off_t bytes)
{
    for (int i = 0; i < 3000 && size_of(f, name) < bytes; i++)
        usleep(10000);
    return size_of(f, name) >= bytes;
}

static void an_endless_read_does_not_block_writes_and_the_wal_starts_over_after_it(void **state)
{
    struct store_fixture *f = *state;
    struct load load = {.store = f->store};
    struct db *session = store_session_new(f->store);
    assert_int_equal(store_run(f->store, STORE_WRITE, put, "1"), ERR_NONE);
    assert_int_equal(store_session_begin(session), ERR_NONE);
    assert_reads(session, "1");
    write_pages(&load, SOME_PAGES);
    assert_int_equal(load.failures, 0);
    assert_reads(session, "1");
    store_session_free(session);
    const off_t longest = size_of(f, "portero.db-wal");
    write_pages(&load, SOME_PAGES);
    assert_int_equal(load.failures, 0);
    assert_true(size_of(f, "portero.db-wal") <
                longest + (off_t)SOME_PAGES * 4096); /* without a new start it would grow by twice that */
    assert_intact(f);
}

static void a_disk_filled_by_the_wal_recovers(void **state)
{
    struct store_fixture *f = *state;
    struct load load = {.store = f->store};
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    write_pages(&load, FEW_PAGES);
    assert_int_equal(load.failures, 0);
    set_file_size_limit((rlim_t)size_of(f, "portero.db-wal"));
    enum err e = ERR_INTERNAL_ERROR;
    for (int i = 0; i < 3000 && e; i++) {
        e = store_run(f->store, STORE_WRITE, put, "1");
        usleep(10000);
    }
    set_file_size_limit(RLIM_INFINITY);
    signal(SIGXFSZ, before);
    assert_int_equal(e, ERR_NONE);
    assert_intact(f);
}

/* A fixture with the files that kill -9 would leave now. */
static struct store_fixture *crashed(const struct store_fixture *f)
{
    char command[300];
    struct store_fixture *copy = store_fixture_new();
    assert_non_null(copy);
    snprintf(command, sizeof command, "cp %s/portero.db %s/portero.db-wal %s/", f->dir, f->dir, copy->dir);
    assert_int_equal(system(command), 0);
    return copy;
}

static void the_wal_of_a_crashed_process_is_copied_at_the_start(void **state)
{
    struct store_fixture *f = *state;
    struct load load = {.store = f->store};
    write_pages(&load, FEW_PAGES);
    struct store_fixture *again = crashed(f);
    assert_true(size_of(again, "portero.db") < (off_t)FEW_PAGES * 4096);
    assert_int_equal(store_fixture_start(again), 0);
    assert_true(grows_to(again, "portero.db", (off_t)FEW_PAGES * 4096));
    void *done = again;
    assert_int_equal(store_fixture_close(&done), 0);
}

/* SQLite syncs with fsync or fdatasync. They fail for a file with this name. */
static _Atomic(const char *) unsyncable;

static int sync_unless(int fd, long number)
{
    char link[40], path[200] = "";
    const char *name = unsyncable;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (name && readlink(link, path, sizeof path - 1) > 0 && strcmp(strrchr(path, '/') + 1, name) == 0) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(number, fd);
}

__attribute__((visibility("default"))) int fsync(int fd)
{
    return sync_unless(fd, SYS_fsync);
}

__attribute__((visibility("default"))) int fdatasync(int fd)
{
    return sync_unless(fd, SYS_fdatasync);
}

static void after_a_failed_sync_the_wal_is_kept_until_the_next_start(void **state)
{
    struct store_fixture *f = *state;
    struct load load = {.store = f->store};
    unsyncable = "portero.db";
    write_pages(&load, SOME_PAGES); /* starts a round */
    usleep(500000);                 /* lets it fail */
    unsyncable = NULL;
    write_pages(&load, SOME_PAGES);
    assert_int_equal(load.failures, 0);
    assert_true(size_of(f, "portero.db-wal") > (off_t)SOME_PAGES * 2 * 4096);
    store_close(f->store);
    f->store = NULL;
    assert_true(size_of(f, "portero.db-wal") > (off_t)SOME_PAGES * 2 * 4096); /* the whole WAL is kept */
    assert_int_equal(store_fixture_start(f), 0);
    assert_true(grows_to(f, "portero.db", (off_t)SOME_PAGES * 2 * 4096));
    assert_intact(f);
}

/* ---- lost files ---- */

/* Runs a command in the data directory. */
static void in_directory(const struct store_fixture *f, const char *what)
{
    char command[300];
    snprintf(command, sizeof command, "cd %s && %s", f->dir, what);
    assert_int_equal(system(command), 0);
}

static void assert_refused_as_lost(struct store_fixture *f)
{
    char *why = NULL;
    assert_int_equal(store_open(&f->config, true, &f->store, &why), ERR_USAGE);
    assert_non_null(strstr(why, "portero.db is missing or empty, but this data directory had a database"));
    free(why);
    f->store = NULL;
}

/* STORE-4 */
static void a_lost_database_is_refused_until_it_is_back(void **state)
{
    struct store_fixture *f = *state;
    assert_int_equal(store_run(f->store, STORE_WRITE, put, "kept"), ERR_NONE);
    store_close(f->store);
    in_directory(f, "mv portero.db kept");
    assert_refused_as_lost(f);
    assert_int_equal(size_of(f, "portero.db"), -1); /* no empty one was made */
    in_directory(f, "touch portero.db");
    assert_refused_as_lost(f);
    in_directory(f, "mv kept portero.db");
    assert_int_equal(store_fixture_start(f), 0);
}

static void a_wal_without_its_database_is_kept(void **state)
{
    struct store_fixture *f = *state;
    assert_int_equal(store_run(f->store, STORE_WRITE, put, "kept"), ERR_NONE);
    struct store_fixture *copy = crashed(f);
    const off_t wal = size_of(copy, "portero.db-wal");
    in_directory(copy, "mv portero.db kept");
    assert_refused_as_lost(copy);
    in_directory(copy, "touch portero.db");
    assert_refused_as_lost(copy);
    assert_int_equal(size_of(copy, "portero.db-wal"), wal);
    in_directory(copy, "mv kept portero.db");
    assert_int_equal(store_fixture_start(copy), 0);
    void *done = copy;
    assert_int_equal(store_fixture_close(&done), 0);
}

/* STORE-4 */
static void a_database_copied_without_its_wal_is_refused(void **state)
{
    struct store_fixture *f = *state;
    store_close(f->store);
    in_directory(f, "rm portero.db && touch master.key"); /* an empty file is no key */
    in_directory(f, "rm portero.lock && sqlite3 portero.db 'PRAGMA journal_mode=WAL' >&2");
    assert_int_equal(store_fixture_start(f), 0); /* an empty database in an unused directory */
    store_close(f->store);
    in_directory(f, "rm portero.db && sqlite3 portero.db 'PRAGMA journal_mode=WAL' >&2");
    assert_refused_as_lost(f);
    in_directory(f, "rm portero.lock && echo 00 > master.key");
    assert_refused_as_lost(f);
    in_directory(f, "rm portero.* master.key");
    assert_int_equal(store_fixture_start(f), 0);
}

static void nothing_is_acknowledged_after(struct store_fixture *f, const char *what)
{
    assert_int_equal(store_run(f->store, STORE_WRITE, put, "before"), ERR_NONE);
    in_directory(f, what);
    assert_int_equal(store_run(f->store, STORE_WRITE, put, "after"), ERR_SERVICE_UNAVAILABLE);
    assert_int_equal(store_run(f->store, STORE_WRITE, put, "later"), ERR_SERVICE_UNAVAILABLE);
}

/* STORE-4 */
static void a_removed_database_takes_no_more_writes(void **state)
{
    nothing_is_acknowledged_after(*state, "rm portero.db");
}

static void a_removed_wal_takes_no_more_writes(void **state)
{
    nothing_is_acknowledged_after(*state, "rm portero.db-wal");
}

/* STORE-4 */
static void a_replaced_database_takes_no_more_writes_and_is_left_alone(void **state)
{
    struct store_fixture *f = *state;
    nothing_is_acknowledged_after(
        f, "cp portero.db new && mv new portero.db && rm portero.db-wal && echo theirs > portero.db-wal");
    store_close(f->store);
    f->store = NULL;
    assert_int_equal(size_of(f, "portero.db-wal"), 7);
}

static void start_again(struct store_fixture *f, int64_t truncate_us)
{
    char *why = NULL;
    store_close(f->store);
    assert_int_equal(store_open(&f->config, true, &f->store, &why), ERR_NONE);
    ((struct sqlite_store *)f->store)->checkpointer.truncate_us = truncate_us;
    assert_int_equal(store_start(f->store), ERR_NONE);
}

static void a_quiet_database_is_complete_without_its_wal(void **state)
{
    struct store_fixture *f = *state;
    start_again(f, 20000);
    struct load load = {.store = f->store};
    for (int i = 0; i < 2; i++) { /* the second time, the writer was asleep */
        const off_t before = size_of(f, "portero.db");
        write_pages(&load, FEW_PAGES);
        assert_true(grows_to(f, "portero.db", before + (off_t)FEW_PAGES * 4096 * 2 / 3));
    }
    assert_int_equal(load.failures, 0);
}

/* ---- deleted data, and other programs ---- */

#define DELETED "a name that is in no other row of the store"

static bool file_has(const struct store_fixture *f, const char *name, const char *text)
{
    char path[120];
    bool found = false;
    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    const off_t size = size_of(f, name);
    char *bytes = calloc(1, (size_t)size + 1);
    FILE *file = fopen(path, "r");
    assert_non_null(bytes);
    assert_non_null(file);
    const size_t n = fread(bytes, 1, (size_t)size, file);
    found = memmem(bytes, n, text, strlen(text)) != NULL;
    fclose(file);
    free(bytes);
    return found;
}

/* STORE-2 */
static void deleted_data_leaves_the_files_while_others_write(void **state)
{
    struct store_fixture *f = *state;
    start_again(f, 100000);
    struct load load = {.store = f->store};
    assert_int_equal(store_run(f->store, STORE_WRITE, put, DELETED), ERR_NONE);
    assert_true(file_has(f, "portero.db-wal", DELETED));
    assert_int_equal(store_run(f->store, STORE_WRITE, put, "1"), ERR_NONE);
    for (int i = 0; i < 1000 && (file_has(f, "portero.db-wal", DELETED) || file_has(f, "portero.db", DELETED)); i++)
        write_pages(&load, 10);
    assert_false(file_has(f, "portero.db-wal", DELETED));
    assert_false(file_has(f, "portero.db", DELETED));
    assert_null(store_warning(f->store)); /* its own commits and checkpoints are not another program's */
}

/* STORE-3 */
static void a_program_that_writes_the_database_is_noticed(void **state)
{
    struct store_fixture *f = *state;
    char path[120];
    sqlite3 *other;
    snprintf(path, sizeof path, "%s/portero.db", f->dir);
    assert_int_equal(store_run(f->store, STORE_WRITE, put, "1"), ERR_NONE);
    assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "PRAGMA wal_autocheckpoint = 0; SELECT * FROM setting", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(store_run(f->store, STORE_WRITE, put, "2"), ERR_NONE);
    assert_null(store_warning(f->store));
    assert_int_equal(sqlite3_exec(other, "UPDATE setting SET value = '3'", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(store_run(f->store, STORE_WRITE, put, "4"), ERR_NONE);
    assert_string_equal(store_warning(f->store), "another program writes the database");
    assert_int_equal(sqlite3_db_config(other, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, store_fixture_open, store_fixture_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_session_sees_every_write_acknowledged_before_its_request),
        TEST(a_session_recovers_from_a_failed_statement),
        TEST(a_second_opener_is_refused),
        TEST(files_are_private_with_any_umask),
        TEST(closing_leaves_one_complete_file),
        TEST(the_error_names_a_file_that_cannot_be_opened),
        TEST(writes_fail_on_a_full_disk_and_recover),
        TEST(the_wal_stays_small_under_constant_load),
        TEST(the_wal_stays_small_under_constant_lengthy_reads),
        TEST(an_endless_read_does_not_block_writes_and_the_wal_starts_over_after_it),
        TEST(a_disk_filled_by_the_wal_recovers),
        TEST(the_wal_of_a_crashed_process_is_copied_at_the_start),
        TEST(after_a_failed_sync_the_wal_is_kept_until_the_next_start),
        TEST(a_lost_database_is_refused_until_it_is_back),
        TEST(a_wal_without_its_database_is_kept),
        TEST(a_database_copied_without_its_wal_is_refused),
        TEST(a_removed_database_takes_no_more_writes),
        TEST(a_removed_wal_takes_no_more_writes),
        TEST(a_replaced_database_takes_no_more_writes_and_is_left_alone),
        TEST(a_quiet_database_is_complete_without_its_wal),
        TEST(deleted_data_leaves_the_files_while_others_write),
        TEST(a_program_that_writes_the_database_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
