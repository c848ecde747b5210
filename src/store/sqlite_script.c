/* Migrations on a SQLite connection: the SQL functions that they use, and compaction afterwards. */
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/id.h"
#include "base/mem.h"
#include "store/sqlite.h"

#define COMPACT_PAGES 256 /* rewriting the file for fewer free pages is not worthwhile */

static struct str value_text(sqlite3_value *v)
{
    const unsigned char *p = sqlite3_value_text(v);
    return (struct str){(const char *)p, p ? (size_t)sqlite3_value_bytes(v) : 0};
}

/* portero_bytes(ID): the 12 bytes of an ID, NULL for an invalid one. */
static void portero_bytes(sqlite3_context *context, int n, sqlite3_value **args)
{
    struct id id;
    (void)n;
    if (!id_parse(value_text(args[0]), &id))
        return;
    const struct id_bytes bytes = id_to_bytes(&id);
    sqlite3_result_blob(context, bytes.p, sizeof bytes.p, SQLITE_TRANSIENT);
}

/* portero_hash(text): crypto_hash64, NULL for NULL. */
static void portero_hash(sqlite3_context *context, int n, sqlite3_value **args)
{
    const struct str text = value_text(args[0]);
    (void)n;
    if (text.p)
        sqlite3_result_int64(context, crypto_hash64(text));
}

static int define(struct sqlite_db *db, const char *name, void (*function)(sqlite3_context *, int, sqlite3_value **))
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    return sqlite3_create_function_v2(db->handle, name, 1, flags, NULL, function, NULL, NULL, NULL);
}

/* Does not overwrite dropped tables with zeros: that would take as much of the WAL, and of memory, as they have pages.
 * */
static int run_unwiped(struct sqlite_db *db, const char *sql)
{
    int rc = sqlite3_exec(db->handle, "PRAGMA secure_delete=OFF", NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
    int restored = sqlite3_exec(db->handle, "PRAGMA secure_delete=ON", NULL, NULL, NULL);
    return rc == SQLITE_OK ? restored : rc;
}

enum err sqlite_script(struct db *base, const char *sql)
{
    struct sqlite_db *db = (struct sqlite_db *)base;
    int rc = define(db, "portero_bytes", portero_bytes);
    if (rc == SQLITE_OK)
        rc = define(db, "portero_hash", portero_hash);
    if (rc == SQLITE_OK)
        rc = run_unwiped(db, sql);
    if (rc == SQLITE_OK)
        return ERR_NONE;
    return db->base.failed = sqlite_failed(db, "script");
}

/* ---- compaction ---- */

/* Returns -1 on failure. */
static int64_t query_number(struct sqlite_db *db, const char *sql)
{
    sqlite3_stmt *stmt;
    if (sqlite3_prepare_v2(db->handle, sql, -1, &stmt, NULL) != SQLITE_OK)
        return -1;
    const int64_t n = sqlite3_step(stmt) == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : -1;
    sqlite3_finalize(stmt);
    return n;
}

bool sqlite_has_no_table(struct sqlite_db *db)
{
    return query_number(db, "SELECT count(*) FROM sqlite_schema") == 0;
}

/* The temporary file is in the data directory: as private as the database, and on the same disk. */
static void rewrite(struct sqlite_store *s)
{
    char *path = mem_strdup(s->path);
    sqlite3_temp_directory = sqlite3_mprintf("%s", dirname(path));
    if (sqlite3_exec(s->writer.db->handle, "VACUUM", NULL, NULL, NULL) != SQLITE_OK)
        sqlite_log_error(s->writer.db, "vacuum");
    sqlite3_free(sqlite3_temp_directory);
    sqlite3_temp_directory = NULL;
    free(path);
}

void sqlite_compact(struct store *base)
{
    struct sqlite_store *s = (struct sqlite_store *)base;
    const int64_t free_pages = query_number(s->writer.db, "PRAGMA freelist_count");
    if (free_pages < COMPACT_PAGES || free_pages <= query_number(s->writer.db, "PRAGMA page_count") / 4)
        return;
    sqlite_checkpoint_final(s);
    rewrite(s);
    sqlite_checkpoint_final(s);
}
