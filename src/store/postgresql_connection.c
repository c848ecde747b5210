/* Connecting, and reconnecting after an outage. */
#include <stdio.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/log.h"
#include "base/wait.h"
#include "store/postgresql.h"

#define CONNECT_S       3
#define CONNECT_LONG_S  10
#define SILENT_US       1900000        /* libpq counts whole seconds; a refusal comes at once */
#define SETTINGS_US     (5 * US_PER_S) /* for the settings of a new connection */
#define RETRY_US        100000
#define RETRY_JITTER_US 150000
#define SHORT_AFTER_US  (3 * US_PER_S)
#define SHORT_ATTEMPTS  5
#define OWN_ATTEMPTS    50 /* 5 seconds */
#define OWN_ASKS_AFTER  10
#define SHORT_RETRY_US  (5 * US_PER_S)

static void take_notice(void *arg, const PGresult *r)
{
    struct postgresql_db *db = arg;
    const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    if (state && strcmp(state, "01000") == 0) /* warning */
        db->warned = true;
}

/* PQconnectdb blocks, but ends: after connect_timeout for each host. It tries the next host then, as PQconnectPoll does
 * not. */
static PGconn *connect_to(const struct postgresql_db *db, const struct postgresql_servers *s, int timeout_s)
{
    char timeout[12];
    snprintf(timeout, sizeof timeout, "%d", timeout_s);
    /* Parameters before the connection string (dbname) are defaults, those after it cannot be changed by it. */
    const char *const parameters[][2] = {{"connect_timeout", timeout},    {"target_session_attrs", "read-write"},
                                         {"tcp_user_timeout", "10000"},   {"keepalives_idle", "10"},
                                         {"keepalives_interval", "5"},    {"keepalives_count", "3"},
                                         {"application_name", "portero"}, {"dbname", db->store->dsn},
                                         {"client_encoding", "UTF8"},     {"host", s->host},
                                         {"hostaddr", s->address},        {"port", s->port}};
    enum { PARAMETERS = sizeof parameters / sizeof *parameters };
    const char *names[PARAMETERS + 1] = {0}, *values[PARAMETERS + 1] = {0};
    for (int i = 0; i < PARAMETERS; i++) {
        names[i] = parameters[i][0];
        values[i] = parameters[i][1]; /* NULL: as the string says */
    }
    return PQconnectdbParams(names, values, 1);
}

/* Returns false, and the reason in db->why, if that failed. */
static bool open_connection(struct postgresql_db *db)
{
    const int timeout_s = db->unlimited ? CONNECT_LONG_S : CONNECT_S;
    struct postgresql_servers servers;
    bool open = false;
    if (postgresql_resolve(db, clock_monotonic_us() + timeout_s * US_PER_S, &servers)) {
        db->conn = connect_to(db, &servers, timeout_s);
        open = PQstatus(db->conn) == CONNECTION_OK;
        if (!open)
            postgresql_note_reason(db, PQerrorMessage(db->conn));
    }
    postgresql_servers_free(&servers);
    return open;
}

/* Whether a standby answered the failed attempt, so a primary that gives no answer is about to be replaced. libpq has
 * no code for that, only its text for target_session_attrs; with another text, waits end sooner. */
static bool standby_answered(const PGconn *conn)
{
    return strstr(PQerrorMessage(conn), "session is read-only") != NULL;
}

void postgresql_disconnect(struct postgresql_db *db)
{
    PQfinish(db->conn);
    db->conn = NULL;
    db->broken = true;
}

bool postgresql_connect(struct postgresql_db *db)
{
    postgresql_disconnect(db);
    const int64_t began_us = clock_monotonic_us();
    for (int i = 0; i < SQL_COUNT; i++)
        db->statements[i].prepared = false;
    db->begun = db->late = db->commits = db->listens = false;
    db->sent = 0;
    if (!open_connection(db)) {
        const bool slow = clock_monotonic_us() - began_us > SILENT_US, read_only = standby_answered(db->conn);
        postgresql_set_silent(db->store, slow && !read_only);
        if (read_only)
            store_note_failure(&db->store->base, POSTGRESQL_READ_ONLY, "connection to PostgreSQL", db->why);
        return false;
    }
    PQsetNoticeReceiver(db->conn, take_notice, db);
    db->until_us = clock_monotonic_us() + SETTINGS_US;
    db->broken = PQsetnonblocking(db->conn, 1) != 0 || !postgresql_settings(db);
    return !db->broken;
}

