/* The first thing that an operator looks at: readiness, and how far behind the work is. */
#include "jobs/status.h"
#include "admin/routes.h"
#include "api/parts.h"
#include "base/clock.h"
#include "base/loaded.h"
#include "base/metric.h"
#include "jobs/queue.h"
#include "jobs/readiness.h"
#include "store/backup.h"

struct status_reply {
    struct val ready, reasons, version, schema_version, mode, store, uptime_s, nodes, calls, store_tasks,
        store_oldest_wait_ms, jobs_due, oldest_job_s, deliveries_pending, oldest_delivery_s, operations_waiting,
        certificate_ends_at, certificate_file, certificate_sha256, last_backup_at, clock_step_s, clock_settles_s,
        to_apply;
};

#define OUT(member, type, ...) FIELD(struct status_reply, member, type, __VA_ARGS__)
#define UNREAD                 "null: the store did not respond"
static const struct field reply_fields[] = {
    OUT(ready, T_BOOL, .flags = F_REQUIRED),
    OUT(reasons, T_STRINGS, .flags = F_REQUIRED, .doc = "why it is not ready"),
    OUT(version, T_STRING, .flags = F_REQUIRED),
    OUT(schema_version, T_INT, .flags = F_REQUIRED | F_NULLABLE, .doc = UNREAD),
    OUT(mode, T_STRING, .flags = F_REQUIRED),
    OUT(store, T_STRING, .flags = F_REQUIRED),
    OUT(uptime_s, T_INT, .flags = F_REQUIRED),
    OUT(nodes, T_INT, .flags = F_REQUIRED, .doc = "processes that share the store"),
    OUT(calls, T_INT, .flags = F_REQUIRED, .doc = "over SIP, in progress"),
    OUT(store_tasks, T_INT, .flags = F_REQUIRED, .doc = "transactions that wait or run"),
    OUT(store_oldest_wait_ms, T_INT, .flags = F_REQUIRED),
    OUT(jobs_due, T_INT, .flags = F_REQUIRED | F_NULLABLE, .doc = "at most 10000 are counted; " UNREAD),
    OUT(oldest_job_s, T_INT, .flags = F_REQUIRED | F_NULLABLE, .doc = "since it is due; " UNREAD),
    OUT(deliveries_pending, T_INT, .flags = F_REQUIRED | F_NULLABLE, .doc = "at most 10000 are counted; " UNREAD),
    OUT(oldest_delivery_s, T_INT, .flags = F_REQUIRED | F_NULLABLE, .doc = "since it is due; " UNREAD),
    OUT(operations_waiting, T_INT, .flags = F_REQUIRED | F_NULLABLE, .doc = "for the operator; " UNREAD),
    OUT(certificate_ends_at, T_TIME, .flags = F_REQUIRED | F_NULLABLE, .doc = "null: no HTTPS"),
    OUT(certificate_file, T_STRING, .flags = F_REQUIRED | F_NULLABLE, .doc = "null: no HTTPS"),
    OUT(certificate_sha256, T_STRING, .flags = F_REQUIRED | F_NULLABLE, .doc = "its fingerprint; null: no HTTPS"),
    OUT(last_backup_at, T_TIME, .flags = F_REQUIRED | F_NULLABLE, .doc = "null: none, or PostgreSQL"),
    OUT(clock_step_s, T_INT, .flags = F_REQUIRED | F_NULLABLE,
        .doc =
            "by how much the clock was last set, ahead if positive; null: by more than a minute not since the start"),
    OUT(clock_settles_s, T_INT, .flags = F_REQUIRED,
        .doc = "until the clock is trusted: deletions by age and releases of numbers wait; 0: it is"),
    OUT(to_apply, T_STRINGS, .flags = F_REQUIRED, .doc = "changes of files that the service does not have yet"),
};
static const struct shape reply_shape = SHAPE(struct status_reply, "AdminStatus", reply_fields);

static enum err status_body(struct tx *tx, void *ret)
{
    return status_read(tx, ret);
}

static void put_counts(struct status_reply *r, const struct status *s)
{
    r->jobs_due = v_int(s->jobs);
    r->oldest_job_s = v_int(s->job_late_us / US_PER_S);
    r->deliveries_pending = v_int(s->deliveries);
    r->oldest_delivery_s = v_int(s->delivery_late_us / US_PER_S);
    r->operations_waiting = v_int(s->operations);
}

