/* Migrations of the schema. */
#include <stdlib.h>

#include "base/buf.h"
#include "store/engine.h"

#define MIGRATION_MAX (1 << 20)
#define ADMITS_FROM   21 /* the first schema that says which programs may use it; as in scripts/sqlgen.awk */

struct step {
    struct store *store;
    int from, have;
    int oldest; /* the oldest program that may use the schema; read only for a newer one than this program knows */
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
    enum err e = db_one(db, SQL_SCHEMA_VERSION, DB_NO_ARGS, &c);
    if (!e)
        *version = (int)col_int(&c, COL_SCHEMA_VERSION_VERSION);
    return e;
}

static enum err read_oldest(struct step *step, struct db *db)
{
    CURSOR c;
    enum err e = db_one(db, SQL_SCHEMA_OLDEST, DB_NO_ARGS, &c);
    if (!e)
        step->oldest = (int)col_int(&c, COL_SCHEMA_OLDEST_OLDEST);
    return e;
}

static enum err read_schema(void *arg, struct db *db)
{
    struct step *step = arg;
    enum err e = db_exec(db, SQL_SCHEMA_CREATE, DB_NO_ARGS, NULL);
    if (!e)
        e = migrate_read_version(&step->have, db);
    return !e && step->have > migrate_newest() ? read_oldest(step, db) : e;
}

/* Replaces the {words} of a migration by those of the engine. */
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
                 {STR("{hash "), engine->word_hash[0], engine->word_hash[1]}};
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

static enum err advance(void *arg, struct db *db)
{
    struct step *step = arg;
    enum err e = migrate_read_version(&step->have, db);
    if (e || step->have != step->from)
        return e; /* another node has migrated */
    struct buf sql = BUF(MIGRATION_MAX);
    translate(step->store->engine, sql_migrations[step->from], &sql);
    e = sql.full ? ERR_INTERNAL_ERROR : db->engine->script(db, sql.p);
    buf_done(&sql);
    if (e)
        return e;
    step->have = step->from + 1;
    e = db_exec(db, SQL_SCHEMA_ADVANCE, DB_ARGS(v_int(step->have)), NULL);
    if (e || step->have < ADMITS_FROM)
        return e;
    const int oldest = sql_migration_oldest[step->from];
    return db_exec(db, SQL_SCHEMA_ADMIT, DB_ARGS(v_int(step->have), v_int(oldest)), NULL);
}

static enum err advance_to(struct step *step, int want, char **ret_why)
{
    while (step->have < want) {
        step->from = step->have;
        enum err e = step->store->engine->transact(step->store, STORE_WRITE, advance, step);
        if (e)
            return err_why(ret_why, ERR_USAGE, "migration %d failed (see the log)", step->from + 1);
    }
    return ERR_NONE;
}

enum err migrate_to(struct store *s, int want, char **ret_why)
{
    struct step step = {.store = s};
    enum err e = s->engine->transact(s, STORE_WRITE, read_schema, &step);
    return e ? e : advance_to(&step, want, ret_why);
}

enum err migrate_store(struct store *s, bool wanted, char **ret_why)
{
    struct step step = {.store = s};
    const int want = migrate_newest();
    enum err e = s->engine->transact(s, STORE_WRITE, read_schema, &step);
    if (e)
        return err_why(ret_why, ERR_USAGE, "the database's schema version cannot be read (see the log)");
    if (step.have > want && step.oldest > want)
        return err_why(ret_why, ERR_USAGE,
                       "the database's schema is version %d, for programs from %d on; this program knows only %d: "
                       "install a newer one",
                       step.have, step.oldest, want);
    if (step.have < want && !wanted)
        return err_why(ret_why, ERR_USAGE, "the database's schema is version %d, this program needs %d: migrate it",
                       step.have, want);
    const bool outdated = step.have < want;
    e = advance_to(&step, want, ret_why);
    if (!e && outdated && s->engine->compact)
        s->engine->compact(s);
    return e;
}
