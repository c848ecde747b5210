/* Records of calls of all accounts, and the explanation of a decision. */
#include "resources/calls.h"

#include "admin/routes.h"
#include "resources/decision.h"

#define LIST_MAX 100

struct calls_query {
    struct val building_id, number, outcome;
};
struct calls_reply {
    struct val data;
};

static const struct field query_fields[] = {
    FIELD(struct calls_query, building_id, T_ID, .error = ERR_INVALID_BUILDING, .doc = "calls to this building only"),
    FIELD(struct calls_query, number, T_STRING, .max = CALL_RECORD_NUMBER_MAX - 1, .error = ERR_INVALID_PHONE_NUMBER,
          .doc = "calls to or from this number only"),
    FIELD(struct calls_query, outcome, T_STRING, .values = call_record_outcome_names, .error = ERR_INVALID_FILTER),
};
static const struct shape query_shape = SHAPE(struct calls_query, "AdminCallsQuery", query_fields);

#define OUT(member, type, ...) FIELD(struct call_body, member, type, .flags = F_REQUIRED __VA_ARGS__)
#define CALL_FIELDS                                                                                                    \
    OUT(id, T_ID), OUT(started_at, T_TIME), OUT(duration_ms, T_INT, | F_NULLABLE), OUT(building_id, T_ID),             \
        OUT(front_end, T_STRING), OUT(source, T_STRING), OUT(dialled, T_STRING), OUT(caller, T_STRING, | F_NULLABLE),  \
        OUT(outcome, T_STRING), OUT(reason, T_STRING), OUT(resident_opened, T_BOOL),                                   \
        OUT(ended_by, T_STRING, | F_NULLABLE, .doc = "null: in progress")

static const struct field summary_fields[] = {CALL_FIELDS};
static const struct shape summary_shape = SHAPE(struct call_body, "AdminCallSummary", summary_fields);
static const struct field calls_fields[] = {
    FIELD(struct calls_reply, data, T_OBJECTS, .flags = F_REQUIRED, .sub = &summary_shape),
};
static const struct shape calls_shape = SHAPE(struct calls_reply, "AdminCalls", calls_fields);

#define STEP(member, type, ...) FIELD(struct call_step_body, member, type, .flags = F_REQUIRED __VA_ARGS__)
static const struct field step_fields[] = {
    STEP(at_ms, T_INT),
    STEP(step, T_STRING),
    STEP(detail, T_STRING, | F_NULLABLE),
    STEP(number, T_STRING, | F_NULLABLE),
    STEP(grant_id, T_ID, | F_NULLABLE),
    STEP(key_id, T_ID, | F_NULLABLE),
};
static const struct shape step_shape = SHAPE(struct call_step_body, "AdminCallStep", step_fields);
static const struct field call_fields[] = {
    CALL_FIELDS,
    OUT(account_id, T_ID),
    OUT(ended_at, T_TIME, | F_NULLABLE),
    OUT(grant_id, T_ID, | F_NULLABLE),
    OUT(steps, T_OBJECTS, , .sub = &step_shape),
};
static const struct shape call_shape = SHAPE(struct call_body, "AdminCall", call_fields);

static const struct field explain_fields[] = {
    DECISION_QUERY(building_id, T_ID, .flags = F_REQUIRED, .error = ERR_INVALID_BUILDING),
    DECISION_QUERY_FIELDS,
};
static const struct shape explain_shape = SHAPE(struct decision_query, "AdminExplainQuery", explain_fields);

static enum err list_operator_calls(struct request *q, struct reply *p)
{
    const struct calls_query *query = q->query;
    const struct call_record_filter filter = {
        .limit = v_int(LIST_MAX), .number = query->number, .outcome = query->outcome};
    struct id building;
    struct call_record_page page;
    if (v_set(query->building_id)) {
        building = admin_id(query->building_id);
        q->subject = arena_printf(q->tx.arena, "building=%s", building.text);
    }
    enum err e = call_record_list(&q->tx, v_set(query->building_id) ? &building : NULL, &filter, &page);
    if (e)
        return e;
    struct call_body *rows = arena_array(q->tx.arena, struct call_body, page.count + 1);
    for (size_t i = 0; i < page.count; i++)
        rows[i] = call_body_of(&page.items[i]);
    return reply_copy(q, p, 200, &calls_shape, &(struct calls_reply){.data = v_list(rows, page.count)});
}

static struct val step_val(struct val v)
{
    return v_given(v) ? v : v_null();
}

static enum err show_call(struct request *q, struct reply *p)
{
    struct arena *a = q->tx.arena;
    q->subject = arena_printf(a, "call=%s", q->path_id.text);
    struct recorded_call *call = arena_new(a, struct recorded_call);
    size_t count;
    enum err e = call_record_find(&q->tx, &q->path_id, call);
    if (e)
        return e == ERR_NOT_FOUND ? tx_fail(&q->tx, e, "no record of this call") : e;
    struct call_body *body = arena_new(a, struct call_body);
    struct call_step_body *steps = call_steps_of(a, call, &count);
    for (size_t i = 0; i < count; i++) {
        steps[i].detail = step_val(steps[i].detail);
        steps[i].number = step_val(steps[i].number);
        steps[i].grant_id = step_val(steps[i].grant_id);
        steps[i].key_id = step_val(steps[i].key_id);
    }
    *body = call_body_of(call);
    body->steps = v_list(steps, count);
    return reply_ok(p, 200, &call_shape, body);
}

static enum err explain_call(struct request *q, struct reply *p)
{
    const struct decision_query *query = q->query;
    const void *body;
    if (!v_set(query->building_id))
        return tx_fail(&q->tx, ERR_INVALID_BUILDING, "building_id is required");
    const struct id building = admin_id(query->building_id);
    enum err e = decision_body(&q->tx, &building, query, &body);
    return e ? e : reply_ok(p, 200, &decision_shape, body);
}

static bool searches(const void *query)
{
    const struct calls_query *q = query;
    return v_set(q->number) || v_set(q->outcome);
}

static const struct route rows[] = {
    ROUTE("adminListCalls", GET, "/admin/calls", .credential = CRED_CONTROL, .personal = true, .query = &query_shape,
          .run = RUN_READ, .lengthy = searches, .handler = list_operator_calls, .reply = &calls_shape,
          .doc = ROUTE_DOC("Calls", 200, "List the newest calls")),
    ROUTE("adminGetCall", GET, "/admin/calls/{id}", .credential = CRED_CONTROL, .personal = true, .run = RUN_READ,
          .handler = show_call, .reply = &call_shape, .doc = ROUTE_DOC("Calls", 200, "A call with every step")),
    ROUTE("adminExplain", GET, "/admin/explain", .credential = CRED_CONTROL, .query = &explain_shape, .run = RUN_READ,
          .lengthy = decision_lengthy, .handler = explain_call, .reply = &decision_shape,
          .doc = ROUTE_DOC("Calls", 200, "Explain what would happen to a call")),
};
const struct route_set admin_call_routes = ROUTE_SET(rows);
