/* Statements that control transactions, and the effect of a failed statement on its transaction. */
#include <stdio.h>

#include "store/postgresql.h"

static const char *const control_sql[PG_CONTROL_COUNT] = {
    [PG_BEGIN_READ] = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    [PG_BEGIN_WRITE] = "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE",
    [PG_BEGIN_PLAIN] = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
    [PG_COMMIT] = "COMMIT",
    [PG_ROLLBACK] = "ROLLBACK",
    [PG_LOCK_TIMEOUT] = "SET LOCAL lock_timeout = '2s'",
    /* Overrides a server setting that acknowledges a commit before it is on disk. */
    [PG_DURABLE] = ("SELECT CASE current_setting('synchronous_commit') WHEN 'off' "
                    "THEN set_config('synchronous_commit', 'local', false) END"),
};

/* ---- failures ---- */

enum verdict { VERDICT_LOST_RACE = 1, VERDICT_RECONNECT };

/* SQLSTATEs after which the transaction runs again; all others are errors. */
static const struct {
    char state[6];
    enum verdict verdict;
} verdicts[] = {
    {"40001", VERDICT_LOST_RACE}, /* serialization_failure */
    {"40P01", VERDICT_LOST_RACE}, /* deadlock_detected */
    {"23505",
     VERDICT_LOST_RACE}, /* unique_violation: another transaction inserted the row that the body did not find */
    {"23P01", VERDICT_LOST_RACE}, /* exclusion_violation */
    {"25006", VERDICT_RECONNECT}, /* read_only_sql_transaction: the server was demoted */
    {"57P01", VERDICT_RECONNECT}, /* admin_shutdown */
    {"57P02", VERDICT_RECONNECT}, /* crash_shutdown */
    {"57P03", VERDICT_RECONNECT}, /* cannot_connect_now */
    {"26000", VERDICT_RECONNECT}, /* invalid_sql_statement_name: the prepared statements are gone */
    {"0A000", VERDICT_RECONNECT}, /* feature_not_supported: a prepared plan no longer fits the schema */
};

static enum verdict verdict_of(const struct postgresql_db *db, const char *state)
{
    if (state && strcmp(state, "25006") == 0 && db->mode == STORE_READ)
        return 0; /* a read body that writes: our own bug */
    for (size_t i = 0; state && i < sizeof verdicts / sizeof *verdicts; i++)
        if (strcmp(state, verdicts[i].state) == 0)
            return verdicts[i].verdict;
    return 0;
}

/* Logs the reason without the server's details, which may quote values. */
static void log_failure(const char *what, const PGresult *r)
{
    char reason[160];
    const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    const char *constraint = PQresultErrorField(r, PG_DIAG_CONSTRAINT_NAME);
    const char *message = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
    bool quotes = state && strncmp(state, "22", 2) == 0; /* data exceptions quote the datum */
    snprintf(reason, sizeof reason, "%s %s %s", state ? state : "-", constraint ? constraint : "",
             message && !quotes ? message : "");
    store_log_error(what, 0, reason);
}

enum err postgresql_failed(struct postgresql_db *db, const char *what, const PGresult *r)
{
    const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    enum verdict verdict = verdict_of(db, state);
    snprintf(db->state, sizeof db->state, "%s", state ? state : "");
    /* Without an SQLSTATE, libpq failed, not the server: it could not send. The connection may still count as good,
     * because a server that was stopping has left an unread warning. */
    if (!state || PQstatus(db->conn) != CONNECTION_OK || verdict == VERDICT_RECONNECT)
        db->broken = true;
    if (db->broken || verdict == VERDICT_LOST_RACE) {
        db->base.failed = ERR_RETRY;
    } else {
        log_failure(what, r);
        db->base.failed = ERR_INTERNAL_ERROR;
    }
    return db->base.failed;
}

PGresult *postgresql_control(struct postgresql_db *db, enum postgresql_control control)
{
    return postgresql_only_result(db, PQsendQuery(db->conn, control_sql[control]));
}

bool postgresql_send_control(struct postgresql_db *db, enum postgresql_control control)
{
    return PQsendQueryParams(db->conn, control_sql[control], 0, NULL, NULL, NULL, NULL, 0);
}
