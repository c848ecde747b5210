/* Migrations keep the rows of an older store, on both engines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <limits.h>
#include <pthread.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/arena.h"
#include "base/crypto.h"
#include "base/file.h"
#include "base/id.h"
#include "fixture.h"
#include "store/engine.h"
#include "store/restore.h"

#define HOME "bbbbbbbbbbbbbbbbbbbbbbb2"
#define VERA "69001234abcdef0123456789"
#define TIM  "690012340000000000000001"

/* The two %s: the engine's function for the bytes of a hexadecimal text. */
static const char old_grants[] =
    "INSERT INTO access_grant (building_id, revoked, id, type, label, enabled, version, created_at, updated_at, "
    "starts_at, ends_at, remaining_uses, access_code, voice, request_id, request_hash) VALUES "
    "('" HOME "', 0, '" VERA "', 'passcode', 'Vera', 1, 3, 1000, 2000, 0, 9223372036854775807, 4, '0042', 1, "
    "'request-of-vera-01', %s'000102030405060708090a0b'%s);"
    "INSERT INTO access_grant (building_id, revoked, id, type, label, enabled, created_at, ends_at) VALUES "
    "('" HOME "', 1, '" TIM "', 'timer', 'Tim', 1, 1000, 5000);"
    "INSERT INTO access_grant (building_id, id, type, label, enabled, created_at, ends_at, days, start_minute, "
    "end_minute, timezone, request_id) VALUES ('bbbbbbbbbbbbbbbbbbbbbbb1', 'ffffffffffffffffffffffff', 'routine', "
    "'Rosa', 0, 1000, 9223372036854775807, 62, 480, 1080, 'Europe/Madrid', 'request-of-rosa-01');";

/* Enough rows for a table of several megabytes. */
static const char many_old_grants[] =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
    "INSERT INTO access_grant (building_id, id, type, label, enabled, created_at, ends_at, request_id) "
    "SELECT 'ccccccccccccccccccccccc1', substr('000000000000000000000000', 1, 24 - length('' || i)) || i, 'timer', "
    "'a label of some length', 1, 1000, 9223372036854775807, 'a-request-of-some-length-' || i FROM n";

static enum err fill(void *arg, struct db *db)
{
    (void)arg;
    struct arena a;
    arena_init(&a, NULL, 0);
    const struct str sql = arena_printf(&a, old_grants, db->engine->word_bytes[0], db->engine->word_bytes[1]);
    enum err e = db_exec(db, SQL(setting_put, .name = STR("a"), .value = STR("b")), NULL); /* begins the transaction */
    if (!e)
        e = db->engine->script(db, sql.p);
    if (!e)
        e = db->engine->script(db, many_old_grants);
    arena_done(&a);
    return e;
}

/* The version of the schema before the migration that contains this text. */
static int version_before(const char *text)
{
    int n = 0;
    while (sql_migrations[n] && !strstr(sql_migrations[n], text))
        n++;
    assert_non_null(sql_migrations[n]);
    return n;
}

/* Creates a store of the version before the migration that contains this text, with these rows, and migrates it. */
static void upgrade_over(struct store_fixture *f, const char *text, enum err (*rows)(void *, struct db *))
{
    char *why = NULL;
    const struct engine *engine = f->config.engine == ENGINE_SQLITE ? &sqlite_engine : &postgresql_engine;
    assert_int_equal(engine->open(&f->config, &f->store, &why), ERR_NONE);
    assert_int_equal(migrate_to(f->store, version_before(text), &why), ERR_NONE);
    assert_int_equal(engine->transact(f->store, STORE_WRITE, rows, NULL), ERR_NONE);
    store_close(f->store);
    assert_int_equal(store_fixture_start(f), 0);
}

static void upgrade(struct store_fixture *f)
{
    upgrade_over(f, "CREATE TABLE grant_building", fill);
}

static struct id_bytes bytes_of(const char *text)
{
    struct id id;
    assert_true(id_parse(str_z(text), &id));
    return id_to_bytes(&id);
}

