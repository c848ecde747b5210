/* Migrations of the schema.
 *
 * Each is one transaction, which first takes a lock (schema_lock) that no other process has at the same time. The
 * transaction must not have a snapshot from before it has the lock: it would not see the migration that the previous
 * owner of the lock has committed. So with PostgreSQL it is READ COMMITTED. The lock is tried, not waited for, so that
 * a process waits here, where it can say so. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/wait.h"
#include "store/engine.h"

#define MIGRATION_MAX (1 << 20)
#define ADMITS_FROM   21 /* the first schema that says which programs may use it; as in scripts/sqlgen.awk */

#define COPIED "copied_before_migration" /* setting: the store was, and the migrations have not ended since */

#define BUSY_US     50000               /* between attempts to take the lock */
#define USERS_US    (12 * US_PER_S)     /* a crashed service counts as running for 10 s: node.sql */
#define BUSY_MAX_US (3600LL * US_PER_S) /* for one migration of another process; a statement of it ends then, too */

struct step {
    struct store *store;
    int from, have;
    int oldest; /* the oldest program that may use the schema; read only for a newer one than this program knows */
    bool busy;  /* another process migrates */
    int needed; /* the version that running services must know, */
    int users;  /* and the services that do not */
    bool half;  /* a move into this database has not ended: move.h */
    bool copied;
};

int migrate_newest(void)
{
    int n = 0;
    while (sql_migrations[n])
        n++;
    return n;
}

enum err migrate_read_version(void *ret_version, struct db *db)
{
    int *version = ret_version;
    CURSOR c;
    enum err e = db_one(db, SQL(schema_version), &c);
    if (!e)
        *version = (int)row_schema_version(&c, NULL).version;
    return e;
}

static enum err read_oldest(struct step *step, struct db *db)
{
    CURSOR c;
    enum err e = db_one(db, SQL(schema_oldest), &c);
    if (!e)
        step->oldest = (int)row_schema_oldest(&c, NULL).oldest;
    return e;
}

static enum err schema_has(struct db *db, struct str table, bool *ret)
{
    CURSOR c;
    enum err e = db_one(db, SQL(schema_has, .name = table), &c);
    if (!e)
        *ret = row_schema_has(&c, NULL).tables > 0;
    return e;
}

static enum err read_copied(struct step *step, struct db *db)
{
    CURSOR c;
    const enum err e = db_one(db, SQL(setting_get, .name = STR(COPIED)), &c);
    step->copied = !e;
    return e == ERR_NOT_FOUND ? ERR_NONE : e;
}

static enum err read_schema(void *arg, struct db *db)
{
    struct step *step = arg;
    bool exists;
    step->have = 0;
    enum err e = schema_has(db, STR("schema_version"), &exists);
    if (!e && exists)
        e = migrate_read_version(&step->have, db);
    if (!e)
        e = schema_has(db, STR("moving"), &step->half);
    if (!e && step->have)
        e = read_copied(step, db);
    return !e && step->have > migrate_newest() ? read_oldest(step, db) : e;
}

enum err store_fits(struct db *db, int *ret_version, bool *ret_fits)
{
    struct step step = {0};
    const int want = migrate_newest();
    enum err e = migrate_read_version(&step.have, db);
    if (!e && step.have > want)
        e = read_oldest(&step, db);
    if (e)
        return e;
    *ret_version = step.have;
    *ret_fits = step.have == want || (step.have > want && step.oldest <= want);
    return ERR_NONE;
}

