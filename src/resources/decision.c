#include "resources/decision.h"

#include "resources/routes.h"

struct decision_body {
    struct val building_id, at, verdict, reason, grant_id, grant_label, known_caller, keypad_closed_until, next_opening,
        code, grants, more_grants;
};
struct code_body {
    struct val result, unlock_id, name;
};
struct grant_part_body {
    struct val id, type, label, result, next_at;
};

#define PART(member, type, ...) FIELD(struct grant_part_body, member, type, __VA_ARGS__)
static const struct field part_fields[] = {
    PART(id, T_ID, .flags = F_REQUIRED),
    PART(type, T_STRING, .flags = F_REQUIRED, .values = grant_type_names),
    PART(label, T_STRING, .flags = F_REQUIRED),
    PART(result, T_STRING, .flags = F_REQUIRED, .values = explain_part_names,
         .doc = "comes_later: usable, but another grant opens first; not_asked: usable, but `reason` decides alone"),
    PART(next_at, T_TIME, .flags = F_REQUIRED | F_NULLABLE,
         .doc = "of not_begun and outside_window: when it begins next"),
};
static const struct shape part_shape = SHAPE(struct grant_part_body, "DecisionGrant", part_fields);

#define CODE(member, type, ...) FIELD(struct code_body, member, type, __VA_ARGS__)
static const struct field code_fields[] = {
    CODE(result, T_STRING, .flags = F_REQUIRED, .values = explain_code_names, .doc = "wrong_code: no grant has it"),
    CODE(unlock_id, T_ID, .flags = F_REQUIRED | F_NULLABLE, .doc = "the grant that has the code; null: wrong_code"),
    CODE(name, T_STRING, .flags = F_REQUIRED | F_NULLABLE, .doc = "its label"),
};
static const struct shape code_shape = SHAPE(struct code_body, "DecisionCode", code_fields);

#define OUT(member, type, ...) FIELD(struct decision_body, member, type, __VA_ARGS__)
static const struct field decision_fields[] = {
    OUT(building_id, T_ID, .flags = F_REQUIRED),
    OUT(at, T_TIME, .flags = F_REQUIRED),
    OUT(verdict, T_STRING, .flags = F_REQUIRED, .values = explain_verdict_names,
        .doc = "ask_code: a code is asked for; silence is then forwarded. wrong_code: asked for again"),
    OUT(reason, T_STRING, .flags = F_REQUIRED, .values = access_reason_names),
    OUT(grant_id, T_ID, .flags = F_REQUIRED | F_NULLABLE, .doc = "ID of the grant that opens the door"),
    OUT(grant_label, T_STRING, .flags = F_REQUIRED | F_NULLABLE, .doc = "its label"),
    OUT(known_caller, T_BOOL, .flags = F_REQUIRED, .doc = "the caller's number released this door before"),
    OUT(keypad_closed_until, T_TIME, .flags = F_REQUIRED | F_NULLABLE,
        .doc = "the keypad is closed to the caller's group after wrong codes; null: it is open"),
    OUT(next_opening, T_STRING, .flags = F_REQUIRED | F_NULLABLE,
        .doc = "of a code outside its window: when it opens next, in the time of its zone with the offset"),
    OUT(code, T_OBJECT, .flags = F_REQUIRED | F_NULLABLE, .sub = &code_shape,
        .doc = "what `digits` are, asked for or not; null: no digits, or a usable grant has them"),
    OUT(grants, T_OBJECTS, .flags = F_REQUIRED, .sub = &part_shape,
        .doc = "the newest grants that are not revoked, at most 50, and the part of each in the decision"),
    OUT(more_grants, T_INT, .flags = F_REQUIRED, .doc = "further grants that are not listed; counted up to 10,000"),
};
const struct shape decision_shape = SHAPE(struct decision_body, "Decision", decision_fields);

static const struct field query_fields[] = {DECISION_QUERY_FIELDS};
static const struct shape query_shape = SHAPE(struct decision_query, "DecisionQuery", query_fields);

