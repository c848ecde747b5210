/* Building operations, and resolving one that needs a decision (BUILDING-21, BUILDING-22). */
#include "admin/routes.h"
#include "api/parts.h"
#include "jobs/operation.h"
#include "jobs/queue.h"
#include "providers/providers.h"

struct operation_row {
    struct val id, email, account_id, action, status, step, label, building_id, progressed_at;
};
struct operations_reply {
    struct val data;
};
struct resolve_body {
    struct val id, outcome;
};
struct resolved_reply {
    struct val id, action, status, error;
};

static const struct field row_fields[] = {
    FIELD(struct operation_row, id, T_ID, .flags = F_REQUIRED),
    FIELD(struct operation_row, email, T_STRING, .flags = F_REQUIRED | F_NULLABLE),
    FIELD(struct operation_row, account_id, T_ID, .flags = F_REQUIRED),
    FIELD(struct operation_row, action, T_STRING, .flags = F_REQUIRED),
    FIELD(struct operation_row, status, T_STRING, .flags = F_REQUIRED),
    FIELD(struct operation_row, step, T_STRING, .flags = F_REQUIRED, .doc = "next step"),
    FIELD(struct operation_row, label, T_STRING, .flags = F_REQUIRED, .doc = "of the building"),
    FIELD(struct operation_row, building_id, T_ID, .flags = F_REQUIRED),
    FIELD(struct operation_row, progressed_at, T_TIME, .flags = F_REQUIRED),
};
static const struct shape row_shape = SHAPE(struct operation_row, "AdminOperation", row_fields);
static const struct field operations_fields[] = {
    FIELD(struct operations_reply, data, T_OBJECTS, .flags = F_REQUIRED, .sub = &row_shape),
};
static const struct shape operations_shape = SHAPE(struct operations_reply, "AdminOperations", operations_fields);

static const char *const outcomes[] = {
    [DECIDE_SUCCEEDED] = "succeeded", [DECIDE_FAILED] = "failed", [DECIDE_FAILED + 1] = NULL};
static const struct field resolve_fields[] = {
    FIELD(struct resolve_body, id, T_ID, .flags = F_REQUIRED, .error = ERR_INVALID_ID),
    FIELD(struct resolve_body, outcome, T_STRING, .flags = F_REQUIRED, .values = outcomes),
};
static const struct shape resolve_shape = SHAPE(struct resolve_body, "AdminResolve", resolve_fields);
static const struct field resolved_fields[] = {
    FIELD(struct resolved_reply, id, T_ID, .flags = F_REQUIRED),
    FIELD(struct resolved_reply, action, T_STRING, .flags = F_REQUIRED),
    FIELD(struct resolved_reply, status, T_STRING, .flags = F_REQUIRED),
    FIELD(struct resolved_reply, error, T_STRING, .flags = F_REQUIRED | F_NULLABLE,
          .doc = "error code that the execution now answers with"),
};
static const struct shape resolved_shape = SHAPE(struct resolved_reply, "AdminResolved", resolved_fields);

static enum err list_operations(struct request *q, struct reply *p)
{
    const struct operation *list;
    const struct str *emails;
    size_t count;
    enum err e = operation_list_current(&q->tx, &list, &emails, &count);
    if (e)
        return e;
    struct operation_row *rows = arena_array(q->tx.arena, struct operation_row, count + 1);
    for (size_t i = 0; i < count; i++)
        rows[i] = (struct operation_row){
            .id = admin_id_val(&list[i].id),
            .email = v_str(emails[i]),
            .account_id = admin_id_val(&list[i].account_id),
            .action = v_str(str_z(operation_action_text(list[i].action))),
            .status = v_str(str_z(operation_status_text(list[i].status))),
            .step = v_str(str_z(operation_step_text(list[i].step))),
            .label = v_str(list[i].label),
            .building_id = admin_id_val(&list[i].building_id),
            .progressed_at = v_time(list[i].progressed_us),
        };
    return reply_copy(q, p, 200, &operations_shape, &(struct operations_reply){.data = v_list(rows, count)});
}

static enum err resolve_operation(struct request *q, struct reply *p)
{
    const struct resolve_body *body = q->body;
    const struct id id = admin_id(body->id);
    enum operation_decision decision =
        str_eq(body->outcome.s, str_z(outcomes[DECIDE_FAILED])) ? DECIDE_FAILED : DECIDE_SUCCEEDED;
    struct operation o;
    q->subject = arena_printf(q->tx.arena, "id=%s outcome=%s", id.text, outcomes[decision]);
    const struct tenure tenure = jobs_tenure(q->parts->jobs);
    enum err e = jobs_operation_resolve(&q->work, q->parts->providers, &tenure, &id, decision, &o);
    if (e == ERR_NOT_FOUND)
        return tx_fail(&q->tx, e, "operation not found, or already being resolved");
    if (e)
        return e;
    return reply_copy(q, p, 200, &resolved_shape,
                      &(struct resolved_reply){
                          .id = body->id,
                          .action = v_str(str_z(operation_action_text(o.action))),
                          .status = v_str(str_z(operation_status_text(o.status))),
                          .error = o.error ? v_str(str_z(err_info(o.error)->code)) : v_null(),
                      });
}

static const struct route rows[] = {
    ROUTE("adminListOperations", GET, "/admin/operations", .credential = CRED_CONTROL, .run = RUN_WRITE,
          .handler = list_operations, .reply = &operations_shape,
          .doc = ROUTE_DOC("Operations", 200, "List building operations that are running or wait for a decision")),
    ROUTE("adminResolveOperation", POST, "/admin/operations/resolve", .credential = CRED_CONTROL,
          .body = &resolve_shape, .body_error = ERR_BAD_REQUEST, .run = RUN_BLOCKING, .handler = resolve_operation,
          .reply = &resolved_shape, .doc = ROUTE_DOC("Operations", 200, "Complete or undo a building operation")),
};
const struct route_set admin_operation_routes = ROUTE_SET(rows);
