#include "domain/visit.h"

#include "domain/building.h"
#include "resources/page.h"
#include "resources/routes.h"

#define FILTER(member, type, ...) FIELD(struct visit_filter, member, type, __VA_ARGS__)
static const struct field query_fields[] = {
    FILTER(limit, T_INT, .min = 1, .max = VISIT_PAGE_MAX, .error = ERR_INVALID_LIMIT, .doc = "default 50"),
    FILTER(since, T_TIME, .error = ERR_INVALID_DATE, .doc = "visits that began then or later"),
    FILTER(until, T_TIME, .error = ERR_INVALID_DATE, .doc = "visits that began then or earlier"),
    FILTER(outcome, T_STRING, .values = visit_outcome_names, .error = ERR_INVALID_FILTER,
           .doc = "visits with this outcome"),
    FILTER(reason, T_STRING, .flags = F_NONBLANK, .max = VISIT_REASON_MAX, .error = ERR_INVALID_FILTER,
           .doc = "visits with this reason.code"),
    FILTER(unlock_id, T_ID, .error = ERR_INVALID_ID, .doc = "visits that this grant opened, or whose code was its own"),
    FILTER(opened_by, T_STRING, .flags = F_TRIM | F_NONBLANK, .max = VISIT_OPENER_MAX, .error = ERR_INVALID_FILTER,
           .doc = "visits that this key or phone opened: opened_by.name or opened_by.number"),
    FILTER(q, T_STRING, .flags = F_TRIM | F_NONBLANK, .min = 1, .max = VISIT_QUERY_MAX, .error = ERR_INVALID_QUERY,
           .doc = "part of a name or of the caller's number, ignoring case and accents"),
    FILTER(cursor, T_ID, .error = ERR_INVALID_CURSOR, .doc = "pagination.cursor of the previous page"),
};
static const struct shape query_shape = SHAPE(struct visit_filter, "VisitQuery", query_fields);

struct visit_opener_body {
    struct val kind, unlock_id, name, number;
};
#define OPENER(member, type, ...) FIELD(struct visit_opener_body, member, type, __VA_ARGS__)
static const struct field opener_fields[] = {
    OPENER(kind, T_STRING, .flags = F_REQUIRED, .values = visit_opener_names + VISIT_BY_CODE,
           .doc = "phone: a resident's key 9; browser: the website; program: a key of a program"),
    OPENER(unlock_id, T_ID, .flags = F_REQUIRED | F_NULLABLE, .doc = "the grant"),
    OPENER(name, T_STRING, .flags = F_REQUIRED | F_NULLABLE, .doc = "of the grant, key or member, as it was then"),
    OPENER(number, T_STRING, .flags = F_REQUIRED | F_NULLABLE, .doc = "the last digits of the phone"),
};
static const struct shape opener_shape = SHAPE(struct visit_opener_body, "VisitOpener", opener_fields);

struct visit_reason_body {
    struct val code, unlock_id, name;
};
#define REASON(member, type, ...) FIELD(struct visit_reason_body, member, type, __VA_ARGS__)
static const struct field reason_fields[] = {
    REASON(code, T_STRING, .flags = F_REQUIRED,
           .doc =
               "a decision's reason, or what was wrong with the grant whose code was entered: switched_off, used_up, "
               "expired, not_begun, outside_window, revoked. wrong_code: it was nobody's code"),
    REASON(unlock_id, T_ID, .flags = F_REQUIRED | F_NULLABLE, .doc = "the grant whose code it was"),
    REASON(name, T_STRING, .flags = F_REQUIRED | F_NULLABLE, .doc = "its label then"),
};
static const struct shape reason_shape = SHAPE(struct visit_reason_body, "VisitReason", reason_fields);

struct visit_body {
    struct val id, call_id, started_at, ended_at, caller, outcome, opened_by, reason, message_seconds;
};
#define OUT(member, type, ...) FIELD(struct visit_body, member, type, __VA_ARGS__)
static const struct field visit_fields[] = {
    OUT(id, T_ID, .flags = F_REQUIRED, .doc = "of the call; of the log entry, where its call is not known"),
    OUT(call_id, T_ID, .flags = F_REQUIRED | F_NULLABLE, .doc = "null: the call has no record, or not any more"),
    OUT(started_at, T_TIME, .flags = F_REQUIRED),
    OUT(ended_at, T_TIME, .flags = F_REQUIRED | F_NULLABLE),
    OUT(caller, T_STRING, .flags = F_REQUIRED | F_NULLABLE,
        .doc = "the caller's number, which can be forged; null: withheld, or not known any more"),
    OUT(outcome, T_STRING, .flags = F_REQUIRED, .values = visit_outcome_names,
        .doc = "forwarded: a resident was called; missed: nobody talked to the visitor; refused: nobody was called"),
    OUT(opened_by, T_OBJECT, .flags = F_REQUIRED | F_NULLABLE, .sub = &opener_shape, .doc = "null: it did not open"),
    OUT(reason, T_OBJECT, .flags = F_REQUIRED | F_NULLABLE, .sub = &reason_shape,
        .doc = "why no grant opened the door; null: one did, or it is not known"),
    OUT(message_seconds, T_INT, .flags = F_REQUIRED | F_NULLABLE, .doc = "length of the visitor's message"),
};
static const struct shape visit_shape = SHAPE(struct visit_body, "Visit", visit_fields);