/* The result of a statement in a body that may have to run again. */
#define EXPECT(result, expected)                                                                                       \
    do {                                                                                                               \
        const enum err e_ = (result);                                                                                  \
        if (e_ == ERR_RETRY)                                                                                           \
            return e_;                                                                                                 \
        assert_int_equal(e_, expected);                                                                                \
    } while (0)

static enum err look(void *arg, struct db *db)
{
    (void)arg;
    const struct id_bytes vera = bytes_of(VERA), tim = bytes_of(TIM), rosa = bytes_of("ffffffffffffffffffffffff");
    const struct id home = {HOME}, other = {"bbbbbbbbbbbbbbbbbbbbbbb1"};
    {
        CURSOR c;
        EXPECT(db_one(db, SQL(grant_find, .building_id = &home, .id = &vera), &c), ERR_NONE);
        const struct row_grant row = row_grant(&c, NULL);
        assert_string_equal(row.id.text, VERA);
        assert_true(!row.revoked && row.type == 1 && row.enabled && row.version == 3);
        assert_true(row.created_at == 1000 && row.updated_at.i == 2000);
        assert_true(row.starts_at == 0 && row.ends_at == INT64_MAX && row.remaining_uses.i == 4);
        assert_true(str_eq(row.label, STR("Vera")) && str_eq(row.access_code, STR("0042")));
        assert_true(str_eq(row.request_id, STR("request-of-vera-01")));
    }
    {
        CURSOR c;
        EXPECT(db_one(db, SQL(grant_find, .building_id = &home, .id = &tim), &c), ERR_NONE);
        const struct row_grant row = row_grant(&c, NULL);
        assert_true(row.revoked && row.type == 0 && !row.request_id.p);
    }
    {
        CURSOR c;
        EXPECT(db_one(db, SQL(grant_find, .building_id = &home, .id = &rosa), &c), ERR_NOT_FOUND);
    }
    {
        CURSOR c;
        EXPECT(db_one(db, SQL(grant_find, .building_id = &other, .id = &rosa), &c), ERR_NONE);
        const struct row_grant row = row_grant(&c, NULL);
        assert_int_equal(row.type, 2);
        assert_true(str_eq(row.schedule.timezone, STR("Europe/Madrid")));
    }
    return ERR_NONE;
}

static enum err look_for_request(void *arg, struct db *db)
{
    (void)arg;
    CURSOR c;
    const int64_t key = crypto_hash64(STR("request-of-vera-01"));
    assert_int_equal(db_one(db, SQL(grant_by_request, .building_id = &(struct id){HOME}, .request_key = key), &c),
                     ERR_NONE);
    const struct row_receipt row = row_receipt(&c, NULL);
    assert_true(str_eq(row.grant.label, STR("Vera")));
    assert_int_equal(row.request_hash.n, 12); /* the older hash was shorter */
    return ERR_NONE;
}

static enum err look_as_the_door(void *arg, struct db *db)
{
    (void)arg;
    CURSOR c;
    assert_int_equal(db_one(db, SQL(access_usable, .building_id = &(struct id){HOME}, .type = 1, .now = 3000), &c),
                     ERR_NONE);
    assert_true(str_eq(row_access_usable(&c, NULL).access_code, STR("0042")));
    return ERR_NONE;
}

static void grants_of_an_older_store_are_kept(void **state)
{
    struct store_fixture *f = *state;
    upgrade(f);
    assert_int_equal(store_run(f->store, STORE_READ, look, NULL), ERR_NONE);
    assert_int_equal(store_run(f->store, STORE_READ, look_for_request, NULL), ERR_NONE);
    assert_int_equal(store_run(f->store, STORE_READ, look_as_the_door, NULL), ERR_NONE);
}

/* ---- the guard against guessing ---- */

#define CLOSED_UNTIL 1795167600000000LL

