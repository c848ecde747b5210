/* The guarantees of store.h, on both engines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>

#include "fixture.h"

static const struct id a = {"aaaaaaaaaaaaaaaaaaaaaaaa"};

/* ---- bodies ---- */

struct setting {
    const char *name;
    char value[32];
    enum err answer; /* the result of the body */
};

static enum err put(void *arg, struct db *db)
{
    const struct setting *s = arg;
    enum err e = db_exec(db, SQL(setting_put, .name = str_z(s->name), .value = str_z(s->value)), NULL);
    return e ? e : s->answer;
}

static enum err get(void *arg, struct db *db)
{
    struct setting *s = arg;
    CURSOR c;
    enum err e = db_one(db, SQL(setting_get, .name = str_z(s->name)), &c);
    if (!e)
        snprintf(s->value, sizeof s->value, "%.*s", STR_ARG(row_setting_get(&c, NULL).value));
    return e;
}

static enum err increment(void *arg, struct db *db)
{
    struct setting s = {.name = arg, .value = "0"};
    enum err e = get(&s, db);
    if (e && e != ERR_NOT_FOUND)
        return e;
    snprintf(s.value, sizeof s.value, "%ld", strtol(s.value, NULL, 10) + 1);
    return put(&s, db);
}

static void assert_setting(struct store *store, const char *name, const char *value)
{
    struct setting s = {.name = name};
    assert_int_equal(store_run(store, STORE_READ, get, &s), value ? ERR_NONE : ERR_NOT_FOUND);
    assert_string_equal(s.value, value ? value : "");
}

/* ---- transactions ---- */

static void a_read_sees_an_acknowledged_write(void **state)
{
    struct store_fixture *f = *state;
    assert_setting(f->store, "k", NULL);
    for (int i = 0; i < 50; i++) {
        struct setting s = {.name = "k"};
        snprintf(s.value, sizeof s.value, "%d", i);
        assert_int_equal(store_run(f->store, STORE_WRITE, put, &s), ERR_NONE);
        assert_setting(f->store, "k", s.value);
    }
}

static void changes_of_a_failed_body_are_rolled_back(void **state)
{
    struct store_fixture *f = *state;
    struct setting s = {.name = "k", .value = "v", .answer = ERR_INVALID_ID};
    assert_int_equal(store_run(f->store, STORE_WRITE, put, &s), ERR_INVALID_ID);
    assert_setting(f->store, "k", NULL);
}

static enum err put_then_break(void *arg, struct db *db)
{
    enum err e = put(arg, db);
    if (e)
        return e;
    /* account.email must not be NULL: the statement fails, and its transaction with it, whatever the body returns. */
    int64_t changed;
    enum err failed = db_exec(db, SQL(account_insert, .id = &a, .email = STR_NONE, .created_at = 1), &changed);
    enum err after = put(arg, db);
    return failed == ERR_INTERNAL_ERROR && after == ERR_INTERNAL_ERROR ? ERR_NONE : ERR_INVALID_ID;
}

static enum err put_then_break_last(void *arg, struct db *db)
{
    enum err e = put(arg, db);
    if (e)
        return e;
    /* Nobody asks for the result of this one. */
    e = db_exec(db, SQL(account_insert, .id = &a, .email = STR_NONE, .created_at = 1), NULL);
    return e == ERR_INTERNAL_ERROR ? ERR_NONE : e;
}

static void a_failed_statement_fails_its_transaction(void **state)
{
    struct store_fixture *f = *state;
    struct setting s = {.name = "k", .value = "v"};
    assert_int_equal(store_run(f->store, STORE_WRITE, put_then_break, &s), ERR_INTERNAL_ERROR);
    assert_setting(f->store, "k", NULL);
    assert_int_equal(store_run(f->store, STORE_WRITE, put_then_break_last, &s), ERR_INTERNAL_ERROR);
    assert_setting(f->store, "k", NULL);
    assert_int_equal(store_run(f->store, STORE_WRITE, put, &s), ERR_NONE);
}

static enum err put_in_a_read(void *arg, struct db *db)
{
    return put(arg, db);
}

static void a_read_cannot_write(void **state)
{
    struct store_fixture *f = *state;
    struct setting s = {.name = "k", .value = "v"};
    assert_int_equal(store_run(f->store, STORE_READ, put_in_a_read, &s), ERR_INTERNAL_ERROR);
    assert_setting(f->store, "k", NULL);
}

/* ---- many at once ---- */

#define TASKS 600 /* more than one batch */

