/* Connecting, and reconnecting after an outage. */
#include "base/clock.h"
#include "base/crypto.h"
#include "base/wait.h"
#include "store/postgresql.h"

#define OUTAGE_US       (10 * US_PER_S) /* tasks wait this long for a lost server; after that they fail at once */
#define SETTINGS_US     (5 * US_PER_S)  /* for the settings of a new connection */
#define RETRY_US        100000
#define RETRY_JITTER_US 150000

static void ignore_notice(void *arg, const PGresult *r)
{
    (void)arg;
    (void)r;
}

bool postgresql_connect(struct postgresql_db *db)
{
    /* Parameters before the connection string (dbname) are defaults, those after it cannot be changed by it. */
    static const char *const names[] = {
        "connect_timeout",  "target_session_attrs", "tcp_user_timeout", "keepalives_idle", "keepalives_interval",
        "keepalives_count", "application_name",     "dbname",           "client_encoding", NULL};
    const char *const values[] = {"5", "read-write", "10000", "10", "5", "3", "portero", db->store->dsn, "UTF8", NULL};
    PQfinish(db->conn);
    db->conn = PQconnectdbParams(names, values, 1);
    for (int i = 0; i < SQL_COUNT; i++)
        db->statements[i].prepared = false;
    db->begun = db->late = false;
    db->broken = true;
    if (PQstatus(db->conn) != CONNECTION_OK || PQsetnonblocking(db->conn, 1) != 0)
        return false;
    PQsetNoticeReceiver(db->conn, ignore_notice, NULL);
    db->until_us = clock_monotonic_us() + SETTINGS_US;
    PGresult *r = postgresql_control(db, PG_DURABLE);
    db->broken = PQresultStatus(r) != PGRES_TUPLES_OK;
    PQclear(r);
    return !db->broken;
}

void postgresql_disconnect(struct postgresql_db *db)
{
    PQfinish(db->conn);
    db->conn = NULL;
}

bool postgresql_stopping(struct postgresql_store *s)
{
    pthread_mutex_lock(&s->mutex);
    bool stop = s->stop;
    pthread_mutex_unlock(&s->mutex);
    return stop;
}

/* After a failed attempt: sleeps until the next one, or returns false if the outage has lasted too long. */
static bool wait_for_retry(struct postgresql_db *db)
{
    int64_t now = clock_monotonic_us();
    if (!db->down_since_us) {
        db->down_since_us = now;
        store_log_error("connection to PostgreSQL", 0, PQerrorMessage(db->conn));
    }
    db->retry_at_us = now + RETRY_US + crypto_uniform(RETRY_JITTER_US);
    if (now - db->down_since_us > OUTAGE_US || postgresql_stopping(db->store))
        return false;
    sleep_for_us(db->retry_at_us - now);
    return true;
}

bool postgresql_connected(struct postgresql_db *db)
{
    if (!db->broken && PQstatus(db->conn) == CONNECTION_OK)
        return true;
    /* In a long outage, connect only now and then. */
    if (db->down_since_us && clock_monotonic_us() < db->retry_at_us)
        return false;
    do {
        if (postgresql_connect(db)) {
            db->down_since_us = 0;
            return true;
        }
    } while (wait_for_retry(db));
    return false;
}
