#include "resources/earlier.h"

#include "base/forms.h"
#include "domain/settings.h"
#include "resources/earlier_body.h"
#include "resources/grant.h"
#include "resources/routes.h"
#include "resources/settings.h"

/* ---- grants ---- */

static enum err reply_earlier(struct request *q, struct reply *p, int status, const struct grant *g)
{
    reply_version(q, p, g->version);
    return reply_ok(p, status, &earlier_unlock_shape, earlier_unlock_body(&q->tx, &q->building_id, g));
}

/* A refusal, in the earlier names. */
static enum err refuse_earlier(struct request *q, enum err e)
{
    if (e == ERR_INVALID_UNLOCK)
        earlier_why(&q->tx);
    return e;
}

/* As for a body whose fields are invalid, a used Idempotency-Key comes first. */
static enum err create_input(struct request *q, struct grant_input *ret)
{
    enum err e = earlier_create_input(&q->tx, q->body, ret);
    if (!e)
        return e;
    const struct str why = q->tx.why;
    const enum err used = grant_receipt(q);
    q->tx.why = why;
    return used && used != ERR_NOT_FOUND ? used : e;
}

static enum err earlier_create(struct request *q, struct reply *p)
{
    const struct grant_place place = grant_place_of(q);
    struct grant *g = arena_new(q->tx.arena, struct grant);
    struct grant_input in;
    bool replayed;
    enum err e = create_input(q, &in);
    if (!e)
        e = grant_create(&q->tx, &place, &in, &(struct grant_request){.id = q->idempotency_key, .hash = q->body_hash},
                         g, &replayed);
    if (e)
        return refuse_earlier(q, e);
    if (replayed)
        reply_header(p, "Idempotency-Replayed", STR("true"));
    else
        reply_header(p, "Location", arena_printf(q->tx.arena, "/v1/unlock/%s", g->id.text));
    return reply_earlier(q, p, replayed ? 200 : 201, g);
}

static enum err earlier_list(struct request *q, struct reply *p)
{
    struct grant_page page;
    enum err e = grant_list(&q->tx, &q->building_id, q->query, &page);
    return e ? e : reply_ok(p, 200, &earlier_page_shape, earlier_page_body(&q->tx, &q->building_id, &page));
}

static enum err earlier_get(struct request *q, struct reply *p)
{
    const struct grant_place place = grant_place_of(q);
    struct grant *g = arena_new(q->tx.arena, struct grant);
    enum err e = grant_get(&q->tx, &place, &q->path_id, g);
    return e ? e : reply_earlier(q, p, 200, g);
}

/* The type is known when the change is made; if the minutes are not of that type, the transaction is rolled back. */
static enum err earlier_update(struct request *q, struct reply *p)
{
    const struct grant_place place = grant_place_of(q);
    const struct grant_input in = earlier_update_input(q->body);
    struct grant *g = arena_new(q->tx.arena, struct grant);
    enum err e = grant_update(&q->tx, &place, &q->path_id, q->match_version, &in, g);
    if (!e)
        e = earlier_check_minutes(&q->tx, q->body, g->type);
    return e ? refuse_earlier(q, e) : reply_earlier(q, p, 200, g);
}

/* ---- setup ---- */

struct setup_request {
    struct val unlock_tone;
};
static const struct field setup_request_fields[] = {
    FIELD(struct setup_request, unlock_tone, T_STRING, .flags = F_REQUIRED, TONE_FORM, .error = ERR_INVALID_TONE),
};
static const struct shape setup_request_shape =
    SHAPE(struct setup_request, "EarlierSetupRequest", setup_request_fields);

struct setup_updated {
    struct val building_id, virtual_number, unlock_tone, physical_test_required;
};
static const struct field setup_updated_fields[] = {
    FIELD(struct setup_updated, building_id, T_ID, .flags = F_REQUIRED),
    FIELD(struct setup_updated, virtual_number, T_STRING, .flags = F_REQUIRED),
    FIELD(struct setup_updated, unlock_tone, T_STRING, .flags = F_REQUIRED),
    FIELD(struct setup_updated, physical_test_required, T_BOOL, .flags = F_REQUIRED | F_CONST),
};
static const struct shape setup_updated_shape =
    SHAPE(struct setup_updated, "EarlierSetupUpdated", setup_updated_fields);

