/* Waiting for the server's answers, with an end.
 *
 * libpq does not block here: a server may hang while its kernel keeps the connection alive, and then nothing else would
 * end the wait. The statement is not cancelled, because PQcancel blocks on such a server; a server that recovers finds
 * the connection closed. */
#include <openssl/ssl.h>
#include <poll.h>

#include "base/clock.h"
#include "store/postgresql.h"

/* Whether bytes have arrived that poll does not show, because OpenSSL has decrypted them. */
static bool has_decrypted(PGconn *conn)
{
    SSL *tls = PQsslStruct(conn, "OpenSSL");
    return tls && SSL_pending(tls) > 0;
}

/* Waits until the socket can be read, or also written. Returns false when the time is over. */
static bool wait_for_socket(PGconn *conn, bool unsent, int64_t until_us)
{
    struct pollfd fd = {.fd = PQsocket(conn), .events = (short)(POLLIN | (unsent ? POLLOUT : 0))};
    const int64_t left_us = until_us - clock_monotonic_us();
    return left_us > 0 && poll(&fd, 1, (int)(left_us / 1000) + 1) != 0;
}

/* Sends what libpq has kept and reads, until PQgetResult does not block: there is a result, or a failure to report.
 * Returns false when the time is over. */
static bool wait_for_result(PGconn *conn, int64_t until_us)
{
    int unsent;
    while ((unsent = PQflush(conn)) > 0 || PQisBusy(conn)) {
        if (!has_decrypted(conn) && !wait_for_socket(conn, unsent > 0, until_us))
            return false;
        if (!PQconsumeInput(conn))
            return true;
    }
    return true;
}

PGresult *postgresql_result(struct postgresql_db *db)
{
    if (!db->late) {
        db->late = !wait_for_result(db->conn, db->until_us);
        /* With several servers, the next attempt to connect tells whether the others answer. */
        if (!db->late || !(db->commits || db->store->several))
            postgresql_set_silent(db->store, db->late);
    }
    db->broken |= db->late;
    return db->late ? NULL : PQgetResult(db->conn);
}

PGresult *postgresql_only_result(struct postgresql_db *db, int sent)
{
    PGresult *last = NULL, *r;
    while (sent && (r = postgresql_result(db))) {
        PQclear(last);
        last = r;
    }
    if (!db->late)
        return last;
    PQclear(last); /* an earlier statement of the command may have it */
    return NULL;
}
