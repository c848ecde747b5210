/* Whether the service is ready: the answer of `porterod health`. */
#include "admin/routes.h"
#include "api/parts.h"
#include "jobs/readiness.h"

struct health_reply {
    struct val ready, reasons;
};
static const struct field reply_fields[] = {
    FIELD(struct health_reply, ready, T_BOOL, .flags = F_REQUIRED),
    FIELD(struct health_reply, reasons, T_STRINGS, .flags = F_REQUIRED, .doc = "why it is not ready"),
};
static const struct shape reply_shape = SHAPE(struct health_reply, "AdminHealth", reply_fields);

static enum err show_health(struct request *q, struct reply *p)
{
    const struct readiness_state state = readiness_wait(q->parts->readiness);
    struct val *reasons = arena_array(q->tx.arena, struct val, READINESS_REASONS_MAX);
    for (size_t i = 0; i < state.reason_count; i++)
        reasons[i] = v_str(str_z(state.reasons[i]));
    return reply_copy(q, p, 200, &reply_shape,
                      &(struct health_reply){.ready = v_bool(state.reason_count == 0),
                                             .reasons = v_list(reasons, state.reason_count)});
}

static const struct route rows[] = {
    ROUTE("adminShowHealth", GET, "/admin/health", .credential = CRED_CONTROL, .run = RUN_BLOCKING,
          .handler = show_health, .reply = &reply_shape,
          .doc = ROUTE_DOC("Service", 200, "Show whether the service is ready")),
};
const struct route_set admin_health_routes = ROUTE_SET(rows);