static void put_process(struct status_reply *r, const struct request *q)
{
    const struct config *c = q->tx.config;
    const int64_t oldest_us = store_oldest_us(q->parts->store), now_us = clock_monotonic_us();
    const int64_t certificate_us = metric_get(metrics.certificate_end);
    int64_t backup_us = 0;
    r->version = v_str(STR(PORTERO_VERSION));
    r->mode = v_str(str_z(c->top_mode));
    r->store = v_str(str_z(c->engine == ENGINE_SQLITE ? "sqlite" : "postgresql"));
    r->uptime_s = v_int((now_us - q->parts->started_us) / US_PER_S);
    r->nodes = v_int(jobs_nodes(q->parts->jobs));
    r->calls = v_int(metric_get(metrics.calls_active));
    r->store_tasks = v_int(metric_get(metrics.store_waiting));
    r->store_oldest_wait_ms = v_int(oldest_us ? (now_us - oldest_us) / 1000 : 0);
    r->certificate_ends_at = v_time_or_null(certificate_us == METRIC_ABSENT ? 0 : certificate_us);
    const bool copied = c->engine == ENGINE_SQLITE && backup_read_last(c, &backup_us);
    r->last_backup_at = v_time_or_null(copied ? backup_us : 0);
}

static void put_clock(struct status_reply *r)
{
    const struct clock_watch w = clock_look();
    const int64_t left_us = w.settles_us - clock_monotonic_us();
    r->clock_step_s = w.steps ? v_int(w.step_us / US_PER_S) : v_null();
    r->clock_settles_s = v_int(left_us > 0 ? left_us / US_PER_S + 1 : 0);
}

static void put_readiness(struct status_reply *r, const struct readiness_state *state, struct arena *a)
{
    struct val *reasons = arena_array(a, struct val, READINESS_REASONS_MAX);
    for (size_t i = 0; i < state->reason_count; i++)
        reasons[i] = v_str(str_z(state->reasons[i]));
    r->ready = v_bool(state->reason_count == 0);
    r->reasons = v_list(reasons, state->reason_count);
    r->schema_version = state->silent ? v_null() : v_int(state->schema);
}

static void put_files(struct status_reply *r, const struct config *c, struct arena *a)
{
    struct loaded_certificate *certificate = arena_new(a, struct loaded_certificate);
    struct val *changes = arena_array(a, struct val, 2);
    size_t n = 0;
    const bool served = loaded_certificate_get(certificate);
    r->certificate_file = served ? v_str(str_z(certificate->path)) : v_null();
    r->certificate_sha256 = served ? v_str(str_z(certificate->fingerprint)) : v_null();
    if (!loaded_configuration_is_current())
        changes[n++] = v_str(arena_printf(
            a, "%s, or a secret that it names, has changed since the service read it: restart to apply", c->file));
    if (served && !certificate->current)
        changes[n++] =
            v_str(arena_printf(a, "%s has changed since the service read it: reload to apply", certificate->path));
    r->to_apply = v_list(changes, n);
}

static enum err show_status(struct request *q, struct reply *p)
{
    const struct readiness_state state = readiness_wait(q->parts->readiness);
    struct status_reply *body = arena_new(q->tx.arena, struct status_reply);
    struct status counts;
    body->jobs_due = body->oldest_job_s = body->deliveries_pending = body->oldest_delivery_s =
        body->operations_waiting = v_null();
    put_readiness(body, &state, q->tx.arena);
    put_process(body, q);
    put_clock(body);
    put_files(body, q->tx.config, q->tx.arena);
    if (!state.silent && !work_read(&q->work, status_body, &counts))
        put_counts(body, &counts);
    return reply_ok(p, 200, &reply_shape, body);
}

static const struct route rows[] = {
    ROUTE("adminShowStatus", GET, "/admin/status", .credential = CRED_CONTROL, .run = RUN_BLOCKING,
          .handler = show_status, .reply = &reply_shape,
          .doc = ROUTE_DOC("Service", 200, "Show the state of the service")),
};
const struct route_set admin_status_routes = ROUTE_SET(rows);