bool postgresql_is_refused(struct postgresql_db *db)
{
    static const char *const states[] = {":  28000\n", ":  28P01\n", ":  3D000\n", ":  42501\n"};
    if (!db->conn || atomic_load(&db->store->silent))
        return false;
    if (PQconnectionNeedsPassword(db->conn))
        return true;
    PQsetErrorVerbosity(db->conn, PQERRORS_SQLSTATE);
    PQreset(db->conn);
    bool refused = false;
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        refused = refused || strstr(PQerrorMessage(db->conn), states[i]);
    return refused;
}

bool postgresql_stopping(struct postgresql_store *s)
{
    pthread_mutex_lock(&s->mutex);
    bool stop = s->stop;
    pthread_mutex_unlock(&s->mutex);
    return stop;
}

/* Returns false when the store closes. */
static bool pause_for(struct postgresql_store *s, int64_t us)
{
    const int64_t until_us = clock_monotonic_us() + us;
    pthread_mutex_lock(&s->mutex);
    while (!s->stop && cond_wait_until(&s->wake_stop, &s->mutex, until_us))
        ;
    bool stop = s->stop;
    pthread_mutex_unlock(&s->mutex);
    return !stop;
}

static int64_t retry_pause_us(void)
{
    return RETRY_US + crypto_uniform(RETRY_JITTER_US);
}

struct outage {
    int64_t since_us; /* 0: no attempt has failed */
    uint64_t served;  /* the store's, at the last attempt */
    int passed_over;  /* attempts that failed while other workers were served */
};

static bool is_short(const struct outage *o, int64_t now_us)
{
    return o->passed_over >= SHORT_ATTEMPTS && now_us - o->since_us > SHORT_AFTER_US;
}

/* If other workers are served meanwhile, the server has too few connections: that is reported once, and tried less
 * often. */
static void note_failed_attempt(struct postgresql_db *db, struct outage *o)
{
    struct postgresql_store *s = db->store;
    const int64_t now_us = clock_monotonic_us();
    const uint64_t served = atomic_load(&s->served);
    if (!o->since_us) {
        o->since_us = now_us;
        store_log_error("connection to PostgreSQL", 0, db->why);
    } else if (served != o->served) {
        o->passed_over++;
        if (is_short(o, now_us) && !atomic_exchange(&s->short_warned, true))
            log_warn("store connections=short workers=%zu advice=\"lower store.workers, or raise max_connections\"",
                     s->worker_count);
    }
    o->served = served;
}

/* Whether a worker may try to connect: a stop does not wait for a server that is silent. */
static bool may_try(struct postgresql_store *s)
{
    pthread_mutex_lock(&s->mutex);
    bool may = !s->own_connecting && !(s->winding_down && atomic_load(&s->silent));
    pthread_mutex_unlock(&s->mutex);
    return may;
}

bool postgresql_keep_connected(struct postgresql_worker *w)
{
    struct postgresql_db *db = &w->db;
    struct outage o = {0};
    if (!w->yielded && !db->broken && PQstatus(db->conn) == CONNECTION_OK)
        return true;
    postgresql_set_connected(w, false);
    if (w->yielded) {
        w->yielded = false;
        postgresql_disconnect(db);
        if (!pause_for(db->store, SHORT_RETRY_US))
            return false;
    }
    do {
        if (may_try(db->store)) {
            if (postgresql_connect(db)) {
                postgresql_set_connected(w, true);
                return true;
            }
            note_failed_attempt(db, &o);
        }
    } while (pause_for(db->store, is_short(&o, clock_monotonic_us()) ? SHORT_RETRY_US : retry_pause_us()));
    return false;
}

bool postgresql_connected(struct postgresql_db *db)
{
    if (!db->broken && PQstatus(db->conn) == CONNECTION_OK)
        return true;
    do {
        if (postgresql_connect(db))
            return true;
    } while (!atomic_load(&db->store->silent) && clock_monotonic_us() < db->give_up_us &&
             pause_for(db->store, retry_pause_us()));
    return false;
}

bool postgresql_connect_own(struct postgresql_db *db)
{
    struct postgresql_store *s = db->store;
    bool connected = postgresql_connect(db);
    if (connected)
        return true;
    for (int i = 0; i < OWN_ATTEMPTS && !connected && !atomic_load(&s->silent); i++) {
        if (i % OWN_ASKS_AFTER == 0) /* another process may have taken what a worker has yielded */
            postgresql_set_own_connecting(s, true);
        if (!pause_for(s, RETRY_US))
            break;
        connected = postgresql_connect(db);
    }
    postgresql_set_own_connecting(s, false);
    return connected;
}