/* The request names no version: the last of two at the same time wins. */
static enum err patch_setup(struct request *q, struct reply *p)
{
    const struct setup_request *b = q->body;
    const struct settings_patch patch = {.door = door_unchanged, .unlock_tone = b->unlock_tone.s};
    struct settings s;
    enum err e = settings_get(&q->tx, &q->who.account_id, &q->building_id, &s);
    if (!e)
        e = settings_patch(&q->tx, &q->who, &q->building_id, q->building_linked, s.version, &patch, &s);
    if (e)
        return e == ERR_SETTINGS_VERSION_CONFLICT ? ERR_RETRY : e;
    return reply_copy(q, p, 200, &setup_updated_shape,
                      &(struct setup_updated){
                          .building_id = v_str(id_str(&q->building_id)),
                          .virtual_number = v_str(s.number),
                          .unlock_tone = v_str(s.unlock_tone),
                          .physical_test_required = v_bool(true),
                      });
}

/* ---- rows ---- */

#define GRANTS                                                                                                         \
    .credential = CRED_KEY, .people = PEOPLE_ALL, .limit = LIMIT_KEY, .building = BUILDING_HEADER,                     \
    .reply = &earlier_unlock_shape
#define SETUP .limit = LIMIT_KEY, .building = BUILDING_HEADER, .flags = ROUTE_EARLIER

const struct route earlier_rows[EARLIER_ROWS] = {
    [EARLIER_GET_UNLOCK] =
        ROUTE("earlierGetUnlock", GET, "/v1/unlock/{id}", GRANTS, .scopes = SCOPE(ACCESS_READ), .run = RUN_READ,
              .handler = earlier_get, .flags = ROUTE_ETAG, .store_error = ERR_FETCH_FAILED,
              .doc = ROUTE_DOC("Access grants", 200, "Read a grant, even if revoked")),
    [EARLIER_LIST_UNLOCK] = ROUTE(
        "earlierListUnlocks", GET, "/v1/unlock", .credential = CRED_KEY, .people = PEOPLE_ALL, .limit = LIMIT_KEY,
        .building = BUILDING_HEADER, .scopes = SCOPE(ACCESS_READ), .query = &earlier_query_shape, .run = RUN_READ,
        .lengthy = grant_filters, .handler = earlier_list, .reply = &earlier_page_shape, .store_error = ERR_LIST_FAILED,
        .doc = ROUTE_DOC("Access grants", 200, "List the grants that are not revoked, newest first")),
    [EARLIER_CREATE_UNLOCK] = ROUTE("earlierCreateUnlock", POST, "/v1/unlock", GRANTS, .scopes = SCOPE(ACCESS_WRITE),
                                    .idempotency = NEED_REQUIRED, .receipt = grant_receipt,
                                    .body = &earlier_create_shape, .body_error = ERR_INVALID_UNLOCK, .run = RUN_WRITE,
                                    .handler = earlier_create, .flags = ROUTE_ETAG, .store_error = ERR_CREATE_FAILED,
                                    .doc = ROUTE_DOC("Access grants", 201, "Create a grant", .other_status = 200,
                                                     .flags = DOC_LOCATION | DOC_REPLAY)),
    [EARLIER_UPDATE_UNLOCK] =
        ROUTE("earlierUpdateUnlock", PATCH, "/v1/unlock/{id}", GRANTS, .scopes = SCOPE(ACCESS_WRITE),
              .match = MATCH_GRANT, .body = &earlier_update_shape, .body_error = ERR_INVALID_UNLOCK, .run = RUN_WRITE,
              .handler = earlier_update, .flags = ROUTE_ETAG, .store_error = ERR_UPDATE_FAILED,
              .doc = ROUTE_DOC("Access grants", 200, "Change a grant")),
    [EARLIER_GET_SETUP] =
        ROUTE("earlierGetSetup", GET, "/v1/setup", SETUP, .credential = CRED_KEY, .scopes = SCOPE(ACCOUNT_READ),
              .run = RUN_READ, .handler = settings_get_setup, .reply = &settings_earlier_setup_shape,
              .store_error = ERR_FETCH_FAILED, .doc = ROUTE_DOC("Buildings", 200, "The setup status of a building")),
    [EARLIER_UPDATE_SETUP] = ROUTE(
        "earlierUpdateSetup", PATCH, "/v1/setup", SETUP, .credential = CRED_OWNER,
        .parent_error = ERR_NUMBER_OWNER_REQUIRED, .scopes = SCOPE(SETUP_WRITE), .body = &setup_request_shape,
        .body_error = ERR_INVALID_SETTINGS, .run = RUN_WRITE, .handler = patch_setup, .reply = &setup_updated_shape,
        .store_error = ERR_UPDATE_FAILED, .doc = ROUTE_DOC("Buildings", 200, "Change a building's release tone")),
};

const struct route_set earlier_routes = {&earlier_rows[EARLIER_GET_SETUP], EARLIER_ROWS - EARLIER_GET_SETUP};
