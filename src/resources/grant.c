#include "resources/grant.h"

#include "api/door.h"
#include "domain/grant_made.h"
#include "resources/earlier.h"
#include "resources/grant_body.h"
#include "resources/routes.h"

struct grant_place grant_place_of(const struct request *q)
{
    return (struct grant_place){.building = &q->building_id,
                                .number = q->building_number,
                                .linked = q->building_linked,
                                .key = &q->who.key_id,
                                .member = &q->who.member_id};
}

enum err grant_reply(struct request *q, struct reply *p, int status, struct grant *g)
{
    enum err e = grant_name_makers(&q->tx, &q->building_id, g, 1);
    if (e)
        return e;
    reply_version(q, p, g->version);
    return reply_ok(p, status, &unlock_shape, unlock_body(&q->tx, &q->building_id, g));
}

enum err grant_reply_created(struct request *q, struct reply *p, const char *path, struct grant *g, bool replayed)
{
    if (replayed)
        reply_header(p, "Idempotency-Replayed", STR("true"));
    else
        reply_header(p, "Location", arena_printf(q->tx.arena, "%s%s/%s", q->door->prefix, path, g->id.text));
    return grant_reply(q, p, replayed ? 200 : 201, g);
}

static enum err create_unlock(struct request *q, struct reply *p)
{
    const struct grant_place place = grant_place_of(q);
    struct grant *g = arena_new(q->tx.arena, struct grant);
    bool replayed;
    const struct grant_request request = {.id = q->idempotency_key, .hash = q->body_hash};
    enum err e = grant_create(&q->tx, &place, q->body, &request, g, &replayed);
    return e ? e : grant_reply_created(q, p, "/v1/unlock", g, replayed);
}

enum err grant_receipt_of(struct request *q, const struct grant_request *request)
{
    struct grant g;
    const enum err e = grant_replay(&q->tx, &q->building_id, request, &g);
    if (e && e != ERR_IDEMPOTENCY_CONFLICT)
        return e;
    const enum grant_status status = grant_status(&g, q->tx.now_us);
    q->receipt_ended = status != GRANT_ACTIVE && status != GRANT_SCHEDULED;
    return e;
}

enum err grant_receipt(struct request *q)
{
    return grant_receipt_of(q, &(struct grant_request){.id = q->idempotency_key, .hash = q->body_hash});
}

static enum err list_unlocks(struct request *q, struct reply *p)
{
    struct grant_page page;
    enum err e = grant_list(&q->tx, &q->building_id, q->query, &page);
    if (!e)
        e = grant_name_makers(&q->tx, &q->building_id, page.items, page.count);
    return e ? e : reply_ok(p, 200, &unlock_page_shape, unlock_page_body(&q->tx, &q->building_id, &page));
}

static enum err get_unlock(struct request *q, struct reply *p)
{
    const struct grant_place place = grant_place_of(q);
    struct grant *g = arena_alloc(q->tx.arena, sizeof *g);
    enum err e = grant_get(&q->tx, &place, &q->path_id, g);
    return e ? e : grant_reply(q, p, 200, g);
}

static enum err update_unlock(struct request *q, struct reply *p)
{
    const struct grant_place place = grant_place_of(q);
    struct grant *g = arena_alloc(q->tx.arena, sizeof *g);
    enum err e = grant_update(&q->tx, &place, &q->path_id, q->match_version, q->body, g);
    return e ? e : grant_reply(q, p, 200, g);
}

static const struct field revoke_fields[] = {
    FIELD(struct grant_revocation, forget, T_BOOL, .error = ERR_INVALID_FILTER,
          .doc = "true: also take its label, note and code; the log, visits and events then say its type"),
};
const struct shape grant_revocation_shape = SHAPE(struct grant_revocation, "RevokeUnlockQuery", revoke_fields);

enum err grant_end(struct request *q)
{
    const struct grant_revocation *query = q->query;
    enum err e = grant_revoke(&q->tx, &q->who.account_id, &q->building_id, &q->path_id);
    return e || !v_set(query->forget) || !query->forget.b ? e : grant_erase(&q->tx, &q->building_id, &q->path_id);
}

static enum err revoke_unlock(struct request *q, struct reply *p)
{
    enum err e = grant_end(q);
    return e ? e : reply_ok(p, 200, &unlock_revoked_shape, unlock_revoked_body(&q->tx, &q->path_id));
}

bool grant_filters(const void *query)
{
    const struct grant_filter *f = query;
    return v_set(f->type) || v_set(f->status) || v_set(f->enabled);
}

#define TAG "Access grants"

