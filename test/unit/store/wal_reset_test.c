/* No pass of the checkpointer begins on a WAL that the next commit may start over (sqlite_checkpoint.c): each side is
 * stopped at each of its locks while the other goes on, by a VFS in between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <semaphore.h>
#include <sqlite3.h>
#include <stdatomic.h>

#include "base/wait.h"
#include "fixture.h"
#include "store/sqlite.h"

/* The WAL index (sqlite.org/walformat.html): its locks, and two of its words. */
#define LOCK_CHECKPOINT 1
#define WORD_FRAMES     4
#define WORD_COPIED     24

#define LOCKS_MAX 40    /* more than a side takes in a round */
#define OTHER_US  30000 /* the other side goes on for so long */

enum side { SIDE_NONE, SIDE_WRITER, SIDE_CHECKPOINTER };

static struct {
    struct sqlite_store *_Atomic store; /* that is watched */
    _Atomic int side, left;             /* the side that stops, and after how many locks */
    sem_t stopped, goes_on;
    _Atomic int passes, wrong; /* that began; on a complete WAL */
} shim;

static enum side side_of_thread(void)
{
    struct sqlite_store *s = atomic_load(&shim.store);
    if (!s)
        return SIDE_NONE;
    if (pthread_equal(pthread_self(), s->writer.thread))
        return SIDE_WRITER;
    return pthread_equal(pthread_self(), s->checkpointer.thread) ? SIDE_CHECKPOINTER : SIDE_NONE;
}

static const sqlite3_io_methods *real; /* of the database */
static sqlite3_io_methods methods;

/* Before the header is read, as the lock precedes that. */
static void check_pass(sqlite3_file *file)
{
    void volatile *index = NULL;
    if (real->xShmMap(file, 0, 32768, 0, &index) != SQLITE_OK || !index)
        abort();
    const uint32_t volatile *words = index;
    shim.passes++;
    shim.wrong += words[WORD_FRAMES] > 0 && words[WORD_COPIED] >= words[WORD_FRAMES];
}

static int shim_lock(sqlite3_file *file, int offset, int n, int flags)
{
    const enum side side = side_of_thread();
    if (side != SIDE_NONE && (int)side == shim.side && shim.left-- == 0) {
        sem_post(&shim.stopped);
        sem_wait(&shim.goes_on);
    }
    if (side == SIDE_CHECKPOINTER && offset == LOCK_CHECKPOINT && flags & SQLITE_SHM_LOCK)
        check_pass(file);
    return real->xShmLock(file, offset, n, flags);
}

static sqlite3_vfs vfs;

static int shim_open(sqlite3_vfs *v, sqlite3_filename name, sqlite3_file *file, int flags, int *ret_flags)
{
    sqlite3_vfs *unix_vfs = v->pAppData;
    int rc = unix_vfs->xOpen(unix_vfs, name, file, flags, ret_flags);
    if (rc != SQLITE_OK || !(flags & SQLITE_OPEN_MAIN_DB))
        return rc;
    if (!real) { /* before there are threads */
        real = file->pMethods;
        methods = *real;
        methods.xShmLock = shim_lock;
    }
    file->pMethods = &methods;
    return rc;
}

static void use_shim(void)
{
    sqlite3_vfs *unix_vfs = sqlite3_vfs_find(NULL);
    vfs = *unix_vfs;
    vfs.zName = "stops";
    vfs.xOpen = shim_open;
    vfs.pAppData = unix_vfs;
    sem_init(&shim.stopped, 0, 0);
    sem_init(&shim.goes_on, 0, 0);
    sqlite3_vfs_register(&vfs, 1);
}

/* ---- load ---- */

struct load {
    struct store *store;
    pthread_t thread;
    _Atomic bool stop;
    int stored; /* the last value that was acknowledged */
};

static enum err put(void *arg, struct db *db)
{
    char text[12];
    snprintf(text, sizeof text, "%d", *(int *)arg);
    return db_exec(db, SQL(setting_put, .name = STR("k"), .value = str_z(text)), NULL);
}

static enum err get(void *arg, struct db *db)
{
    CURSOR c;
    uint64_t n;
    enum err e = db_one(db, SQL(setting_get, .name = STR("k")), &c);
    if (!e && str_to_u64(row_setting_get(&c, NULL).value, INT32_MAX, &n))
        *(int *)arg = (int)n;
    return e;
}

static void *load_thread(void *arg)
{
    struct load *l = arg;
    for (int i = 1; !l->stop; i++)
        if (!store_run(l->store, STORE_WRITE, put, &i))
            l->stored = i;
    return NULL;
}

static int shim_start(void **state)
{
    if (store_fixture_open(state))
        return -1;
    struct store_fixture *f = *state;
    char *why = NULL;
    store_close(f->store);
    if (store_open(&f->config, true, &f->store, &why))
        return -1;
    struct sqlite_store *s = (struct sqlite_store *)f->store;
    s->checkpointer.truncate_us = 1000;
    shim.passes = shim.wrong = 0;
    shim.store = s;
    return store_start(f->store) ? -1 : 0;
}

static int shim_stop(void **state)
{
    shim.store = NULL;
    return store_fixture_close(state);
}

static void begin_load(struct load *l, struct store_fixture *f)
{
    l->store = f->store;
    assert_int_equal(pthread_create(&l->thread, NULL, load_thread, l), 0);
}

static void end_load(struct load *l)
{
    int found = 0;
    l->stop = true;
    pthread_join(l->thread, NULL);
    assert_true(l->stored > 0);
    assert_int_equal(store_run(l->store, STORE_READ, get, &found), ERR_NONE);
    assert_int_equal(found, l->stored);
}

static void assert_sound(struct store_fixture *f)
{
    char path[120];
    sqlite3 *handle;
    sqlite3_stmt *stmt;
    assert_true(shim.passes > 0);
    assert_int_equal(shim.wrong, 0);
    snprintf(path, sizeof path, "%s/portero.db", f->dir);
    assert_int_equal(sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_busy_timeout(handle, 10000), SQLITE_OK);
    assert_int_equal(sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(handle, "PRAGMA integrity_check(1)", -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(stmt, 0), "ok");
    sqlite3_finalize(stmt);
    assert_int_equal(sqlite3_close(handle), SQLITE_OK);
}

/* ---- tests ---- */

static void stop_at_each_lock(struct store_fixture *f, enum side side)
{
    struct load load = {0};
    begin_load(&load, f);
    for (int i = 0; i < LOCKS_MAX; i++) {
        shim.left = i;
        shim.side = (int)side;
        sem_wait(&shim.stopped);
        shim.side = SIDE_NONE;
        sleep_for_us(OTHER_US);
        sem_post(&shim.goes_on);
    }
    end_load(&load);
    assert_sound(f);
}

static void commits_while_the_checkpointer_is_stopped_at_a_lock_start_no_wal_over_under_it(void **state)
{
    stop_at_each_lock(*state, SIDE_CHECKPOINTER);
}

/* STORE-1 */
static void passes_while_the_writer_is_stopped_at_a_lock_begin_on_no_complete_wal(void **state)
{
    stop_at_each_lock(*state, SIDE_WRITER);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, shim_start, shim_stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(commits_while_the_checkpointer_is_stopped_at_a_lock_start_no_wal_over_under_it),
        TEST(passes_while_the_writer_is_stopped_at_a_lock_begin_on_no_complete_wal),
    };
    use_shim();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
