#include "sandbox/routes.h"

#include "providers/fault.h"

#define COUNT_MAX     1000000
#define OPERATION_MAX 31 /* limit of providers/fault.h */

struct fault_request {
    struct val provider, operation, fault, count;
};

static const char *const providers[] = {"billing", "numbers", "mail", "sms", NULL};
static const char *const faults[] = {"timeout", "error", "decline", "crash_after", "none", NULL};

#define FAULT_FIELDS(type)                                                                                             \
    FIELD(type, provider, T_STRING, .flags = F_REQUIRED, .values = providers),                                         \
        FIELD(type, operation, T_STRING, .flags = F_NULLABLE, .min = 1, .max = OPERATION_MAX,                          \
              .doc = "such as `send`, `session_create` or `acquire`; default: all operations of the provider"),        \
        FIELD(type, fault, T_STRING, .flags = F_REQUIRED, .values = faults,                                            \
              .doc = "decline is a definite refusal, timeout and error are not; crash_after ends the process right "   \
                     "after the provider has acted; none clears the provider's faults")

static const struct field request_fields[] = {
    FAULT_FIELDS(struct fault_request),
    FIELD(struct fault_request, count, T_INT, .min = 1, .max = COUNT_MAX, .doc = "number of calls; default 1"),
};
static const struct shape request_shape = SHAPE(struct fault_request, "SandboxFault", request_fields);

static const struct field reply_fields[] = {
    FAULT_FIELDS(struct fault_request),
    FIELD(struct fault_request, count, T_INT, .flags = F_REQUIRED, .doc = "number of calls; 0 for none"),
};
static const struct shape reply_shape = SHAPE(struct fault_request, "SandboxFaultOrdered", reply_fields);

static enum err order_fault(struct request *q, struct reply *p)
{
    const struct fault_request *body = q->body;
    struct fault_request *r = arena_new(q->tx.arena, struct fault_request);
    enum fault fault;
    if (!fault_parse(body->fault.s, &fault))
        return ERR_BAD_REQUEST;
    *r = *body;
    r->operation = v_set(body->operation) ? body->operation : v_null();
    r->count = v_int(fault == FAULT_NONE ? 0 : v_set(body->count) ? body->count.i : 1);
    if (!fault_order(body->provider.s, v_set(body->operation) ? body->operation.s : STR_NONE, fault, r->count.i))
        return tx_fail(&q->tx, ERR_BAD_REQUEST, "too many faults are on order: clear some with none");
    return reply_ok(p, 200, &reply_shape, r);
}

static const struct route rows[] = {
    ROUTE("orderSandboxFault", POST, "/sandbox/faults", .credential = CRED_LOOPBACK, .body = &request_shape,
          .body_error = ERR_BAD_REQUEST, .run = RUN_HERE, .handler = order_fault, .reply = &reply_shape,
          .doc = ROUTE_DOC("Sandbox", 200, "Make the next calls to a provider fail",
                           .body_example = "{\"provider\": \"billing\", \"operation\": \"session_create\", \"fault\": "
                                           "\"timeout\", \"count\": 1}")),
};
const struct route_set sandbox_faults_routes = ROUTE_SET(rows);
