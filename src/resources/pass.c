#include "domain/pass.h"

#include "base/forms.h"
#include "domain/grant_made.h"
#include "resources/grant.h"
#include "resources/grant_body.h"
#include "resources/routes.h"

/* ---- bodies ---- */

#define IN(member, type, ...) FIELD(struct pass_input, member, type, __VA_ARGS__)
#define MOMENT_FORM                                                                                                    \
    FORM("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?(Z|[+-][0-9]{2}:[0-9]{2})?$",       \
         "a date and time, such as 2026-12-01T08:00 or 2026-12-01T08:00:00Z")

/* The fields that a creation and an update have. */
#define COMMON                                                                                                         \
    IN(label, T_STRING, .max = GRANT_LABEL_MAX, .doc = "default: pass"),                                               \
        IN(enabled, T_BOOL, .doc = "the on/off switch; new passes start enabled"),                                     \
        IN(access_code, T_STRING, .flags = F_SECRET, FORM("^[0-9]{4,8}$", "four to eight digits"),                     \
           .doc =                                                                                                      \
               "default: four generated digits; six without an end, or with one more than 31 days after its start"),   \
        IN(from, T_STRING, .flags = F_NULLABLE, MOMENT_FORM,                                                           \
           .doc = "it does not open before; at most 366 days ahead. Without offset: local time of the pass's zone"),   \
        IN(until, T_STRING, .flags = F_NULLABLE, MOMENT_FORM,                                                          \
           .doc = "it opens no more; at most 366 days ahead; default and null: no end"),                               \
        IN(windows, T_OBJECTS, .flags = F_NULLABLE, .max = SCHEDULE_WINDOWS_MAX, .sub = &pass_window_shape,            \
           .doc = "it opens in these alone; default, null and empty: at any time"),                                    \
        IN(timezone, T_STRING, .flags = F_NONBLANK,                                                                    \
           .doc = "IANA name, e.g. America/New_York; default: the building's"),                                        \
        IN(remaining_uses, T_INT, .flags = F_NULLABLE, .min = 1, .max = GRANT_USES_MAX,                                \
           .doc = "number of buzzes; null: unlimited"),                                                                \
        IN(enter_code_with_voice, T_BOOL, .doc = "true if the code may be spoken; default false"),                     \
        IN(note, T_STRING, .flags = F_NULLABLE, .max = PASS_NOTE_MAX,                                                  \
           .doc = "for the resident alone: no guest sees it")

static const struct field create_fields[] = {
    IN(code, T_BOOL, .doc = "false: it opens without a code, as soon as somebody buzzes; default true"),
    COMMON,
};
const struct shape pass_create_shape = SHAPE(struct pass_input, "PassCreate", create_fields);
static const struct field update_fields[] = {COMMON};
const struct shape pass_update_shape = SHAPE(struct pass_input, "PassUpdate", update_fields, .least = 1,
                                             .doc = "omitted fields stay unchanged; a calendar's parts are replaced");

#define FILTER(member, type, ...) FIELD(struct grant_filter, member, type, __VA_ARGS__)
static const struct field query_fields[] = {
    FILTER(limit, T_INT, .min = 1, .max = GRANT_PAGE_MAX, .error = ERR_INVALID_LIMIT, .doc = "default 50"),
    FILTER(cursor, T_ID, .error = ERR_INVALID_CURSOR, .doc = "pagination.cursor of the previous page"),
};
static const struct shape query_shape = SHAPE(struct grant_filter, "PassQuery", query_fields);

/* ---- handlers ---- */

static struct grant_request pass_request(const struct request *q)
{
    return (struct grant_request){.id = q->idempotency_key, .hash = q->body_hash, .pass = true};
}

static enum err create_pass(struct request *q, struct reply *p)
{
    const struct grant_place place = grant_place_of(q);
    const struct grant_request request = pass_request(q);
    struct grant *g = arena_new(q->tx.arena, struct grant);
    bool replayed;
    enum err e = pass_create(&q->tx, &place, q->body, &request, g, &replayed);
    return e ? e : grant_reply_created(q, p, "/v1/passes", g, replayed);
}

static enum err pass_receipt(struct request *q)
{
    const struct grant_request request = pass_request(q);
    return grant_receipt_of(q, &request);
}

static enum err list_passes(struct request *q, struct reply *p)
{
    struct grant_page page;
    struct grant_filter filter = *(const struct grant_filter *)q->query;
    filter.passes = v_bool(true);
    enum err e = grant_list(&q->tx, &q->building_id, &filter, &page);
    if (!e)
        e = grant_name_makers(&q->tx, &q->building_id, page.items, page.count);
    return e ? e : reply_ok(p, 200, &unlock_page_shape, unlock_page_body(&q->tx, &q->building_id, &page));
}

static enum err get_pass(struct request *q, struct reply *p)
{
    const struct grant_place place = grant_place_of(q);
    struct grant *g = arena_new(q->tx.arena, struct grant);
    enum err e = pass_get(&q->tx, &place, &q->path_id, g);
    return e ? e : grant_reply(q, p, 200, g);
}

static enum err update_pass(struct request *q, struct reply *p)
{
    const struct grant_place place = grant_place_of(q);
    struct grant *g = arena_new(q->tx.arena, struct grant);
    enum err e = pass_update(&q->tx, &place, &q->path_id, q->match_version, q->body, g);
    return e ? e : grant_reply(q, p, 200, g);
}

static enum err revoke_pass(struct request *q, struct reply *p)
{
    struct grant g;
    const struct grant_place place = grant_place_of(q);
    enum err e = pass_get(&q->tx, &place, &q->path_id, &g);
    if (!e)
        e = grant_end(q);
    return e ? e : reply_ok(p, 200, &unlock_revoked_shape, unlock_revoked_body(&q->tx, &q->path_id));
}