static struct val grants_of(struct arena *a, const struct explanation *x)
{
    struct grant_part_body *list = arena_array(a, struct grant_part_body, x->count + 1);
    for (size_t i = 0; i < x->count; i++)
        list[i] = (struct grant_part_body){
            .id = v_str(id_str(&x->grants[i].id)),
            .type = v_str(str_z(grant_type_names[x->grants[i].type])),
            .label = v_str(x->grants[i].label),
            .result = v_str(str_z(explain_part_names[x->grants[i].part])),
            .next_at = v_time_or_null(x->grants[i].next_us),
        };
    return v_list(list, x->count);
}

static struct val code_of(struct arena *a, const struct explained_code *code)
{
    if (!code)
        return v_null();
    struct code_body *body = arena_new(a, struct code_body);
    *body = (struct code_body){
        .result = v_str(str_z(explain_code_names[code->result])),
        .unlock_id = v_str(id_str(&code->grant_id)),
        .name = v_str(code->grant_label),
    };
    return v_object(body);
}

/* When the code of the decision opens next. */
static struct val next_opening(struct arena *a, const struct access_decision *d)
{
    if (d->verdict != ACCESS_WRONG || !d->near_count || !d->near[0].opens_us)
        return v_null();
    char *text = arena_alloc(a, SCHEDULE_TIME_TEXT_MAX);
    schedule_time_format(d->near[0].timezone, d->near[0].opens_us, text);
    return v_str(str_z(text));
}

enum err decision_body(struct tx *tx, const struct id *building, const struct decision_query *query, const void **ret)
{
    struct arena *a = tx->arena;
    struct tx then = *tx;
    struct explanation x;
    const struct explain_query explain = {
        .building = *building,
        .from = v_set(query->from) ? query->from.s : STR_NONE,
        .digits = v_set(query->digits) ? query->digits.s : STR_NONE,
    };
    if (v_set(query->at))
        then.now_us = query->at.i;
    enum err e = access_explain(&then, &explain, &x);
    if (e)
        return e;
    struct decision_body *body = arena_new(a, struct decision_body);
    *body = (struct decision_body){
        .building_id = v_str(arena_str(a, id_str(building))),
        .at = v_time(then.now_us),
        .verdict = v_str(str_z(explain_verdict_names[x.decision.verdict])),
        .reason = v_str(str_z(access_reason_names[x.decision.reason])),
        .grant_id = v_str(arena_str(a, id_str(&x.decision.grant_id))),
        .grant_label = v_str(x.decision.grant_label),
        .known_caller = v_bool(x.known_caller),
        .keypad_closed_until = v_time_or_null(x.keypad_closed_until_us),
        .next_opening = next_opening(a, &x.decision),
        .code = code_of(a, x.code),
        .grants = grants_of(a, &x),
        .more_grants = v_int(x.more),
    };
    *ret = body;
    return ERR_NONE;
}

static enum err get_decision(struct request *q, struct reply *p)
{
    const void *body;
    enum err e = decision_body(&q->tx, &q->building_id, q->query, &body);
    return e ? e : reply_ok(p, 200, &decision_shape, body);
}

/* Reads every usable timer and routine, with digits every usable passcode, as a call does. */
bool decision_lengthy(const void *query)
{
    (void)query;
    return true;
}

static const struct route rows[] = {
    ROUTE("getDecision", GET, "/v1/buildings/{buildingId}/decision", .credential = CRED_KEY, .people = PEOPLE_ALL,
          .scopes = SCOPE(ACCESS_READ) | SCOPE(LOGS_READ), .limit = LIMIT_KEY, .building = BUILDING_PATH,
          .query = &query_shape, .run = RUN_READ, .lengthy = decision_lengthy, .handler = get_decision,
          .reply = &decision_shape, .flags = ROUTE_SITE, .store_error = ERR_FETCH_FAILED,
          .doc = ROUTE_DOC("Calls", 200, "What would happen to a call, and why",
                           .description =
                               "Takes the decision about a call at any time as a real call would, grant by grant, "
                               "without using anything up or recording it. It sees the grants, the settings and the "
                               "wrong codes as they are now. `digits` is part of a URL, which proxies may log.",
                           .flags = DOC_EXTENSION)),
};
const struct route_set decision_routes = ROUTE_SET(rows);
