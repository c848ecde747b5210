/* Statements that control transactions, and the effect of a failed statement on its transaction. */
#include <stdio.h>

#include "base/metric.h"
#include "store/postgresql.h"

static const char *const control_sql[PG_CONTROL_COUNT] = {
    [PG_BEGIN_READ] = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    [PG_BEGIN_WRITE] = "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE",
    [PG_BEGIN_PLAIN] = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
    [PG_COMMIT] = "COMMIT",
    [PG_ROLLBACK] = "ROLLBACK",
};

/* The settings of each connection. No wait in the server is without an end: it ends slow statements, long waits for
 * locks, transactions of a service that was frozen or cut off, and the statements of one that has closed its
 * connection. Settings of the connection string (options), the role and the database take
 * precedence. A server setting that acknowledges a commit before it is on disk does not.
 *
 * client_min_messages: COMMIT must be able to warn, see postgresql_transaction.c.
 *
 * random_page_cost: the default, 4, fits a rotating disk. With it the planner prefers a bitmap and a sort of all
 * grants of a building to the first rows of an index (test/unit/store/spread_test.c). */
static const char settings_sql[] =
    "SELECT set_config(name, wanted.value, false)"
    " FROM (VALUES ('statement_timeout', $1), ('lock_timeout', $2), ('idle_in_transaction_session_timeout', $3),"
    " ('tcp_keepalives_idle', '5'), ('tcp_keepalives_interval', '2'), ('tcp_keepalives_count', '3'),"
    " ('tcp_user_timeout', '10000'), ('client_connection_check_interval', '2000'), ('random_page_cost', '1.1'))"
    " AS wanted (name, value)"
    " JOIN pg_catalog.pg_settings USING (name)"
    " WHERE source NOT IN ('client', 'user', 'database', 'database user')"
    " AND (name <> 'random_page_cost' OR source = 'default')"
    " AND (name <> 'client_connection_check_interval' OR version() LIKE '%linux%')"
    " UNION ALL SELECT set_config('client_min_messages', 'warning', false)"
    " UNION ALL SELECT set_config('synchronous_commit', 'local', false)"
    " WHERE current_setting('synchronous_commit') = 'off'";

/* The first attempt of a transaction waits only for a moment for a lock, see postgresql_queue.c. */
#define LOCK_MOMENT "250"

void postgresql_note_reason(struct postgresql_db *db, const char *reason)
{
    const size_t n = strlen(reason);
    snprintf(db->why, sizeof db->why, "%.*s", (int)(n > 0 && reason[n - 1] == '\n' ? n - 1 : n), reason);
    for (char *p = db->why; (p = strpbrk(p, "\n\t"));)
        *p = ' ';
}

/* Keeps the reason without the server's details, which may quote values. */
static void note_failure(struct postgresql_db *db, const PGresult *r)
{
    const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    const char *constraint = PQresultErrorField(r, PG_DIAG_CONSTRAINT_NAME);
    const char *message = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
    bool quotes = state && strncmp(state, "22", 2) == 0; /* data exceptions quote the datum */
    if (state)
        snprintf(db->why, sizeof db->why, "%s %s %s", state, constraint ? constraint : "",
                 message && !quotes ? message : "");
    else
        postgresql_note_reason(db, db->late ? "the server did not answer in time" : PQerrorMessage(db->conn));
}

bool postgresql_settings(struct postgresql_db *db)
{
    const struct postgresql_store *s = db->store;
    const char *const values[] = {s->statement_timeout, LOCK_MOMENT, s->idle_timeout};
    const char *const off[] = {"0", "0", "60000"};
    PGresult *r = postgresql_only_result(
        db, PQsendQueryParams(db->conn, settings_sql, 3, NULL, db->unlimited ? off : values, NULL, NULL, 0));
    bool good = PQresultStatus(r) == PGRES_TUPLES_OK;
    if (!good)
        note_failure(db, r);
    PQclear(r);
    return good;
}

/* ---- failures ---- */

/* A program that is too old for the schema: a newer one, perhaps on another node, will answer. */
#define NO_FIT "the schema does not fit this program"

enum verdict {
    VERDICT_LOST_RACE = 1, /* run again */
    VERDICT_BLOCKED,       /* run again, with few others */
    VERDICT_RECONNECT,     /* run again on a new connection */
    VERDICT_UNAVAILABLE    /* not again: it would take as long again, or fail again */
};

/* SQLSTATEs, or their classes (the first row that fits counts), and the verdict; all others are errors. With a reason,
 * the store counts as one that cannot be written, if a write met it: see store_failing(). */