static enum err close_keypad(void *arg, struct db *db)
{
    (void)arg;
    enum err e = db_exec(db, SQL(setting_put, .name = STR("a"), .value = STR("b")), NULL); /* begins the transaction */
    return e ? e
             : db->engine->script(
                   db,
                   "INSERT INTO account (id, email, created_at) VALUES ('ada', 'ada@example.com', 0);"
                   "INSERT INTO building (account_id, id, created_at, is_primary, label, codes_closed_until) VALUES "
                   "('ada', '" HOME "', 0, 1, 'Home', 1795167600000000),"
                   "('ada', 'bbbbbbbbbbbbbbbbbbbbbbb3', 0, 0, 'Annex', 0)");
}

static enum err look_at_guards(void *arg, struct db *db)
{
    (void)arg;
    {
        CURSOR c;
        EXPECT(db_one(db, SQL(access_by_building, .key = STR(HOME), .caller = STR_NONE), &c), ERR_NONE);
        const struct row_door row = row_door(&c, NULL);
        assert_true(str_eq(row.label, STR("Home")));
        assert_int_equal(row.failed_1, CLOSED_UNTIL - 600000000);
        assert_int_equal(row.closed_until, CLOSED_UNTIL);
        assert_int_equal(row.closings, 1);
    }
    CURSOR c;
    const struct str annex = STR("bbbbbbbbbbbbbbbbbbbbbbb3");
    EXPECT(db_one(db, SQL(access_by_building, .key = annex, .caller = STR_NONE), &c), ERR_NONE);
    assert_int_equal(row_door(&c, NULL).closed_until, 0);
    return ERR_NONE;
}

static void a_closed_keypad_stays_closed(void **state)
{
    struct store_fixture *f = *state;
    upgrade_over(f, "CREATE TABLE door_guard", close_keypad);
    assert_int_equal(store_run(f->store, STORE_READ, look_at_guards, NULL), ERR_NONE);
}

static int64_t pragma(struct store_fixture *f, const char *sql)
{
    char path[128];
    sqlite3 *db;
    sqlite3_stmt *stmt;
    snprintf(path, sizeof path, "%s/portero.db", f->dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return n;
}

/* STORE-15 */
static void the_space_of_the_old_tables_is_freed(void **state)
{
    struct store_fixture *f = *state;
    upgrade(f);
    assert_in_range(pragma(f, "PRAGMA freelist_count"), 0, 100);
    assert_int_equal(pragma(f, "SELECT count(*) FROM access_grant"), 20003);
}

/* ---- several programs at once ---- */

#define PROGRAMS 8

struct program {
    const struct config *config;
    pthread_barrier_t *together;
    pthread_t thread;
    enum err result;
    char *why;
};

static void *open_as_program(void *arg)
{
    struct program *p = arg;
    struct store *store;
    pthread_barrier_wait(p->together);
    p->result = store_open(p->config, true, &store, &p->why);
    if (!p->result)
        store_close(store);
    return NULL;
}

static void assert_all_open(struct store_fixture *f)
{
    struct program programs[PROGRAMS];
    pthread_barrier_t together;
    pthread_barrier_init(&together, NULL, PROGRAMS);
    for (int i = 0; i < PROGRAMS; i++) {
        programs[i] = (struct program){.config = &f->config, .together = &together};
        assert_int_equal(pthread_create(&programs[i].thread, NULL, open_as_program, &programs[i]), 0);
    }
    for (int i = 0; i < PROGRAMS; i++)
        pthread_join(programs[i].thread, NULL);
    for (int i = 0; i < PROGRAMS; i++) {
        if (programs[i].result)
            print_error("program %d: %s\n", i, programs[i].why);
        assert_int_equal(programs[i].result, ERR_NONE);
    }
    pthread_barrier_destroy(&together);
}

/* Some start earlier than others, so that they meet at other migrations each time. */
static void eight_programs_migrate_an_older_store_at_once(void **state)
{
    struct store_fixture *f = *state;
    char *why = NULL;
    for (int from = 0; from < migrate_newest(); from += 5) {
        const enum err opened = postgresql_engine.open(&f->config, &f->store, &why);
        if (opened)
            print_error("from version %d: %s\n", from, why);
        assert_int_equal(opened, ERR_NONE);
        assert_int_equal(migrate_to(f->store, from, &why), ERR_NONE);
        store_close(f->store);
        f->store = NULL;
        assert_all_open(f);
        assert_int_equal(store_cluster_sql("DROP SCHEMA \"%s\" CASCADE", f->schema), 0);
        assert_int_equal(store_cluster_sql("CREATE SCHEMA \"%s\"", f->schema), 0);
    }
    assert_all_open(f);
    assert_int_equal(store_fixture_start(f), 0);
}

/* A service with a program of version 20 is running; the last migration has not been made. */
static enum err leave_a_node(void *arg, struct db *db)
{
    (void)arg;
    enum err e = db_exec(db, SQL(setting_put, .name = STR("a"), .value = STR("b")), NULL); /* begins the transaction */
    return e ? e
             : db->engine->script(
                   db, "INSERT INTO node (id, version, schema_version, host, address, started_at, heartbeat_at, "
                       "ahead_us) VALUES ('n', '0', 20, 'h', 'a', 0, "
                       "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint + 60000000, 0);"
                       "DELETE FROM schema_version WHERE version = (SELECT max(version) FROM schema_version)");
}

/* STORE-14 */
static void a_migration_waits_for_services_that_could_not_use_the_schema(void **state)
{
    struct store_fixture *f = *state;
    char *why = NULL;
    assert_int_equal(store_fixture_start(f), 0);
    assert_int_equal(store_run(f->store, STORE_WRITE, leave_a_node, NULL), ERR_NONE);
    store_close(f->store);
    f->store = NULL;
    assert_int_equal(store_open(&f->config, STORE_MIGRATE, &f->store, &why), ERR_USAGE);
    assert_non_null(strstr(why, "1 running services of an earlier program"));
    free(why);
}

static bool disk_full;

int statvfs(const char *path, struct statvfs *ret)
{
    (void)path;
    *ret = (struct statvfs){.f_frsize = 4096, .f_bavail = disk_full ? 1 : 1 << 20};
    return 0;
}

static void expect_admitted(struct store_fixture *f, enum store_schema schema, enum err wanted)
{
    char *why = NULL;
    assert_int_equal(store_admits(&f->config, schema, &why), wanted);
    assert_true(wanted != ERR_IO || strstr(why, "and the disk has 4: free some"));
    free(why);
}

static off_t size_of(const char *path)
{
    struct stat found;
    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0600);
    return found.st_size;
}