struct many;
struct numbered {
    struct store_task task;
    struct many *many;
    int number;
    enum err result;
    int done_at;
};
struct many {
    struct numbered tasks[TASKS];
    _Atomic int done;
    sem_t all_done;
};

/* Every third task fails after its write. */
static enum err numbered_run(struct store_task *task, struct db *db)
{
    struct numbered *n = (struct numbered *)task;
    char name[16];
    snprintf(name, sizeof name, "n%d", n->number);
    struct setting s = {.name = name, .value = "v", .answer = n->number % 3 ? ERR_NONE : ERR_INVALID_ID};
    return put(&s, db);
}

static void numbered_done(struct store_task *task, enum err result)
{
    struct numbered *n = (struct numbered *)task;
    n->result = result;
    n->done_at = n->many->done++;
    if (n->done_at == TASKS - 1)
        sem_post(&n->many->all_done);
}

static struct many *submit_many(struct store *store)
{
    struct many *m = calloc(1, sizeof *m);
    assert_non_null(m);
    sem_init(&m->all_done, 0, 0);
    for (int i = 0; i < TASKS; i++) {
        m->tasks[i] = (struct numbered){
            .task = {.mode = STORE_WRITE, .run = numbered_run, .done = numbered_done}, .many = m, .number = i};
        store_submit(store, &m->tasks[i].task);
    }
    return m;
}

static void a_failed_task_does_not_affect_others(void **state)
{
    struct store_fixture *f = *state;
    struct many *m = submit_many(f->store);
    sem_wait(&m->all_done);
    for (int i = 0; i < TASKS; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        assert_int_equal(m->tasks[i].result, i % 3 ? ERR_NONE : ERR_INVALID_ID);
        assert_setting(f->store, name, i % 3 ? "v" : NULL);
        if (store_exclusive(f->store))
            assert_int_equal(m->tasks[i].done_at, i); /* one writer: tasks run in the order of submission */
    }
    sem_destroy(&m->all_done);
    free(m);
}

/* ---- urgent tasks ---- */

#define GATES   4 /* at least the number of workers for tasks that are not urgent */
#define WAITING 20

struct gate {
    struct store_task task;
    sem_t *open;
};

static enum err gate_run(struct store_task *task, struct db *db)
{
    (void)db;
    while (sem_wait(((struct gate *)task)->open) < 0)
        ;
    return ERR_NONE;
}

static void gate_done(struct store_task *task, enum err result)
{
    (void)task, (void)result;
}

/* Blocks the store until `open` is posted. */
static void submit_gates(struct store *store, struct gate gates[static GATES], sem_t *open)
{
    sem_init(open, 0, 0);
    for (int i = 0; i < GATES; i++) {
        gates[i] = (struct gate){.task = {.mode = STORE_WRITE, .run = gate_run, .done = gate_done}, .open = open};
        store_submit(store, &gates[i].task);
    }
}

struct urgent {
    struct store_task task;
    struct many *others;
    struct store *store;
    int others_done; /* before the urgent task */
    sem_t done;
};

static enum err urgent_run(struct store_task *task, struct db *db)
{
    (void)task;
    return put(&(struct setting){.name = "urgent", .value = "v"}, db);
}

static void urgent_done(struct store_task *task, enum err result)
{
    struct urgent *u = (struct urgent *)task;
    u->others_done = result ? TASKS : u->others->done;
    sem_post(&u->done);
}

static void an_urgent_task_runs_before_waiting_ones(void **state)
{
    struct store_fixture *f = *state;
    struct gate gates[GATES];
    sem_t open;
    submit_gates(f->store, gates, &open);
    struct many *m = submit_many(f->store);
    struct urgent u = {.task = {.mode = STORE_WRITE, .urgent = true, .run = urgent_run, .done = urgent_done},
                       .others = m};
    sem_init(&u.done, 0, 0);
    store_submit(f->store, &u.task);
    for (int i = 0; i < GATES; i++)
        sem_post(&open);
    sem_wait(&u.done);
    assert_in_range(u.others_done, 0, TASKS / 2); /* in the order of submission, nearly all would precede it */
    sem_wait(&m->all_done);
    sem_destroy(&u.done);
    sem_destroy(&m->all_done);
    free(m);
    store_close(f->store); /* waits for the gates, too */
    assert_int_equal(store_fixture_start(f), 0);
}

/* Submits itself again while others wait. */
static void urgent_again(struct store_task *task, enum err result)
{
    struct urgent *u = (struct urgent *)task;
    (void)result;
    if (u->others->done < TASKS)
        store_submit(u->store, task);
    else
        sem_post(&u->done);
}

