/* The limit of durable grant creation: a bare SQLite program that commits the rows of POST /v1/unlock, N in a commit,
 * with the settings of the store and checkpoints between commits. usage: bench_commit DATA_DIR ROWS_A_COMMIT SECONDS
 * prints "rate N" */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/id.h"
#include "store/sql_table.h"

static void must(sqlite3 *db, int rc)
{
    if (rc == SQLITE_OK || rc == SQLITE_DONE || rc == SQLITE_ROW)
        return;
    fprintf(stderr, "bench_commit: %s\n", sqlite3_errmsg(db));
    exit(1);
}

static sqlite3 *open_store(const char *dir)
{
    char path[4096];
    sqlite3 *db;
    snprintf(path, sizeof path, "%s/portero.db", dir);
    must(NULL, sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL));
    must(db, sqlite3_busy_timeout(db, 10000)); /* the idle service may run a checkpoint */
    must(db, sqlite3_exec(db,
                          "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA mmap_size=2147418112;"
                          "PRAGMA cache_size=-65536; PRAGMA wal_autocheckpoint=4000;",
                          NULL, NULL, NULL));
    return db;
}

/* The parameters of grant_insert, by name: SQLite numbers $N by first appearance. */
static int at(sqlite3_stmt *insert, const char *name)
{
    const struct sql_statement *s = &sql_table[SQL_GRANT_INSERT];
    char number[16] = "";
    for (int i = 0; i < s->param_count; i++)
        if (strcmp(s->params[i].name, name) == 0)
            snprintf(number, sizeof number, "$%d", i + 1);
    return sqlite3_bind_parameter_index(insert, number);
}

static void insert_one(sqlite3 *db, sqlite3_stmt *insert, int64_t run, int64_t number)
{
    char building[ID_LEN + 1], request[64];
    unsigned char hash[SHA256_LEN];
    int64_t now = clock_now_us();
    struct id id = id_new(now);
    struct id_bytes bytes = id_to_bytes(&id);
    snprintf(building, sizeof building, "b%023llx", (long long)(number % 10000));
    int n = snprintf(request, sizeof request, "bench-%016llx-%012lld", (long long)run, (long long)number);
    crypto_sha256(str_n(request, (size_t)n), hash);
    sqlite3_bind_text(insert, at(insert, "building_id"), building, ID_LEN, SQLITE_STATIC);
    sqlite3_bind_blob(insert, at(insert, "id"), bytes.p, sizeof bytes.p, SQLITE_STATIC);
    sqlite3_bind_int64(insert, at(insert, "type"), 0);
    sqlite3_bind_text(insert, at(insert, "label"), "Parcel", 6, SQLITE_STATIC);
    sqlite3_bind_int64(insert, at(insert, "enabled"), 1);
    sqlite3_bind_int64(insert, at(insert, "created_at"), now);
    sqlite3_bind_int64(insert, at(insert, "starts_at"), now);
    sqlite3_bind_int64(insert, at(insert, "ends_at"), now + 3600 * US_PER_S);
    sqlite3_bind_int64(insert, at(insert, "remaining_uses"), 3);
    sqlite3_bind_int64(insert, at(insert, "voice"), 0);
    sqlite3_bind_text(insert, at(insert, "request_id"), request, n, SQLITE_STATIC);
    sqlite3_bind_int64(insert, at(insert, "request_key"), crypto_hash64(str_n(request, (size_t)n)));
    sqlite3_bind_blob(insert, at(insert, "request_hash"), hash, 16, SQLITE_STATIC);
    must(db, sqlite3_step(insert));
    sqlite3_reset(insert);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: bench_commit DATA_DIR ROWS_A_COMMIT SECONDS\n");
        return 2;
    }
    sqlite3 *db = open_store(argv[1]);
    sqlite3_stmt *insert;
    must(db, sqlite3_prepare_v2(db, sql_table[SQL_GRANT_INSERT].sqlite, -1, &insert, NULL));
    int rows = atoi(argv[2]);
    int64_t number = 0, began = clock_monotonic_us(), until = began + atoi(argv[3]) * US_PER_S;
    while (clock_monotonic_us() < until) {
        must(db, sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL));
        for (int i = 0; i < rows; i++)
            insert_one(db, insert, began, number++);
        must(db, sqlite3_exec(db, "COMMIT", NULL, NULL, NULL));
    }
    printf("rate %lld\n", (long long)(number * US_PER_S / (clock_monotonic_us() - began)));
    sqlite3_finalize(insert);
    sqlite3_close(db);
    return 0;
}