/* And the copy of an earlier migration stays until there is room for another. */
static void a_sqlite_store_is_copied_before_it_is_migrated(void **state)
{
    struct store_fixture *f = *state;
    char *why = NULL, path[PATH_MAX];
    bool sealed = false;
    (void)snprintf(path, sizeof path, "%s/portero.db.before-migration", f->config.top_data_dir);
    assert_int_equal(sqlite_engine.open(&f->config, &f->store, &why), ERR_NONE);
    assert_int_equal(migrate_to(f->store, migrate_newest() - 1, &why), ERR_NONE);
    store_close(f->store);
    f->store = NULL;
    assert_true(file_replace(path, "earlier", 7));
    expect_admitted(f, STORE_MIGRATE_KEPT, ERR_NONE);
    expect_admitted(f, STORE_AS_IS, ERR_USAGE);
    disk_full = true;
    expect_admitted(f, STORE_MIGRATE_KEPT, ERR_IO);
    assert_int_equal(store_open(&f->config, STORE_MIGRATE_KEPT, &f->store, &why), ERR_IO);
    free(why);
    assert_int_equal(size_of(path), 7);
    disk_full = false;
    assert_int_equal(store_open(&f->config, STORE_MIGRATE_KEPT, &f->store, &why), ERR_NONE);
    store_close(f->store);
    f->store = NULL;
    assert_int_equal(restore_check(path, &sealed, &why), ERR_NONE);
    assert_true(sealed && size_of(path) > 7);
    disk_full = true; /* nothing is left to migrate */
    expect_admitted(f, STORE_MIGRATE_KEPT, ERR_NONE);
    expect_admitted(f, STORE_AS_IS, ERR_NONE);
    disk_full = false;
    (void)unlink(path);
}

