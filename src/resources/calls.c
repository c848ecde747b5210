#include "resources/calls.h"

#include "domain/call_message.h"
#include "domain/key_life.h"
#include "domain/visit.h"
#include "resources/page.h"
#include "resources/routes.h"

/* ---- bodies ---- */

#define FILTER(member, type, ...) FIELD(struct call_record_filter, member, type, __VA_ARGS__)
static const struct field query_fields[] = {
    FILTER(limit, T_INT, .min = 1, .max = CALL_RECORD_PAGE_MAX, .error = ERR_INVALID_LIMIT, .doc = "default 50"),
    FILTER(since, T_TIME, .error = ERR_INVALID_DATE, .doc = "calls that began then or later"),
    FILTER(until, T_TIME, .error = ERR_INVALID_DATE, .doc = "calls that began then or earlier"),
    FILTER(outcome, T_STRING, .values = call_record_outcome_names, .error = ERR_INVALID_FILTER,
           .doc = "calls with this outcome"),
    FILTER(cursor, T_ID, .error = ERR_INVALID_CURSOR, .doc = "pagination.cursor of the previous page"),
};
static const struct shape query_shape = SHAPE(struct call_record_filter, "CallQuery", query_fields);

#define OUT(member, type, ...) FIELD(struct call_body, member, type, __VA_ARGS__)
#define CALL_FIELDS                                                                                                    \
    OUT(id, T_ID, .flags = F_REQUIRED), OUT(building_id, T_ID, .flags = F_REQUIRED),                                   \
        OUT(started_at, T_TIME, .flags = F_REQUIRED),                                                                  \
        OUT(ended_at, T_TIME, .flags = F_REQUIRED | F_NULLABLE,                                                        \
            .doc = "null: the call is in progress, or the service stopped before its end"),                            \
        OUT(duration_ms, T_INT, .flags = F_REQUIRED | F_NULLABLE, .doc = "null with ended_at"),                        \
        OUT(front_end, T_STRING, .flags = F_REQUIRED, .values = call_front_names, .doc = "how the call came"),         \
        OUT(source, T_STRING, .flags = F_REQUIRED, .doc = "address of the caller's device or trunk, or the provider"), \
        OUT(dialled, T_STRING, .flags = F_REQUIRED, .doc = "the building's number"),                                   \
        OUT(caller, T_STRING, .flags = F_REQUIRED | F_NULLABLE,                                                        \
            .doc = "the caller's number, which can be forged; null: withheld"),                                        \
        OUT(outcome, T_STRING, .flags = F_REQUIRED, .values = call_record_outcome_names,                               \
            .doc = "released: a grant opened the door; forwarded: no grant did; unreachable: no grant did, and no "    \
                   "telephone of the residents rang; none: no decision"),                                              \
        OUT(reason, T_STRING, .flags = F_REQUIRED, .values = access_reason_names, .doc = "reason of the decision"),    \
        OUT(grant_id, T_ID, .flags = F_REQUIRED | F_NULLABLE, .doc = "ID of the grant that released the door"),        \
        OUT(resident_opened, T_BOOL, .flags = F_REQUIRED,                                                              \
            .doc = "the resident released the door in a forwarded call"),                                              \
        OUT(ended_by, T_STRING, .flags = F_REQUIRED | F_NULLABLE, .values = call_ended_by_names,                       \
            .doc = "null with ended_at"),                                                                              \
        OUT(message_seconds, T_INT, .flags = F_REQUIRED | F_NULLABLE,                                                  \
            .doc = "length of the message that the visitor left; null: no message")

static const struct field summary_fields[] = {CALL_FIELDS};
static const struct shape summary_shape = SHAPE(struct call_body, "CallSummary", summary_fields);

#define STEP(member, type, ...) FIELD(struct call_step_body, member, type, __VA_ARGS__)
static const struct field step_fields[] = {
    STEP(at_ms, T_INT, .flags = F_REQUIRED, .doc = "milliseconds since started_at"),
    STEP(step, T_STRING, .flags = F_REQUIRED, .values = call_step_names),
    STEP(detail, T_STRING, .doc = "a word about the step: the prompt, the way a key came, a reason"),
    STEP(number, T_STRING, .doc = "the last digits of the phone that rang"),
    STEP(grant_id, T_ID, .doc = "the grant of the step"),
    STEP(key_id, T_ID, .doc = "the key by which somebody listened, opened, or fetched the message"),
    STEP(key_name, T_STRING, .doc = "its name, while the service knows the key"),
};
static const struct shape call_step_shape = SHAPE(struct call_step_body, "CallStep", step_fields);