struct visit_page_body {
    struct val building_id, timezone, data, pagination;
};
static const struct field page_fields[] = {
    FIELD(struct visit_page_body, building_id, T_ID, .flags = F_REQUIRED),
    FIELD(struct visit_page_body, timezone, T_STRING, .flags = F_REQUIRED | F_NULLABLE,
          .doc = "IANA name of the building's time zone"),
    FIELD(struct visit_page_body, data, T_OBJECTS, .flags = F_REQUIRED, .sub = &visit_shape, .doc = "newest first"),
    FIELD(struct visit_page_body, pagination, T_OBJECT, .flags = F_REQUIRED, .sub = &pagination_shape),
};
static const struct shape page_shape = SHAPE(struct visit_page_body, "VisitPage", page_fields);

/* By a grant: it opened, and no resident did. */
static bool by_grant(const struct visit *v)
{
    return str_eq(v->opened_by, STR("code")) || str_eq(v->opened_by, STR("timer")) ||
           str_eq(v->opened_by, STR("routine"));
}

static struct val opener_body(struct arena *a, const struct visit *v)
{
    const bool grant = by_grant(v), phone = str_eq(v->opened_by, STR("phone"));
    if (!v->opened_by.p)
        return v_null();
    struct visit_opener_body *body = arena_new(a, struct visit_opener_body);
    *body = (struct visit_opener_body){
        .kind = v_str(v->opened_by),
        .unlock_id = grant ? v_str(id_str(&v->grant_id)) : v_null(),
        .name = v_str(grant   ? v->grant_name
                      : phone ? v->person
                              : v->opener),
        .number = v_str(phone ? v->opener : STR_NONE),
    };
    return v_object(body);
}

static struct val reason_body(struct arena *a, const struct visit *v)
{
    if (!v->reason.p || by_grant(v))
        return v_null();
    struct visit_reason_body *body = arena_new(a, struct visit_reason_body);
    *body = (struct visit_reason_body){v_str(v->reason), v_str(id_str(&v->grant_id)), v_str(v->grant_name)};
    return v_object(body);
}

static struct visit_body visit_body_of(struct arena *a, const struct visit *v)
{
    return (struct visit_body){
        .id = v_str(id_str(&v->id)),
        .call_id = v_str(id_str(&v->call_id)),
        .started_at = v_time(v->started_us),
        .ended_at = v_time_or_null(v->ended_us),
        .caller = v->caller.n ? v_str(v->caller) : v_null(),
        .outcome = v_str(v->outcome),
        .opened_by = opener_body(a, v),
        .reason = reason_body(a, v),
        .message_seconds = v->message_seconds ? v_int(v->message_seconds) : v_null(),
    };
}

static enum err list_visits(struct request *q, struct reply *p)
{
    struct arena *a = q->tx.arena;
    struct visit_page page;
    struct building building;
    enum err e = building_get(&q->tx, &q->who.account_id, &q->building_id, &building);
    if (!e)
        e = visit_list(&q->tx, &q->building_id, q->query, &page);
    if (e)
        return e;
    struct visit_body *items = arena_array(a, struct visit_body, page.count + 1);
    for (size_t i = 0; i < page.count; i++)
        items[i] = visit_body_of(a, &page.items[i]);
    struct visit_page_body *body = arena_new(a, struct visit_page_body);
    *body = (struct visit_page_body){
        .building_id = v_str(id_str(&q->building_id)),
        .timezone = v_str(building.timezone),
        .data = v_list(items, page.count),
        .pagination = pagination_of(a, page.more ? arena_str(a, id_str(&page.end)) : STR_NONE),
    };
    return reply_ok(p, 200, &page_shape, body);
}

static bool searches(const void *query)
{
    return visit_searches(query);
}

static const struct route rows[] = {
    ROUTE("listVisits", GET, "/v1/visits", .credential = CRED_KEY, .people = PEOPLE_ALL, .scopes = SCOPE(LOGS_READ),
          .limit = LIMIT_KEY, .building = BUILDING_HEADER, .query = &query_shape, .run = RUN_READ, .lengthy = searches,
          .handler = list_visits, .reply = &page_shape, .flags = ROUTE_SITE, .store_error = ERR_FETCH_FAILED,
          .doc = ROUTE_DOC(
              "Activity logs", 200, "List the visits at the door, newest first",
              .description =
                  "One entry for each time that somebody buzzed: who, when, whether the door opened and by whom, and "
                  "why no grant opened it. A page with filters may be shorter than `limit`, or empty, with `has_more` "
                  "true.",
              .flags = DOC_EXTENSION)),
};
const struct route_set visit_routes = ROUTE_SET(rows);