static void endless_urgent_tasks_do_not_starve_others(void **state)
{
    struct store_fixture *f = *state;
    struct gate gates[GATES];
    struct urgent urgent[WAITING];
    sem_t open;
    submit_gates(f->store, gates, &open);
    struct many *m = submit_many(f->store);
    for (int i = 0; i < WAITING; i++) {
        urgent[i] =
            (struct urgent){.task = {.mode = STORE_WRITE, .urgent = true, .run = urgent_run, .done = urgent_again},
                            .others = m,
                            .store = f->store};
        sem_init(&urgent[i].done, 0, 0);
        store_submit(f->store, &urgent[i].task);
    }
    for (int i = 0; i < GATES; i++)
        sem_post(&open);
    sem_wait(&m->all_done);
    for (int i = 0; i < WAITING; i++)
        sem_wait(&urgent[i].done);
    store_close(f->store);
    assert_int_equal(store_fixture_start(f), 0);
    sem_destroy(&m->all_done);
    free(m);
}

/* A submitted read. */
struct read {
    struct store_task task;
    struct setting setting;
    enum err result;
    sem_t done;
};

static enum err read_run(struct store_task *task, struct db *db)
{
    return get(&((struct read *)task)->setting, db);
}

static void read_done(struct store_task *task, enum err result)
{
    struct read *r = (struct read *)task;
    r->result = result;
    sem_post(&r->done);
}

static void a_submitted_read_returns_its_result(void **state)
{
    struct store_fixture *f = *state;
    struct setting s = {.name = "k", .value = "v"};
    assert_int_equal(store_run(f->store, STORE_WRITE, put, &s), ERR_NONE);
    struct read r = {.task = {.mode = STORE_READ, .run = read_run, .done = read_done}, .setting = {.name = "k"}};
    sem_init(&r.done, 0, 0);
    store_submit(f->store, &r.task);
    sem_wait(&r.done);
    assert_int_equal(r.result, ERR_NONE);
    assert_string_equal(r.setting.value, "v");
    sem_destroy(&r.done);
}

#define THREADS 4
#define ROUNDS  50

static void *increment_often(void *arg)
{
    intptr_t failures = 0;
    for (int i = 0; i < ROUNDS; i++)
        failures += store_run(arg, STORE_WRITE, increment, "counter") != ERR_NONE;
    return (void *)failures;
}

static void concurrent_updates_are_not_lost(void **state)
{
    struct store_fixture *f = *state;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, increment_often, f->store), 0);
    intptr_t failures = 0;
    for (int i = 0; i < THREADS; i++) {
        void *ret;
        pthread_join(threads[i], &ret);
        failures += (intptr_t)ret;
    }
    char total[24];
    snprintf(total, sizeof total, "%ld", (long)(THREADS * ROUNDS - failures));
    assert_setting(f->store, "counter", total);
    assert_int_equal(failures, 0);
}

static void closing_finishes_submitted_tasks(void **state)
{
    struct store_fixture *f = *state;
    struct many *m = submit_many(f->store);
    store_close(f->store);
    assert_int_equal(m->done, TASKS);
    sem_destroy(&m->all_done);
    free(m);
    assert_int_equal(store_fixture_start(f), 0);
    assert_setting(f->store, "n1", "v");
    assert_setting(f->store, "n598", "v");
}

/* ---- values ---- */

/* For bodies: the assertions of cmocka work only on the thread of the test. */
#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            print_error("%s:%d: %s\n", __FILE__, __LINE__, #condition);                                                \
            return ERR_INVALID_ID;                                                                                     \
        }                                                                                                              \
    } while (0)

static const char bytes[] = "\0\xff'\\\"\n\0";

/* The text of job_insert has $3 before $1 and $2: an engine that counts parameters by appearance would swap them. */
static enum err values_round_trip(void *arg, struct db *db)
{
    (void)arg;
    const struct str payload = str_bytes(bytes, sizeof bytes);
    int64_t changed = -1;
    enum err e = db_exec(db,
                         SQL(job_insert, .id = STR("jé☎"), .kind = STR(""), .created_at = INT64_MIN,
                             .due_at = INT64_MAX, .payload = payload),
                         &changed);
    if (e)
        return e;
    CHECK(changed == 1);
    CURSOR c;
    e = db_one(db, SQL(job_take, .now = INT64_MAX - 1, .lasts = 7, .leased_by = NULL), &c);
    CHECK(e == ERR_NOT_FOUND); /* not due */
    CURSOR taken;
    e = db_one(db, SQL(job_take, .now = INT64_MAX, .lasts = 3600000000, .leased_by = &a), &taken);
    if (e)
        return e;
    const struct row_job_take row = row_job_take(&taken, NULL);
    CHECK(str_eq(row.job.id, STR("jé☎")));
    CHECK(row.job.kind.p != NULL && row.job.kind.n == 0);
    CHECK(row.job.attempts == 1);
    CHECK(row.job.created_at == INT64_MIN);
    CHECK(row.payload.n == sizeof bytes && memcmp(row.payload.p, bytes, sizeof bytes) == 0);
    db_end(&taken);
    /* Leased for an hour: another worker does not get it. */
    CURSOR none;
    return db_one(db, SQL(job_take, .now = INT64_MAX, .lasts = 1, .leased_by = NULL), &none) == ERR_NOT_FOUND
               ? ERR_NONE
               : ERR_INTERNAL_ERROR;
}

