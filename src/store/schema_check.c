#include "store/schema_check.h"

#include "store/sqlite.h"

/* The first row that only one of two schemas has. ANALYZE makes the tables that are left out. */
#define SCHEMA_OF(database)                                                                                            \
    "SELECT type, name, tbl_name, sql FROM " database ".sqlite_schema WHERE type <> 'table' OR name NOT IN "           \
    "('sqlite_stat1', 'sqlite_stat4')"
#define ONLY_IN(one, other) "SELECT * FROM (" SCHEMA_OF(one) " EXCEPT " SCHEMA_OF(other) ")"

static const char difference_sql[] = "SELECT substr(printf('%s %s', type, name), 1, 100) FROM (" ONLY_IN(
    "found", "main") " UNION ALL " ONLY_IN("main", "found") ") LIMIT 1";

static const char version_sql[] = "SELECT max(version) FROM found.schema_version";

static int attach(sqlite3 *handle, const char *path)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(handle, "ATTACH $1 AS found", -1, &stmt, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(stmt, 1, path, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        (void)sqlite3_step(stmt);
    return sqlite3_finalize(stmt);
}

/* Runs SQL that returns at most one row of one column, and prepares *ret_stmt at it; NULL: no row. */
static int first_row(sqlite3 *handle, const char *sql, sqlite3_stmt **ret_stmt)
{
    int rc = sqlite3_prepare_v2(handle, sql, -1, ret_stmt, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(*ret_stmt);
    if (rc == SQLITE_ROW)
        return SQLITE_OK;
    sqlite3_finalize(*ret_stmt);
    *ret_stmt = NULL;
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static enum err read_version(sqlite3 *handle, int *ret_version)
{
    sqlite3_stmt *stmt = NULL;
    const int rc = first_row(handle, version_sql, &stmt);
    if (stmt)
        *ret_version = sqlite3_column_int(stmt, 0);
    sqlite3_finalize(stmt);
    return rc == SQLITE_OK && *ret_version > 0 ? ERR_NONE : ERR_IO;
}

static enum err find_version(sqlite3 *handle, void *ret_version, char **ret_why)
{
    const int newest = migrate_newest();
    int *version = ret_version;
    if (read_version(handle, version))
        return err_why(ret_why, ERR_IO, "no schema version: %s", sqlite3_errmsg(handle));
    if (*version > newest)
        return err_why(ret_why, ERR_USAGE,
                       "the schema is version %d, and this program knows only %d: use the program that made it",
                       *version, newest);
    return ERR_NONE;
}

static enum err find_difference(sqlite3 *handle, void *unused, char **ret_why)
{
    (void)unused;
    sqlite3_stmt *stmt = NULL;
    const int rc = first_row(handle, difference_sql, &stmt);
    enum err e = ERR_NONE;
    if (rc != SQLITE_OK)
        e = err_why(ret_why, ERR_IO, "the schema cannot be read: %s", sqlite3_errmsg(handle));
    else if (stmt)
        e = err_why(ret_why, ERR_IO, "the schema is not Portero's: %s", (const char *)sqlite3_column_text(stmt, 0));
    sqlite3_finalize(stmt);
    return e;
}

/* Runs a body while the file is attached. */
static enum err with_file(sqlite3 *handle, const char *path, enum err (*run)(sqlite3 *, void *, char **), void *arg,
                          char **ret_why)
{
    enum err e = attach(handle, path) == SQLITE_OK ? run(handle, arg, ret_why)
                                                   : err_why(ret_why, ERR_IO, "%s", sqlite3_errmsg(handle));
    (void)sqlite3_exec(handle, "DETACH found", NULL, NULL, NULL);
    return e;
}

/* The migrations run while the file is not attached: a name that they do not know yet must not be one of its. */
enum err schema_check(const char *path, char **ret_why)
{
    struct store *reference;
    int version = 0;
    if (sqlite_memory(&reference))
        return err_why(ret_why, ERR_IO, "no database in memory (see the log)");
    sqlite3 *handle = ((struct sqlite_store *)reference)->writer.db->handle;
    enum err e = with_file(handle, path, find_version, &version, ret_why);
    if (!e)
        e = migrate_to(reference, version, ret_why);
    if (!e)
        e = with_file(handle, path, find_difference, NULL, ret_why);
    reference->engine->close(reference);
    return e;
}