static const struct {
    char state[6];
    enum verdict verdict;
    const char *reason;
} verdicts[] = {
    {"40001", VERDICT_LOST_RACE, NULL},   /* serialization_failure */
    {"40P01", VERDICT_LOST_RACE, NULL},   /* deadlock_detected */
    {"23505", VERDICT_LOST_RACE, NULL},   /* unique_violation: the body did not find the row of another transaction */
    {"23P01", VERDICT_LOST_RACE, NULL},   /* exclusion_violation */
    {"53200", VERDICT_LOST_RACE, NULL},   /* out_of_memory: too many predicate locks at once */
    {"72000", VERDICT_LOST_RACE, NULL},   /* snapshot_too_old */
    {"55P03", VERDICT_BLOCKED, NULL},     /* lock_not_available: lock_timeout */
    {"57014", VERDICT_UNAVAILABLE, NULL}, /* query_canceled: statement_timeout */
    {"08", VERDICT_RECONNECT, NULL},      /* connection exceptions */
    {"25P03", VERDICT_RECONNECT, NULL},   /* idle_in_transaction_session_timeout */
    {"53300", VERDICT_RECONNECT, NULL},   /* too_many_connections */
    {"25006", VERDICT_RECONNECT, POSTGRESQL_READ_ONLY}, /* read_only_sql_transaction: the server was demoted */
    {"53100", VERDICT_UNAVAILABLE, "the disk of the database server is full"}, /* disk_full */
    {"53", VERDICT_UNAVAILABLE, "the database server lacks resources"},        /* insufficient_resources */
    {"58", VERDICT_UNAVAILABLE, "the disk of the database server fails"}, /* system_error, io_error, undefined_file */
    {"42501", VERDICT_UNAVAILABLE, "the database server denies access"},  /* insufficient_privilege; EROFS, too */
    {"42703", VERDICT_UNAVAILABLE, NO_FIT},                               /* undefined_column */
    {"42804", VERDICT_UNAVAILABLE, NO_FIT},                               /* datatype_mismatch */
    {"42883", VERDICT_UNAVAILABLE, NO_FIT},                               /* undefined_function: of such types */
    {"57P01", VERDICT_RECONNECT, NULL},                                   /* admin_shutdown */
    {"57P02", VERDICT_RECONNECT, NULL},                                   /* crash_shutdown */
    {"57P03", VERDICT_RECONNECT, NULL},                                   /* cannot_connect_now */
    {"57P05", VERDICT_RECONNECT, NULL},                                   /* idle_session_timeout */
    {"26000", VERDICT_RECONNECT, NULL}, /* invalid_sql_statement_name: the prepared statements are gone */
    {"42P05", VERDICT_RECONNECT, NULL}, /* duplicate_prepared_statement: its preparation was ended half-way before */
    {"0A000", VERDICT_RECONNECT, NULL}, /* feature_not_supported: a prepared plan no longer fits the schema */
};

static enum verdict verdict_of(const struct postgresql_db *db, const char *state, const char **ret_reason)
{
    if (state && strcmp(state, "25006") == 0 && db->mode == STORE_READ)
        return 0; /* a read body that writes: our own bug */
    for (size_t i = 0; state && i < sizeof verdicts / sizeof *verdicts; i++)
        if (strncmp(state, verdicts[i].state, strlen(verdicts[i].state)) == 0) {
            *ret_reason = db->mode == STORE_WRITE ? verdicts[i].reason : NULL;
            return verdicts[i].verdict;
        }
    return 0;
}

static void count_retry(const char *state)
{
    unsigned i = METRIC_SQLSTATE_VALUES;
    while (state && --i > METRIC_SQLSTATE_LOST && strcmp(metric_values_SQLSTATE[i], state) != 0)
        ;
    metric_add(&metrics.store_retries[!state                     ? METRIC_SQLSTATE_LOST
                                      : i > METRIC_SQLSTATE_LOST ? i
                                                                 : METRIC_SQLSTATE_OTHER],
               1);
}

enum err postgresql_failed(struct postgresql_db *db, const char *what, const PGresult *r)
{
    const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    const char *reason = NULL;
    enum verdict verdict = verdict_of(db, state, &reason);
    snprintf(db->state, sizeof db->state, "%s", state ? state : "");
    note_failure(db, r);
    if (reason)
        store_note_failure(&db->store->base, reason, what, db->why);
    /* Without an SQLSTATE, libpq failed, not the server: it could not send. The connection may still count as good,
     * because a server that was stopping has left an unread warning. */
    if (!state || PQstatus(db->conn) != CONNECTION_OK || verdict == VERDICT_RECONNECT)
        db->broken = true;
    db->blocked = !db->broken && verdict == VERDICT_BLOCKED;
    if (db->broken || verdict == VERDICT_LOST_RACE || verdict == VERDICT_BLOCKED) {
        count_retry(state);
        return db->base.failed = ERR_RETRY;
    }
    if (!reason)
        store_log_error(what, 0, db->why);
    return db->base.failed = verdict == VERDICT_UNAVAILABLE ? ERR_SERVICE_UNAVAILABLE : ERR_INTERNAL_ERROR;
}

bool postgresql_send_control(struct postgresql_db *db, enum postgresql_control control)
{
    db->commits = control == PG_COMMIT;
    return PQsendQueryParams(db->conn, control_sql[control], 0, NULL, NULL, NULL, NULL, 0);
}

int postgresql_send_patience(struct postgresql_db *db)
{
    const char *const value = db->store->lock_timeout;
    return PQsendQueryParams(db->conn, "SELECT set_config('lock_timeout', $1, true)", 1, NULL, &value, NULL, NULL, 0);
}