static enum err nulls_round_trip(void *arg, struct db *db)
{
    (void)arg;
    enum err e = db_exec(db, SQL(account_insert, .id = &a, .email = STR("a@b"), .created_at = 5), NULL);
    if (e)
        return e;
    CURSOR c;
    e = db_one(db, SQL(account_get, .id = &a), &c);
    if (e)
        return e;
    const struct row_account_get row = row_account_get(&c, NULL);
    CHECK(row.email.p && !row.plan.p);
    CHECK(db_column(&c, 0, NULL).kind == VAL_STR); /* the e-mail address */
    CHECK(db_column(&c, 1, NULL).kind == VAL_TIME && db_column(&c, 2, NULL).kind == VAL_NULL);
    bool more = true;
    CHECK(db_next(&c, &more) == ERR_NONE);
    CHECK(!more);
    more = true;
    CHECK(db_next(&c, &more) == ERR_NONE); /* no new start */
    CHECK(!more);
    return ERR_NONE;
}

static void values_are_read_as_they_were_written(void **state)
{
    struct store_fixture *f = *state;
    assert_int_equal(store_run(f->store, STORE_WRITE, values_round_trip, NULL), ERR_NONE);
    assert_int_equal(store_run(f->store, STORE_WRITE, nulls_round_trip, NULL), ERR_NONE);
}

static enum err count_changes(void *arg, struct db *db)
{
    int64_t *changed = arg;
    return db_exec(db, SQL(job_delete, .id = STR("nobody")), changed);
}

static void a_statement_returns_the_number_of_changed_rows(void **state)
{
    struct store_fixture *f = *state;
    int64_t changed = -1;
    assert_int_equal(store_run(f->store, STORE_WRITE, count_changes, &changed), ERR_NONE);
    assert_int_equal(changed, 0);
}

/* ---- misuse ---- */

static enum err read_beyond_the_row(void *arg, struct db *db)
{
    CURSOR c;
    enum err e = db_one(db, SQL(schema_version), &c);
    if (!e)
        *(int64_t *)arg = db_column(&c, 1, NULL).i;
    return e;
}

static enum err read_before_the_row(void *arg, struct db *db)
{
    CURSOR c;
    enum err e = db_query(db, SQL(schema_version), &c);
    if (!e)
        *(int64_t *)arg = row_schema_version(&c, NULL).version;
    return e;
}

static enum err read_another_row(void *arg, struct db *db)
{
    CURSOR c;
    enum err e = db_one(db, SQL(schema_version), &c);
    if (!e)
        *(int64_t *)arg = row_schema_has(&c, NULL).tables;
    return e;
}

static enum err forget_a_cursor(void *arg, struct db *db)
{
    struct cursor c;
    (void)arg;
    return db_query(db, SQL(schema_version), &c);
}

static enum err forget_an_argument(void *arg, struct db *db)
{
    (void)arg;
    return db_exec(db, SQL_AS(SQL_JOB_DELETE, schema_version), NULL);
}