static const struct field call_fields[] = {
    CALL_FIELDS,
    OUT(steps, T_OBJECTS, .flags = F_REQUIRED, .sub = &call_step_shape,
        .doc = "in order; empty while the call is in progress. Keys are counted, never shown"),
};
static const struct shape call_shape = SHAPE(struct call_body, "Call", call_fields);

struct page_body {
    struct val data, pagination;
};
static const struct field page_fields[] = {
    FIELD(struct page_body, data, T_OBJECTS, .flags = F_REQUIRED, .sub = &summary_shape, .doc = "newest first"),
    FIELD(struct page_body, pagination, T_OBJECT, .flags = F_REQUIRED, .sub = &pagination_shape),
};
static const struct shape page_shape = SHAPE(struct page_body, "CallPage", page_fields);

struct call_body call_body_of(const struct recorded_call *c)
{
    const bool ended = c->ended_us != 0;
    return (struct call_body){
        .id = v_str(id_str(&c->id)),
        .building_id = v_str(id_str(&c->building_id)),
        .account_id = v_str(id_str(&c->account_id)),
        .started_at = v_time(c->started_us),
        .ended_at = v_time_or_null(c->ended_us),
        .duration_ms = ended ? v_int((c->ended_us - c->started_us) / 1000) : v_null(),
        .front_end = v_str(c->front),
        .source = v_str(c->source),
        .dialled = v_str(c->dialled),
        .caller = c->caller.n ? v_str(c->caller) : v_null(),
        .outcome = v_str(c->outcome),
        .reason = v_str(c->reason),
        .grant_id = v_str(id_str(&c->grant_id)),
        .resident_opened = v_bool(c->resident_opened),
        .ended_by = v_str(c->ended_by),
        .message_seconds = c->message_seconds ? v_int(c->message_seconds) : v_null(),
    };
}

/* A browser's key is another one after twelve hours, and where its person switched. */
static enum err name_of_key(struct tx *tx, const struct recorded_call *call, const struct call_step_body *step,
                            const struct id *key, struct str *ret)
{
    enum err e = key_name(tx, &call->account_id, key, ret);
    if (e || ret->p || str_index(step->step.s, call_step_names) != CALL_STEP_RESIDENT_OPENED)
        return e;
    return visit_opened_by(tx, &call->building_id, &call->id, ret);
}

/* Adds the names of keys to steps of a call. */
static enum err name_keys_of_steps(struct tx *tx, const struct recorded_call *call, struct call_step_body *list,
                                   size_t count)
{
    enum err e = ERR_NONE;
    for (size_t i = 0; i < count && !e; i++) {
        struct id key;
        struct str name = STR_NONE;
        if (v_given(list[i].key_id) && id_parse(list[i].key_id.s, &key))
            e = name_of_key(tx, call, &list[i], &key, &name);
        if (name.p)
            list[i].key_name = v_str(name);
    }
    return e;
}

struct call_step_body *call_steps_of(struct arena *a, const struct recorded_call *c, size_t *ret_count)
{
    struct str rest = c->steps;
    struct call_step step;
    size_t count = 0, n = 0;
    for (size_t i = 0; i < rest.n; i++)
        count += rest.p[i] == '\n';
    struct call_step_body *list = arena_array(a, struct call_step_body, count + 1);
    while (n <= count && call_step_read(&rest, &step)) {
        list[n] = (struct call_step_body){.at_ms = v_int(step.at_ms), .step = v_str(str_z(call_step_names[step.kind]))};
        if (step.text.p)
            list[n].detail = v_str(step.text);
        const bool by_key = step.kind == CALL_STEP_LISTENING || step.kind == CALL_STEP_MESSAGE_FETCHED ||
                            step.kind == CALL_STEP_RESIDENT_OPENED;
        if (by_key && step.ref.p)
            list[n].key_id = v_str(step.ref);
        else if (str_is_id(step.ref))
            list[n].grant_id = v_str(step.ref);
        else if (step.ref.p)
            list[n].number = v_str(step.ref);
        n++;
    }
    *ret_count = n;
    return list;
}

/* ---- handlers ---- */

