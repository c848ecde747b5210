/* Connections to the SQLite database. */
#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "store/sqlite.h"

static const char connection_pragmas[] = "PRAGMA journal_mode=WAL;"
                                         "PRAGMA synchronous=FULL;"
                                         "PRAGMA wal_autocheckpoint=0;"
                                         "PRAGMA journal_size_limit=67108864;"
                                         "PRAGMA mmap_size=2147418112;"
                                         "PRAGMA cache_size=-65536;"
                                         "PRAGMA secure_delete=ON;"
                                         "PRAGMA foreign_keys=ON;";

int sqlite_distrust(sqlite3 *handle)
{
    int rc = sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return rc == SQLITE_OK ? sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL) : rc;
}

enum err sqlite_connect(struct sqlite_store *s, bool reads_only, struct sqlite_db **ret)
{
    struct sqlite_db *db = mem_new(struct sqlite_db);
    db->base.engine = s->base.engine;
    db->store = s;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE;
    int rc = sqlite3_open_v2(s->path, &db->handle, flags, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite_distrust(db->handle);
    if (rc == SQLITE_OK)
        rc = sqlite3_busy_timeout(db->handle, SQLITE_BUSY_MS);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db->handle, connection_pragmas, NULL, NULL, NULL);
    if (rc == SQLITE_OK && s->looks)
        rc = sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    if (rc == SQLITE_OK && reads_only)
        rc = sqlite3_exec(db->handle, "PRAGMA query_only=ON", NULL, NULL, NULL);
    if (rc != SQLITE_OK) {
        sqlite_log_error(db, "open of the database");
        sqlite_disconnect(db);
        return ERR_IO;
    }
    *ret = db;
    return ERR_NONE;
}

void sqlite_disconnect(struct sqlite_db *db)
{
    sqlite_finalize_all(db);
    int rc = sqlite3_close(db->handle);
    assert(rc == SQLITE_OK && "a statement outlived its connection");
    (void)rc;
    free(db);
}