static const struct route rows[] = {
    ROUTE("getUnlock", GET, "/v1/unlock/{id}", .credential = CRED_KEY, .people = PEOPLE_ALL,
          .scopes = SCOPE(ACCESS_READ), .limit = LIMIT_KEY, .building = BUILDING_HEADER, .run = RUN_READ,
          .handler = get_unlock, .reply = &unlock_shape, .flags = ROUTE_ETAG | ROUTE_SITE,
          .store_error = ERR_FETCH_FAILED, .earlier = &earlier_rows[EARLIER_GET_UNLOCK],
          .doc = ROUTE_DOC(TAG, 200, "Read a grant, even if revoked",
                           .description = "Send the `ETag` of the response as `If-Match` with a change. A passcode's "
                                          "`access_code` is a secret of its visitor.",
                           .errors = ROUTE_ERRORS(ERR_NOT_FOUND))),
    ROUTE("listUnlocks", GET, "/v1/unlock", .credential = CRED_KEY, .people = PEOPLE_ALL, .scopes = SCOPE(ACCESS_READ),
          .limit = LIMIT_KEY, .building = BUILDING_HEADER, .query = &unlock_query_shape, .run = RUN_READ,
          .lengthy = grant_filters, .handler = list_unlocks, .reply = &unlock_page_shape, .flags = ROUTE_SITE,
          .store_error = ERR_LIST_FAILED, .earlier = &earlier_rows[EARLIER_LIST_UNLOCK],
          .doc = ROUTE_DOC(
              TAG, 200, "List the grants that are not revoked, newest first",
              .description =
                  "While `has_more` is true, repeat the request with `pagination.cursor` and the same filters. "
                  "`status=active` matches a timer within its window, an enabled passcode that is neither expired nor "
                  "exhausted, and an enabled routine even outside its hours. `enabled` filters only by the switch.")),
    ROUTE("createUnlock", POST, "/v1/unlock", .credential = CRED_KEY, .people = PEOPLE_ALL,
          .scopes = SCOPE(ACCESS_WRITE), .limit = LIMIT_KEY, .building = BUILDING_HEADER, .idempotency = NEED_REQUIRED,
          .receipt = grant_receipt, .body = &unlock_create_shape, .body_error = ERR_INVALID_UNLOCK, .run = RUN_WRITE,
          .handler = create_unlock, .reply = &unlock_shape, .flags = ROUTE_ETAG | ROUTE_SITE,
          .store_error = ERR_CREATE_FAILED, .earlier = &earlier_rows[EARLIER_CREATE_UNLOCK],
          .doc = ROUTE_DOC(
              TAG, 201, "Create a grant",
              .description =
                  "A `timer` opens the door for everyone until its end, a `passcode` for visitors who enter its code, "
                  "a `routine` during a weekly window. A grant can be created before the subscription and the number "
                  "exist, but opens the door only with both. The reply is 201 with the grant; a replay returns 200 "
                  "with `Idempotency-Replayed: true` and the current grant.",
              .body_example = "{\"type\": \"passcode\", \"label\": \"Dog walker\", \"expires_in_minutes\": 1440, "
                              "\"remaining_uses\": 2}",
              .other_status = 200, .flags = DOC_LOCATION | DOC_REPLAY,
              .errors = ROUTE_ERRORS(ERR_PLAN_UPGRADE_REQUIRED, ERR_MULTI_BUILDING_REQUIRED))),
    ROUTE("updateUnlock", PATCH, "/v1/unlock/{id}", .credential = CRED_KEY, .people = PEOPLE_ALL,
          .scopes = SCOPE(ACCESS_WRITE), .limit = LIMIT_KEY, .building = BUILDING_HEADER, .match = MATCH_GRANT,
          .body = &unlock_update_shape, .body_error = ERR_INVALID_UNLOCK, .run = RUN_WRITE, .handler = update_unlock,
          .reply = &unlock_shape, .flags = ROUTE_ETAG | ROUTE_SITE, .store_error = ERR_UPDATE_FAILED,
          .earlier = &earlier_rows[EARLIER_UPDATE_UNLOCK],
          .doc =
              ROUTE_DOC(TAG, 200, "Change a grant",
                        .description = "Send only the fields that change. They must belong to the grant's type, which "
                                       "cannot change. `{\"enabled\": false}` disables a grant under any plan. It ends "
                                       "a timer, which then needs a new end to be enabled again. `remaining_uses` "
                                       "resets the count. A revoked grant stays revoked (409 `GRANT_REVOKED`).",
                        .body_example = "{\"label\": \"Dog walker, July\", \"remaining_uses\": 5}",
                        .errors = ROUTE_ERRORS(ERR_PLAN_UPGRADE_REQUIRED, ERR_MULTI_BUILDING_REQUIRED, ERR_NOT_FOUND,
                                               ERR_VERSION_CONFLICT, ERR_GRANT_REVOKED))),
    ROUTE("revokeUnlock", DELETE, "/v1/unlock/{id}", .credential = CRED_KEY, .people = PEOPLE_ALL,
          .scopes = SCOPE(ACCESS_WRITE), .limit = LIMIT_KEY, .building = BUILDING_HEADER,
          .query = &grant_revocation_shape, .run = RUN_WRITE, .handler = revoke_unlock, .reply = &unlock_revoked_shape,
          .flags = ROUTE_SITE, .store_error = ERR_DELETE_FAILED,
          .doc =
              ROUTE_DOC(TAG, 200, "Revoke a grant permanently; can be repeated",
                        .description = "A revoked grant never opens the door again. It can be read but is not "
                                       "listed. Other grants may still open the door. With `forget=true`, also for one "
                                       "that was revoked before, nothing names its visitor any more.",
                        .errors = ROUTE_ERRORS(ERR_NOT_FOUND))),
};

const struct route_set grant_routes = ROUTE_SET(rows);