/* ---- routes ---- */

#define TAG "Passes"

static const struct route rows[] = {
    ROUTE("getPass", GET, "/v1/passes/{id}", .credential = CRED_KEY, .people = PEOPLE_ALL, .scopes = SCOPE(ACCESS_READ),
          .limit = LIMIT_KEY, .building = BUILDING_HEADER, .run = RUN_READ, .handler = get_pass, .reply = &unlock_shape,
          .flags = ROUTE_ETAG | ROUTE_SITE, .store_error = ERR_FETCH_FAILED,
          .doc = ROUTE_DOC(TAG, 200, "Read a pass, even if revoked",
                           .description = "The same as `GET /v1/unlock/{id}`, for passes alone.",
                           .flags = DOC_EXTENSION | DOC_NO_TOOL, .errors = ROUTE_ERRORS(ERR_NOT_FOUND))),
    ROUTE("listPasses", GET, "/v1/passes", .credential = CRED_KEY, .people = PEOPLE_ALL, .scopes = SCOPE(ACCESS_READ),
          .limit = LIMIT_KEY, .building = BUILDING_HEADER, .query = &query_shape, .run = RUN_READ,
          .handler = list_passes, .reply = &unlock_page_shape, .flags = ROUTE_SITE, .store_error = ERR_LIST_FAILED,
          .doc = ROUTE_DOC(TAG, 200, "List the passes that are not revoked, newest first",
                           .flags = DOC_EXTENSION | DOC_NO_TOOL)),
    ROUTE(
        "createPass", POST, "/v1/passes", .credential = CRED_KEY, .people = PEOPLE_ALL, .scopes = SCOPE(ACCESS_WRITE),
        .limit = LIMIT_KEY, .building = BUILDING_HEADER, .idempotency = NEED_REQUIRED, .receipt = pass_receipt,
        .body = &pass_create_shape, .body_error = ERR_INVALID_UNLOCK, .run = RUN_WRITE, .handler = create_pass,
        .reply = &unlock_shape, .flags = ROUTE_ETAG | ROUTE_SITE, .store_error = ERR_CREATE_FAILED,
        .doc = ROUTE_DOC(
            TAG, 201, "Create a pass: a code, or an open door, with a calendar",
            .description =
                "A pass opens the door in its windows, from `from` until `until`: on days of the week, over midnight, "
                "for up to a year or without end. Times without an offset are local, in `timezone` or the building's "
                "zone. Next Saturday 10 to 12: `{\"from\": \"2026-12-05T10:00\", \"until\": \"2026-12-05T12:00\"}`. "
                "The whole of August: from `2027-08-01T00:00` until `2027-09-01T00:00`. Nights from 22 to 6: a window "
                "with `\"start\": \"22:00\", \"end\": \"06:00\"` on the days on which it begins. A pass is a grant: "
                "`/v1/unlock` lists it with the type that is nearest to it, and the member `pass`, and can switch it "
                "off "
                "and revoke it.",
            .body_example = "{\"label\": \"Cleaner\", \"windows\": [{\"days\": [\"tuesday\", \"friday\"], \"start\": "
                            "\"09:00\", \"end\": \"12:00\"}], \"timezone\": \"America/New_York\"}",
            .other_status = 200, .flags = DOC_LOCATION | DOC_REPLAY | DOC_EXTENSION,
            .errors = ROUTE_ERRORS(ERR_MULTI_BUILDING_REQUIRED))),
    ROUTE("updatePass", PATCH, "/v1/passes/{id}", .credential = CRED_KEY, .people = PEOPLE_ALL,
          .scopes = SCOPE(ACCESS_WRITE), .limit = LIMIT_KEY, .building = BUILDING_HEADER, .match = MATCH_GRANT,
          .body = &pass_update_shape, .body_error = ERR_INVALID_UNLOCK, .run = RUN_WRITE, .handler = update_pass,
          .reply = &unlock_shape, .flags = ROUTE_ETAG | ROUTE_SITE, .store_error = ERR_UPDATE_FAILED,
          .doc = ROUTE_DOC(
              TAG, 200, "Change a pass",
              .description = "Send only the fields that change. A pass with a code keeps one. A change that "
                             "would let it open again is refused if another grant has its code by then.",
              .body_example = "{\"windows\": [{\"days\": [\"tuesday\"], \"start\": \"08:00\", \"end\": \"10:00\"}], "
                              "\"note\": \"Comes with her sister\"}",
              .flags = DOC_EXTENSION,
              .errors =
                  ROUTE_ERRORS(ERR_MULTI_BUILDING_REQUIRED, ERR_NOT_FOUND, ERR_VERSION_CONFLICT, ERR_GRANT_REVOKED))),
    ROUTE("revokePass", DELETE, "/v1/passes/{id}", .credential = CRED_KEY, .people = PEOPLE_ALL,
          .scopes = SCOPE(ACCESS_WRITE), .limit = LIMIT_KEY, .building = BUILDING_HEADER,
          .query = &grant_revocation_shape, .run = RUN_WRITE, .handler = revoke_pass, .reply = &unlock_revoked_shape,
          .flags = ROUTE_SITE, .store_error = ERR_DELETE_FAILED,
          .doc =
              ROUTE_DOC(TAG, 200, "Revoke a pass permanently; can be repeated",
                        .description = "A revoked pass never opens the door again. It can be read but is not listed.",
                        .flags = DOC_EXTENSION | DOC_NO_TOOL, .errors = ROUTE_ERRORS(ERR_NOT_FOUND))),
};

const struct route_set pass_routes = ROUTE_SET(rows);
