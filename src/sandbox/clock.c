#include "sandbox/clock.h"

#include "api/parts.h"
#include "base/clock.h"
#include "jobs/delivery.h"
#include "jobs/notices.h"
#include "jobs/queue.h"
#include "sandbox/routes.h"
#include "store/store.h"

#define SETTING       "sandbox_clock_offset_s"
#define OFFSET_MAX_S  (200LL * 365 * 86400) /* keeps the clock within the years that RFC 3339 can express */
#define ADVANCE_MAX_S (10LL * 365 * 86400)

#define DELIVERIES_WAIT_MS 30000 /* receivers that do not respond may have many deliveries due */

struct clock_request {
    struct val advance_seconds;
};
struct clock_reply {
    struct val now, offset_seconds;
};

static const struct field request_fields[] = {
    FIELD(struct clock_request, advance_seconds, T_INT, .flags = F_REQUIRED, .min = 0, .max = ADVANCE_MAX_S,
          .doc = "number of seconds to move forward"),
};
static const struct shape request_shape = SHAPE(struct clock_request, "SandboxClockMove", request_fields);
static const struct field reply_fields[] = {
    FIELD(struct clock_reply, now, T_TIME, .flags = F_REQUIRED, .doc = "the service's time"),
    FIELD(struct clock_reply, offset_seconds, T_INT, .flags = F_REQUIRED,
          .doc = "number of seconds ahead of real time"),
};
static const struct shape reply_shape = SHAPE(struct clock_reply, "SandboxClock", reply_fields);

static enum err read_offset(void *arg, struct db *db)
{
    int64_t *ret = arg;
    uint64_t offset = 0;
    CURSOR c;
    enum err e = db_one(db, SQL(setting_get, .name = STR(SETTING)), &c);
    if (e == ERR_NOT_FOUND) {
        *ret = 0;
        return ERR_NONE;
    }
    if (e)
        return e;
    const struct row_setting_get row = row_setting_get(&c, NULL);
    if (!str_to_u64(row.value, OFFSET_MAX_S, &offset))
        return ERR_INTERNAL_ERROR;
    *ret = (int64_t)offset;
    return ERR_NONE;
}

struct move {
    int64_t advance_s;
    int64_t offset_s; /* the new one */
};

/* Adds to the stored offset, which another node may have moved. */
static enum err move_offset(void *arg, struct db *db)
{
    struct move *m = arg;
    char text[24];
    int64_t stored_s;
    enum err e = read_offset(&stored_s, db);
    if (e)
        return e;
    m->offset_s = stored_s + m->advance_s;
    if (m->offset_s > OFFSET_MAX_S)
        return ERR_BAD_REQUEST;
    int n = snprintf(text, sizeof text, "%lld", (long long)m->offset_s);
    return db_exec(db, SQL(setting_put, .name = STR(SETTING), .value = str_n(text, (size_t)n)), NULL);
}

enum err sandbox_clock_restore(struct store *store)
{
    int64_t offset_s;
    enum err e = store_run(store, STORE_READ, read_offset, &offset_s);
    if (!e)
        clock_set_offset_s(offset_s);
    return e;
}

/* Other nodes learn it with their next heartbeat (jobs/heartbeat.h). */
static enum err advance_clock(struct store *store, int64_t advance_s)
{
    struct move m = {.advance_s = advance_s};
    enum err e = store_run(store, STORE_WRITE, move_offset, &m);
    if (!e)
        (void)clock_raise_offset_s(m.offset_s);
    return e;
}

static enum err get_clock(struct request *q, struct reply *p)
{
    return reply_copy(q, p, 200, &reply_shape,
                      &(struct clock_reply){.now = v_time(clock_now_us()), .offset_seconds = v_int(clock_offset_s())});
}

/* Runs deliveries until nothing is due, except those to slow receivers. */
static void run_due(const struct request *q)
{
    jobs_drain(q->parts->jobs);
    (void)deliveries_drain(q->parts->deliveries, DELIVERIES_WAIT_MS);
    notices_kick(q->parts->notices);
}

/* Finishes running work before the move, because its next attempt counts from the old time. Runs everything that the
 * move made due before replying. */
static enum err move_clock(struct request *q, struct reply *p)
{
    const struct clock_request *body = q->body;
    run_due(q);
    enum err e = advance_clock(q->parts->store, body->advance_seconds.i);
    if (e == ERR_BAD_REQUEST)
        return tx_fail(&q->tx, e, "the clock cannot be moved that far");
    if (e)
        return e;
    run_due(q);
    return get_clock(q, p);
}

static const struct route rows[] = {
    ROUTE("getSandboxClock", GET, "/sandbox/clock", .credential = CRED_LOOPBACK, .run = RUN_HERE, .handler = get_clock,
          .reply = &reply_shape,
          .doc = ROUTE_DOC("Sandbox", 200, "The service's clock",
                           .description = "The clock may be ahead of real time, never behind it.")),
    ROUTE("moveSandboxClock", POST, "/sandbox/clock", .credential = CRED_LOOPBACK, .body = &request_shape,
          .body_error = ERR_BAD_REQUEST, .run = RUN_BLOCKING, .handler = move_clock, .reply = &reply_shape,
          .doc = ROUTE_DOC("Sandbox", 200, "Move the service's clock forward",
                           .description =
                               "All expiries, windows, retries and schedules follow this clock. Work that becomes due "
                               "runs before the reply. The clock never goes back, and a restart keeps its offset.",
                           .body_example = "{\"advance_seconds\": 3600}")),
};
const struct route_set sandbox_clock_routes = ROUTE_SET(rows);