static enum err refuse_newest(void *arg, struct db *db)
{
    char sql[256];
    (void)snprintf(sql, sizeof sql,
                   "CREATE TRIGGER refuse BEFORE INSERT ON schema_version WHEN NEW.version = %d BEGIN SELECT "
                   "RAISE(ABORT, 'refused'); END",
                   migrate_newest());
    (void)arg;
    return db->engine->script(db, sql);
}

static enum err admit_newest(void *arg, struct db *db)
{
    (void)arg;
    return db->engine->script(db, "DROP TRIGGER refuse");
}

static int version_of_copy(const char *path)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT max(version) FROM schema_version", -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    const int version = sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return version;
}

/* systemd starts a service again whose migration failed. */
static void the_copy_of_before_a_migration_stays_until_that_has_ended(void **state)
{
    struct store_fixture *f = *state;
    char *why = NULL, path[PATH_MAX];
    const int before = migrate_newest() - 2;
    (void)snprintf(path, sizeof path, "%s/portero.db.before-migration", f->config.top_data_dir);
    assert_int_equal(sqlite_engine.open(&f->config, &f->store, &why), ERR_NONE);
    assert_int_equal(migrate_to(f->store, before, &why), ERR_NONE);
    assert_int_equal(sqlite_engine.transact(f->store, STORE_WRITE, refuse_newest, NULL), ERR_NONE);
    store_close(f->store);
    f->store = NULL;
    for (int start = 0; start < 2; start++) {
        assert_int_equal(store_open(&f->config, STORE_MIGRATE_KEPT, &f->store, &why), ERR_USAGE);
        free(why);
        why = NULL;
        assert_int_equal(version_of_copy(path), before);
    }
    assert_int_equal(sqlite_engine.open(&f->config, &f->store, &why), ERR_NONE);
    assert_int_equal(sqlite_engine.transact(f->store, STORE_WRITE, admit_newest, NULL), ERR_NONE);
    store_close(f->store);
    assert_int_equal(store_open(&f->config, STORE_MIGRATE_KEPT, &f->store, &why), ERR_NONE);
    assert_int_equal(version_of_copy(path), before);
    assert_int_equal(pragma(f, "SELECT count(*) FROM setting WHERE name = 'copied_before_migration'"), 0);
    (void)unlink(path);
}

/* ---- */

static int new_sqlite(void **state)
{
    return (*state = store_fixture_new()) ? 0 : -1;
}

static int new_postgresql(void **state)
{
    return (*state = store_fixture_new_postgresql()) ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"grants of an older store are found as before, SQLite", grants_of_an_older_store_are_kept, new_sqlite,
         store_fixture_close, NULL},
        {"the room of the old tables is given back, SQLite", the_space_of_the_old_tables_is_freed, new_sqlite,
         store_fixture_close, NULL},
        {"a store is copied before it is migrated, SQLite", a_sqlite_store_is_copied_before_it_is_migrated, new_sqlite,
         store_fixture_close, NULL},
        {"the copy of before a migration stays until that has ended, SQLite",
         the_copy_of_before_a_migration_stays_until_that_has_ended, new_sqlite, store_fixture_close, NULL},
        {"a keypad that was closed stays closed, SQLite", a_closed_keypad_stays_closed, new_sqlite, store_fixture_close,
         NULL},
        {"a keypad that was closed stays closed, PostgreSQL", a_closed_keypad_stays_closed, new_postgresql,
         store_fixture_close, NULL},
        {"eight programs migrate an older store at once, PostgreSQL", eight_programs_migrate_an_older_store_at_once,
         new_postgresql, store_fixture_close, NULL},
        {"a migration waits for services that could not use the new schema, PostgreSQL",
         a_migration_waits_for_services_that_could_not_use_the_schema, new_postgresql, store_fixture_close, NULL},
        {"grants of an older store are found as before, PostgreSQL", grants_of_an_older_store_are_kept, new_postgresql,
         store_fixture_close, NULL},
    };
    return cmocka_run_group_tests(tests, store_cluster_start, store_cluster_stop);
}
