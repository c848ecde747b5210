#include "resources/routes.h"

#include "api/cookie.h"
#include "domain/account.h"
#include "domain/browser.h"
#include "domain/place.h"

#define TAG "Browsers"

/* ---- bodies ---- */

struct place_body {
    struct val id, label, role, current, missing;
};
static const char *const roles[] = {"owner", "resident", "manager", NULL};
static const struct field place_fields[] = {
    FIELD(struct place_body, id, T_ID, .flags = F_REQUIRED, .doc = "of the building"),
    FIELD(struct place_body, label, T_STRING, .flags = F_REQUIRED),
    FIELD(struct place_body, role, T_STRING, .flags = F_REQUIRED, .values = roles),
    FIELD(struct place_body, current, T_BOOL, .flags = F_REQUIRED,
          .doc = "true for those that the browser is signed in to"),
    FIELD(struct place_body, missing, T_STRINGS, .flags = F_REQUIRED | F_NULLABLE, .values = ready_codes,
          .doc = "what it lacks until grants open the door; null: of another account"),
};
static const struct shape place_shape = SHAPE(struct place_body, "Place", place_fields);

struct places_body {
    struct val data, can_create;
};
static const struct field places_fields[] = {
    FIELD(struct places_body, data, T_OBJECTS, .flags = F_REQUIRED, .sub = &place_shape,
          .doc = "the account's buildings, then the others"),
    FIELD(struct places_body, can_create, T_BOOL, .flags = F_REQUIRED,
          .doc = "the person has no account, and createPlace makes one"),
};
static const struct shape places_shape = SHAPE(struct places_body, "Places", places_fields);

struct switched_body {
    struct val switched;
};
static const struct field switched_fields[] = {
    FIELD(struct switched_body, switched, T_BOOL, .flags = F_REQUIRED | F_CONST),
};
static const struct shape switched_shape = SHAPE(struct switched_body, "Switched", switched_fields);

/* ---- handlers ---- */

static struct val missing_of(struct arena *a, const struct account *account, const struct building *b)
{
    const struct ready facts = account_ready(account, b);
    const unsigned lacks = ready_lacks(&facts);
    struct val *codes = arena_array(a, struct val, READY_PARTS);
    size_t n = 0;
    for (unsigned part = 0; part < READY_PARTS; part++)
        if (lacks >> part & 1)
            codes[n++] = v_str(str_z(ready_codes[part]));
    return v_list(codes, n);
}

static enum err list_places(struct request *q, struct reply *p)
{
    struct places places;
    struct account account = {0};
    size_t n = 0;
    enum err e = place_list(&q->tx, &q->who, &places);
    if (!e && places.building_count)
        e = account_get(&q->tx, &places.buildings[0].account_id, &account);
    if (e)
        return e;
    struct place_body *items =
        arena_array(q->tx.arena, struct place_body, places.building_count + places.member_count + 1);
    const bool visits = id_given(&q->who.member_id), bound = !visits && id_given(&q->who.building_id);
    for (size_t i = 0; i < places.building_count; i++) {
        const struct building *b = &places.buildings[i];
        if (bound && !id_equal(&b->id, &q->who.building_id))
            continue;
        items[n++] = (struct place_body){v_str(id_str(&b->id)), v_str(b->label), v_str(STR("owner")), v_bool(!visits),
                                         missing_of(q->tx.arena, &account, b)};
    }
    for (size_t i = 0; i < places.member_count; i++) {
        const struct member *m = &places.members[i];
        items[n++] = (struct place_body){v_str(id_str(&m->building_id)), v_str(m->building_label),
                                         v_str(member_role_text(m->role)), v_bool(id_equal(&m->id, &q->who.member_id)),
                                         v_null()};
    }
    return reply_copy(q, p, 200, &places_shape,
                      &(struct places_body){.data = v_list(items, n), .can_create = v_bool(places.can_create)});
}

/* The browser of the request, which its cookie names, becomes the browser of that key's person. */
static enum err become(struct request *q, struct reply *p, const struct key_options *key)
{
    struct str cookie;
    unsigned char hash[SHA256_LEN];
    const bool same = id_equal(&key->account_id, &q->who.account_id) && id_equal(&key->member_id, &q->who.member_id);
    if (!same) {
        if (!cookie_of(q->http, &cookie))
            return ERR_INVALID_KEY;
        browser_hash(cookie, hash);
        enum err e = browser_switch(&q->tx, hash, &q->who.key_id, key);
        if (e)
            return e;
    }
    return reply_copy(q, p, 200, &switched_shape, &(struct switched_body){.switched = v_bool(true)});
}

static enum err switch_place(struct request *q, struct reply *p)
{
    struct key_options key;
    enum err e = place_switch(&q->tx, &q->who, &q->path_id, &key);
    return e ? e : become(q, p, &key);
}

static enum err create_place(struct request *q, struct reply *p)
{
    struct key_options key;
    enum err e = place_own(&q->tx, &q->who, &key);
    return e ? e : become(q, p, &key);
}

#define ROW .credential = CRED_WEB_SESSION, .people = PEOPLE_ALL, .scopes = SCOPE(ACCOUNT_READ)

static const struct route rows[] = {
    ROUTE("listPlaces", GET, "/v1/places", ROW, .limit = LIMIT_KEY, .run = RUN_READ, .handler = list_places,
          .reply = &places_shape, .flags = ROUTE_SITE_ONLY, .store_error = ERR_LIST_FAILED,
          .doc = ROUTE_DOC(TAG, 200, "List the buildings of the person",
                           .description = "Those of the account with the person's address, and those that the address "
                                          "is a member of.",
                           .flags = DOC_EXTENSION)),
    ROUTE("switchPlace", POST, "/v1/places/{id}", ROW, .limit = LIMIT_AUTH, .run = RUN_WRITE, .handler = switch_place,
          .reply = &switched_shape, .flags = ROUTE_SITE_ONLY | ROUTE_RECHECKS_KEY, .store_error = ERR_UPDATE_FAILED,
          .doc = ROUTE_DOC(TAG, 200, "Sign the calling browser in to another building of the person",
                           .description = "The browser keeps its cookie and its end. It is signed in as the owner or "
                                          "as the member that the person is there.",
                           .flags = DOC_EXTENSION, .errors = ROUTE_ERRORS(ERR_NOT_FOUND))),
    ROUTE("createPlace", POST, "/v1/places", ROW, .limit = LIMIT_AUTH, .run = RUN_WRITE, .handler = create_place,
          .reply = &switched_shape, .flags = ROUTE_SITE_ONLY | ROUTE_RECHECKS_KEY, .store_error = ERR_CREATE_FAILED,
          .doc = ROUTE_DOC(TAG, 200, "Sign the calling browser in to an account of the person's own",
                           .description = "Makes the account if there is none: a member can have a building, too. "
                                          "404 where only listed addresses have accounts.",
                           .flags = DOC_EXTENSION, .errors = ROUTE_ERRORS(ERR_NOT_FOUND))),
};
const struct route_set place_routes = ROUTE_SET(rows);