/* Replaces the {words} of a migration by the engine's. */
static void translate(const struct engine *engine, const char *text, struct buf *out)
{
    const struct {
        struct str name;
        const char *word, *close; /* with a second part, the text up to the brace goes between the two */
    } words[] = {{STR("{int}"), engine->word_int, NULL},
                 {STR("{blob}"), engine->word_blob, NULL},
                 {STR("{clustered}"), engine->word_clustered, NULL},
                 {STR("{desc}"), engine->word_desc, NULL},
                 {STR("{bytes "), engine->word_bytes[0], engine->word_bytes[1]},
                 {STR("{hash "), engine->word_hash[0], engine->word_hash[1]},
                 {STR("{sqlite"), engine->word_sqlite[0], engine->word_sqlite[1]},
                 {STR("{postgresql"), engine->word_postgresql[0], engine->word_postgresql[1]}};
    while (*text) {
        size_t plain = strcspn(text, "{");
        buf_put(out, text, plain);
        text += plain;
        size_t i = 0;
        while (*text && i < sizeof words / sizeof *words && strncmp(text, words[i].name.p, words[i].name.n) != 0)
            i++;
        if (*text && i < sizeof words / sizeof *words) {
            buf_str(out, str_z(words[i].word));
            text += words[i].name.n;
            const size_t inner = words[i].close ? strcspn(text, "}") : 0;
            buf_put(out, text, inner);
            buf_str(out, str_z(words[i].close ? words[i].close : ""));
            text += inner + (words[i].close && text[inner]);
        } else if (*text) {
            buf_char(out, *text++);
        }
    }
    buf_char(out, '\0');
}

static enum err take_lock(struct step *step, struct db *db)
{
    CURSOR c;
    enum err e = db_one(db, SQL(schema_lock), &c);
    if (!e)
        step->busy = !row_schema_lock(&c, NULL).taken;
    return e;
}

static enum err run_script(struct step *step, struct db *db)
{
    struct buf sql = BUF(MIGRATION_MAX);
    translate(step->store->engine, sql_migrations[step->from], &sql);
    enum err e = sql.full ? ERR_INTERNAL_ERROR : db->engine->script(db, sql.p);
    buf_done(&sql);
    return e;
}

static enum err note_version(struct db *db, int version)
{
    enum err e = db_exec(db, SQL(schema_advance, .version = version), NULL);
    if (e || version < ADMITS_FROM)
        return e;
    return db_exec(db, SQL(schema_admit, .version = version, .oldest = sql_migration_oldest[version - 1]), NULL);
}

static enum err advance(void *arg, struct db *db)
{
    struct step *step = arg;
    step->have = step->from;
    enum err e = take_lock(step, db);
    if (e || step->busy)
        return e;
    e = db_exec(db, SQL(schema_create), NULL);
    if (!e)
        e = migrate_read_version(&step->have, db);
    if (e || step->have != step->from)
        return e; /* another process has migrated */
    store_note_answer("the schema is being migrated");
    e = run_script(step, db);
    if (!e)
        e = note_version(db, ++step->have);
    if (!e && step->have == migrate_newest())
        e = db_exec(db, SQL(setting_delete, .name = STR(COPIED)), NULL);
    store_note_answer(NULL);
    return e;
}

/* A database that went away may come back; all else needs the operator. */
static enum err migration_error(enum err e)
{
    return e == ERR_SERVICE_UNAVAILABLE ? e : ERR_USAGE;
}

static enum err advance_to(struct step *step, int want, char **ret_why)
{
    int64_t busy_until_us = 0;
    while (step->have < want) {
        step->from = step->have;
        enum err e = step->store->engine->migrate(step->store, advance, step);
        if (e)
            return err_why(ret_why, migration_error(e), "migration %d failed (see the log)", step->from + 1);
        const int64_t now_us = clock_monotonic_us();
        if (!step->busy || !busy_until_us)
            busy_until_us = now_us + BUSY_MAX_US;
        else if (now_us > busy_until_us)
            return err_why(ret_why, ERR_USAGE, "another process has been busy with migration %d for too long",
                           step->from + 1);
        store_note_wait(step->busy ? "another process migrates the schema" : NULL);
        if (step->busy)
            sleep_for_us(BUSY_US);
    }
    return ERR_NONE;
}

enum err migrate_to(struct store *s, int want, char **ret_why)
{
    struct step step = {.store = s};
    enum err e = s->engine->transact(s, STORE_READ, read_schema, &step);
    return e ? e : advance_to(&step, want, ret_why);
}

/* ---- a copy ---- */

static enum err note_copy(void *arg, struct db *db)
{
    (void)arg;
    return db_exec(db, SQL(setting_put, .name = STR(COPIED), .value = STR("")), NULL);
}