static void misuse_aborts(void **state)
{
    struct store_fixture *f = *state;
    enum err (*const bugs[])(void *, struct db *) = {read_beyond_the_row, read_before_the_row, read_another_row,
                                                     forget_a_cursor, forget_an_argument};
    store_close(f->store);
    f->store = NULL;
    for (size_t i = 0; i < sizeof bugs / sizeof *bugs; i++) {
        pid_t child = fork();
        if (child == 0) {
            int64_t value;
            signal(SIGABRT, SIG_DFL);
            if (!freopen("/dev/null", "w", stderr) || store_fixture_start(f))
                _exit(1);
            _exit(store_run(f->store, STORE_WRITE, bugs[i], &value) ? 2 : 3);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    }
    assert_int_equal(store_fixture_start(f), 0);
}

/* ---- the schema ---- */

struct newer {
    int version, oldest;
};

static enum err pretend_newer(void *arg, struct db *db)
{
    const struct newer *newer = arg;
    enum err e = db_exec(db, SQL(schema_advance, .version = newer->version), NULL);
    return e ? e : db_exec(db, SQL(schema_admit, .version = newer->version, .oldest = newer->oldest), NULL);
}

/* Closes the store after another program has brought its schema to a version that follows this program's. */
static void leave_newer(struct store_fixture *f, int versions, int oldest)
{
    int have, want;
    assert_int_equal(store_versions(f->store, &have, &want), ERR_NONE);
    struct newer newer = {want + versions, want + oldest};
    assert_int_equal(store_run(f->store, STORE_WRITE, pretend_newer, &newer), ERR_NONE);
    store_close(f->store);
    f->store = NULL;
}

/* STORE-13 */
static void a_newer_schema_that_admits_this_program_is_used(void **state)
{
    struct store_fixture *f = *state;
    int have, want;
    leave_newer(f, 1, 0);
    assert_int_equal(store_fixture_start(f), 0);
    leave_newer(f, 3, 0);
    assert_int_equal(store_open(&f->config, false, &f->store, NULL), ERR_NONE);
    assert_int_equal(store_start(f->store), ERR_NONE);
    assert_int_equal(store_versions(f->store, &have, &want), ERR_NONE);
    assert_int_equal(have, want + 3);
    assert_setting(f->store, "k", NULL);
}

/* STORE-13 */
static void a_newer_schema_for_later_programs_is_refused(void **state)
{
    struct store_fixture *f = *state;
    char *why = NULL;
    leave_newer(f, 2, 1);
    assert_int_equal(store_open(&f->config, true, &f->store, &why), ERR_USAGE);
    assert_non_null(strstr(why, "this program knows only"));
    free(why);
}

static int open_empty(void **state, int (*open)(void **))
{
    int rc = open(state);
    struct store_fixture *f = *state;
    if (rc)
        return rc;
    store_close(f->store);
    f->store = NULL;
    if (f->schema[0])
        return store_cluster_sql("DROP SCHEMA \"%s\" CASCADE", f->schema) ||
               store_cluster_sql("CREATE SCHEMA \"%s\"", f->schema);
    char path[100];
    snprintf(path, sizeof path, "%s/portero.lock", f->dir);
    if (remove(path))
        return -1;
    snprintf(path, sizeof path, "%s/portero.db", f->dir);
    return remove(path);
}

static int open_empty_sqlite(void **state)
{
    return open_empty(state, store_fixture_open);
}

static int open_empty_postgresql(void **state)
{
    return open_empty(state, store_fixture_open_postgresql);
}

/* STORE-12 */
static void an_old_schema_is_refused_without_migration(void **state)
{
    struct store_fixture *f = *state;
    char *why = NULL;
    assert_int_equal(store_open(&f->config, false, &f->store, &why), ERR_USAGE);
    assert_non_null(strstr(why, "migrate"));
    free(why);
    assert_int_equal(store_fixture_start(f), 0);
    assert_setting(f->store, "k", NULL);
}

#define BOTH(test)                                                                                                     \
    {#test "/sqlite", test, store_fixture_open, store_fixture_close, NULL},                                            \
    {                                                                                                                  \
#test "/postgresql", test, store_fixture_open_postgresql, store_fixture_close, NULL                            \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(a_read_sees_an_acknowledged_write),
        BOTH(changes_of_a_failed_body_are_rolled_back),
        BOTH(a_failed_statement_fails_its_transaction),
        BOTH(a_read_cannot_write),
        BOTH(a_failed_task_does_not_affect_others),
        BOTH(an_urgent_task_runs_before_waiting_ones),
        BOTH(endless_urgent_tasks_do_not_starve_others),
        BOTH(a_submitted_read_returns_its_result),
        BOTH(concurrent_updates_are_not_lost),
        BOTH(closing_finishes_submitted_tasks),
        BOTH(values_are_read_as_they_were_written),
        BOTH(a_statement_returns_the_number_of_changed_rows),
        BOTH(misuse_aborts),
        BOTH(a_newer_schema_that_admits_this_program_is_used),
        BOTH(a_newer_schema_for_later_programs_is_refused),
        cmocka_unit_test_setup_teardown(an_old_schema_is_refused_without_migration, open_empty_sqlite,
                                        store_fixture_close),
        cmocka_unit_test_setup_teardown(an_old_schema_is_refused_without_migration, open_empty_postgresql,
                                        store_fixture_close),
    };
    return cmocka_run_group_tests(tests, store_cluster_start, store_cluster_stop);
}