static enum err list_calls(struct request *q, struct reply *p)
{
    struct arena *a = q->tx.arena;
    struct call_record_page page;
    enum err e = call_record_list(&q->tx, &q->building_id, q->query, &page);
    if (e)
        return e;
    struct call_body *items = arena_array(a, struct call_body, page.count + 1);
    for (size_t i = 0; i < page.count; i++)
        items[i] = call_body_of(&page.items[i]);
    struct page_body *body = arena_new(a, struct page_body);
    body->data = v_list(items, page.count);
    body->pagination = pagination_of(a, page.more ? arena_str(a, id_str(&page.end)) : STR_NONE);
    return reply_ok(p, 200, &page_shape, body);
}

static enum err get_call(struct request *q, struct reply *p)
{
    size_t count;
    struct recorded_call *call = arena_new(q->tx.arena, struct recorded_call);
    enum err e = call_record_get(&q->tx, &q->building_id, &q->path_id, call);
    if (e)
        return e;
    struct call_body *body = arena_new(q->tx.arena, struct call_body);
    *body = call_body_of(call);
    struct call_step_body *steps = call_steps_of(q->tx.arena, call, &count);
    body->steps = v_list(steps, count);
    e = name_keys_of_steps(&q->tx, call, steps, count);
    return e ? e : reply_ok(p, 200, &call_shape, body);
}

static enum err get_message(struct request *q, struct reply *p)
{
    enum err e = call_message_get(&q->tx, &q->building_id, &q->path_id, &p->raw);
    if (!e)
        e = call_record_fetched(&q->tx, &q->building_id, &q->path_id, &q->who.key_id);
    if (e)
        return e == ERR_NOT_FOUND ? tx_fail(&q->tx, e, "the caller left no message, or the call is not recorded") : e;
    p->status = 200;
    return ERR_NONE;
}

static bool searches(const void *query)
{
    return call_record_searches(query);
}

#define TAG "Calls"

static const struct route rows[] = {
    ROUTE(
        "listCalls", GET, "/v1/calls", .credential = CRED_KEY, .people = PEOPLE_ALL, .scopes = SCOPE(LOGS_READ),
        .limit = LIMIT_KEY, .building = BUILDING_HEADER, .query = &query_shape, .run = RUN_READ, .lengthy = searches,
        .handler = list_calls, .reply = &page_shape, .flags = ROUTE_SITE, .store_error = ERR_FETCH_FAILED,
        .doc = ROUTE_DOC(
            TAG, 200, "List the calls to a building, newest first",
            .description =
                "Calls of the last 30 days that reached the building's number, with the decision and how they ended; "
                "also calls that opened no door and are not in the activity log. The owner's own calls and calls to "
                "unknown numbers are not recorded. A page may be shorter than `limit`, or empty, with `has_more` true.",
            .flags = DOC_EXTENSION)),
    ROUTE("getCall", GET, "/v1/calls/{id}", .credential = CRED_KEY, .people = PEOPLE_ALL, .scopes = SCOPE(LOGS_READ),
          .limit = LIMIT_KEY, .building = BUILDING_HEADER, .run = RUN_READ, .handler = get_call, .reply = &call_shape,
          .flags = ROUTE_SITE, .store_error = ERR_FETCH_FAILED,
          .doc = ROUTE_DOC(TAG, 200, "A call with every step",
                           .description =
                               "What happened in a call, step by step, to see why the door opened or stayed closed.",
                           .flags = DOC_EXTENSION, .errors = ROUTE_ERRORS(ERR_NOT_FOUND))),
    ROUTE("getCallMessage", GET, "/v1/calls/{id}/message", .credential = CRED_KEY, .people = PEOPLE_ALL,
          .scopes = SCOPE(LOGS_READ), .limit = LIMIT_KEY, .building = BUILDING_HEADER, .run = RUN_WRITE,
          .handler = get_message, .media = "audio/wav", .flags = ROUTE_SITE, .store_error = ERR_FETCH_FAILED,
          .doc = ROUTE_DOC(TAG, 200, "The message that a visitor left",
                           .description = "A WAV file (16 bits, 8 kHz, mono), kept for 30 days. Visitors may leave one "
                                          "where `ring.message` is set and nobody answers. The 50 newest of a building "
                                          "are kept. The call's record names each key that fetched it.",
                           .flags = DOC_EXTENSION, .errors = ROUTE_ERRORS(ERR_NOT_FOUND, ERR_SECRET_DECRYPT_FAILED))),
};
const struct route_set call_routes = ROUTE_SET(rows);