/* Where migrations go on that failed half-way, the copy of before them stays. */
static enum err copy_once(struct store *s, const struct step *step, char **ret_why)
{
    if (step->copied)
        return ERR_NONE;
    enum err e = s->engine->keep(s, ret_why);
    if (e)
        return e;
    e = s->engine->transact(s, STORE_WRITE, note_copy, NULL);
    return e ? err_why(ret_why, migration_error(e), "the store cannot be written (see the log)") : ERR_NONE;
}

/* ---- running services ---- */

static enum err count_users(void *arg, struct db *db)
{
    struct step *step = arg;
    bool exists;
    step->users = 0;
    enum err e = schema_has(db, STR("node"), &exists);
    if (e || !exists)
        return e;
    CURSOR c;
    e = db_one(db, SQL(schema_users, .needed = step->needed), &c);
    if (!e)
        step->users = (int)row_schema_users(&c, NULL).services;
    return e;
}

/* Waits until services that have crashed no longer count as running. */
static enum err wait_for_users(struct step *step, char **ret_why)
{
    const int64_t until_us = clock_monotonic_us() + USERS_US;
    for (;;) {
        enum err e = step->store->engine->transact(step->store, STORE_READ, count_users, step);
        if (e || step->users == 0)
            return e ? err_why(ret_why, migration_error(e), "the table of nodes cannot be read (see the log)")
                     : ERR_NONE;
        if (clock_monotonic_us() > until_us)
            return err_why(ret_why, ERR_USAGE,
                           "the database's schema is version %d, this program needs %d, and %d running services of an "
                           "earlier program use it (porterod admin node list): stop them%s",
                           step->have, migrate_newest(), step->users,
                           step->needed == migrate_newest() ? ", or run porterod migrate" : "");
        store_note_wait("services of an earlier program are running");
        sleep_for_us(BUSY_US);
    }
}

static enum err refuse_older(const struct step *step, char **ret_why)
{
    return err_why(ret_why, ERR_USAGE,
                   "the database's schema is version %d, this program needs %d: migrate it with porterod migrate",
                   step->have, migrate_newest());
}

/* `e`: the result of read_schema. */
static enum err refuse_newer(const struct step *step, enum err e, char **ret_why)
{
    const int want = migrate_newest();
    if (e)
        return err_why(ret_why, migration_error(e), "the database's schema version cannot be read (see the log)");
    if (step->have > want && step->oldest > want)
        return err_why(ret_why, ERR_USAGE,
                       "the database's schema is version %d, for programs from %d on; this program knows only %d: "
                       "install a newer one",
                       step->have, step->oldest, want);
    return ERR_NONE;
}

enum err migrate_admits(struct store *s, enum store_schema schema, char **ret_why)
{
    struct step step = {.store = s};
    enum err e = refuse_newer(&step, engine_look(s, read_schema, &step), ret_why);
    if (e || step.have >= migrate_newest())
        return e;
    if (schema == STORE_AS_IS)
        return refuse_older(&step, ret_why);
    return schema == STORE_MIGRATE_KEPT && s->engine->room ? s->engine->room(s, ret_why) : ERR_NONE;
}

enum err migrate_store(struct store *s, enum store_schema schema, char **ret_why)
{
    struct step step = {.store = s};
    const int want = migrate_newest();
    enum err e = refuse_newer(&step, s->engine->transact(s, STORE_READ, read_schema, &step), ret_why);
    if (!e && step.half && schema != STORE_MIGRATE)
        e = err_why(ret_why, ERR_USAGE,
                    "the database has half of a SQLite store: run the same porterod migrate --from again");
    if (e)
        return e;
    const bool outdated = step.have < want;
    if (outdated && schema == STORE_AS_IS)
        return refuse_older(&step, ret_why);
    step.needed = schema == STORE_MIGRATE_ALONE ? want : sql_migration_oldest[want - 1];
    if (outdated && !s->engine->exclusive)
        e = wait_for_users(&step, ret_why);
    if (!e && outdated && step.have > 0 && schema == STORE_MIGRATE_KEPT && s->engine->keep)
        e = copy_once(s, &step, ret_why);
    if (!e)
        e = advance_to(&step, want, ret_why);
    store_note_wait("the database is being compacted");
    if (!e && outdated && s->engine->compact)
        s->engine->compact(s);
    store_note_wait(NULL);
    return e;
}
