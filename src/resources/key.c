#include "resources/routes.h"

#include "api/cookie.h"
#include "api/door_site.h"
#include "api/scopes.h"
#include "domain/grant_made.h"
#include "domain/key.h"
#include "domain/place.h"
#include "resources/earlier_keys.h"
#include "resources/key.h"

#define DAY_S 86400

/* ---- bodies ---- */

static const struct field key_request_fields[] = {
    KEY_REQUEST_FIELDS(scope_values, SCOPE_VALUES, "account:read, access:read, access:write, logs:read")};
static const struct shape key_request_shape = SHAPE(struct key_request, "KeyRequest", key_request_fields);

struct agent_credential {
    struct val id, api_key, scopes, expires_at, message;
};
static const struct field agent_credential_fields[] = {
    FIELD(struct agent_credential, id, T_ID, .flags = F_REQUIRED),
    FIELD(struct agent_credential, api_key, T_STRING, .flags = F_REQUIRED | F_SECRET, .doc = "shown once"),
    FIELD(struct agent_credential, scopes, T_STRINGS, .flags = F_REQUIRED, .values = scope_values),
    FIELD(struct agent_credential, expires_at, T_TIME, .flags = F_REQUIRED),
    FIELD(struct agent_credential, message, T_STRING, .flags = F_REQUIRED),
};
const struct shape agent_credential_shape = SHAPE(struct agent_credential, "AgentCredential", agent_credential_fields);

struct key_item {
    struct val id, name, scopes, expires_at, last_used_at, type, current;
};
static const char *const key_types[] = {"web_session", "agent", NULL};
static const struct field key_item_fields[] = {
    FIELD(struct key_item, id, T_ID, .flags = F_REQUIRED),
    FIELD(struct key_item, name, T_STRING, .flags = F_REQUIRED),
    FIELD(struct key_item, scopes, T_STRINGS, .values = scope_values_all,
          .doc = "webhooks:write and owner: only of keys made under the earlier revision of the interface"),
    FIELD(struct key_item, expires_at, T_TIME, .flags = F_NULLABLE),
    FIELD(struct key_item, last_used_at, T_TIME, .flags = F_NULLABLE, .doc = "to the minute, with some delay"),
    FIELD(struct key_item, type, T_STRING, .flags = F_REQUIRED, .values = key_types),
    FIELD(struct key_item, current, T_BOOL, .flags = F_REQUIRED, .doc = "true for the calling session"),
};
static const struct shape key_item_shape = SHAPE(struct key_item, "Key", key_item_fields);

struct key_list {
    struct val data;
};
static const struct field key_list_fields[] = {
    FIELD(struct key_list, data, T_OBJECTS, .flags = F_REQUIRED, .sub = &key_item_shape, .doc = "newest first"),
};
static const struct shape key_list_shape = SHAPE(struct key_list, "KeyList", key_list_fields);

struct revoke_query {
    struct val end_grants;
};
struct revoked {
    struct val id, revoked, revoked_count, grants_left, grants_ended;
};
#define REVOKED FIELD(struct revoked, revoked, T_BOOL, .flags = F_REQUIRED | F_CONST)
#define GRANTS                                                                                                         \
    FIELD(struct revoked, grants_left, T_INT, .flags = F_REQUIRED,                                                     \
          .doc = "grants that the key created and that still open, or will; counted up to 1001"),                      \
        FIELD(struct revoked, grants_ended, T_INT, .flags = F_REQUIRED, .doc = "grants that were revoked with it")
static const struct field revoked_fields[] = {REVOKED};
static const struct shape revoked_shape = SHAPE(struct revoked, "Revoked", revoked_fields);
static const struct field key_revoked_fields[] = {
    FIELD(struct revoked, id, T_ID, .flags = F_REQUIRED),
    REVOKED,
    GRANTS,
};
static const struct field revoke_fields[] = {
    FIELD(struct revoke_query, end_grants, T_BOOL, .error = ERR_INVALID_FILTER,
          .doc = "true: also revoke the grants that the key created, up to 1000"),
};
static const struct shape revoke_shape = SHAPE(struct revoke_query, "RevokeKeyQuery", revoke_fields);
static const struct shape key_revoked_shape = SHAPE(struct revoked, "KeyRevoked", key_revoked_fields);
static const struct field keys_revoked_fields[] = {
    REVOKED,
    FIELD(struct revoked, revoked_count, T_INT, .flags = F_REQUIRED),
    GRANTS,
};
static const struct shape keys_revoked_shape = SHAPE(struct revoked, "KeysRevoked", keys_revoked_fields);

/* ---- handlers ---- */

enum err key_post(struct request *q, struct reply *p)
{
    const struct key_request *body = q->body;
    struct key_options options = {
        .kind = KEY_AGENT,
        .account_id = q->who.account_id,
        .name = v_given(body->name) ? body->name.s : STR("Delivery agent"),
        .ttl_s = (v_given(body->expires_in_days) ? body->expires_in_days.i : KEY_DAYS_DEFAULT) * DAY_S,
    };
    struct key_issued key;
    enum err e = key_scopes(&q->tx, q->route->handler_data, body->scopes, q->who.scopes, &options.scopes);
    if (!e)
        e = key_issue(&q->tx, &options, &key);
    if (e)
        return e;
    struct agent_credential *r = arena_new(q->tx.arena, struct agent_credential);
    r->id = v_str(arena_str(q->tx.arena, id_str(&key.id)));
    r->api_key = v_str(arena_str(q->tx.arena, str_z(key.text)));
    r->scopes = scope_list(q->tx.arena, key.scopes);
    r->expires_at = v_time(key.expires_at_us);
    r->message = v_str(STR("Store this key now. It is not shown again."));
    crypto_wipe(&key, sizeof key);
    return reply_ok(p, 201, &agent_credential_shape, r);
}

static struct key_item key_item(struct request *q, const struct key_entry *k)
{
    return (struct key_item){
        .id = v_str(id_str(&k->id)),
        .name = v_str(k->name),
        .scopes = scope_list(q->tx.arena, k->scopes),
        .expires_at = k->expires_at_us == INT64_MAX ? v_null() : v_time(k->expires_at_us),
        .last_used_at = v_time_or_null(k->last_used_us),
        .type = v_str(str_z(key_types[k->kind != KEY_WEB_SESSION])),
        .current = v_bool(id_equal(&k->id, &q->who.key_id)),
    };
}

static enum err get_keys(struct request *q, struct reply *p)
{
    const struct key_entry *keys;
    size_t count;
    enum err e = key_list(&q->tx, &q->who.account_id, &keys, &count);
    if (e)
        return e;
    struct key_item *items = arena_array(q->tx.arena, struct key_item, count);
    for (size_t i = 0; i < count; i++)
        items[i] = key_item(q, &keys[i]);
    return reply_copy(q, p, 200, &key_list_shape, &(struct key_list){.data = v_list(items, count)});
}

static enum err delete_own_key(struct request *q, struct reply *p)
{
    enum err e = key_revoke(&q->tx, &q->who.account_id, &q->who.key_id);
    if (e)
        return e;
    if (q->door == &door_site)
        reply_header(p, "Set-Cookie", cookie_clear());
    return reply_copy(q, p, 200, &revoked_shape, &(struct revoked){.revoked = v_bool(true)});
}

/* The reply to a revocation in this transaction, with the grants that it leaves; `count`: of keys. */
static enum err reply_keys_revoked(struct request *q, struct reply *p, int64_t count)
{
    const struct revoke_query *query = q->query;
    struct grants_left grants;
    enum err e =
        grant_made_leave(&q->tx, &q->who.account_id, NULL, v_set(query->end_grants) && query->end_grants.b, &grants);
    if (e)
        return e;
    struct revoked *r = arena_new(q->tx.arena, struct revoked);
    *r = (struct revoked){
        .id = v_str(id_str(&q->path_id)),
        .revoked = v_bool(true),
        .revoked_count = v_int(count),
        .grants_left = v_int(grants.left),
        .grants_ended = v_int(grants.ended),
    };
    return reply_ok(p, 200, q->route->reply, r);
}

static enum err delete_key(struct request *q, struct reply *p)
{
    enum err e = key_revoke(&q->tx, &q->who.account_id, &q->path_id);
    return e ? e : reply_keys_revoked(q, p, 1);
}

static enum err post_revoke_others(struct request *q, struct reply *p)
{
    int64_t count;
    enum err e = key_revoke_others(&q->tx, &q->who.account_id, &q->who.key_id, &count);
    if (!e)
        e = place_end_visits(&q->tx, &q->who); /* from which a browser could switch back */
    return e ? e : reply_keys_revoked(q, p, count);
}

static const struct route rows[] = {
    ROUTE("revokeOwnKey", DELETE, "/v1/auth/key", .credential = CRED_KEY, .people = PEOPLE_ALL, .limit = LIMIT_AUTH,
          .run = RUN_WRITE, .handler = delete_own_key, .reply = &revoked_shape,
          .flags = ROUTE_RECHECKS_KEY | ROUTE_SITE, .store_error = ERR_DELETE_FAILED,
          .doc = ROUTE_DOC("Sign-in and keys", 200, "Revoke the calling key",
                           .description = "Signs out. Later requests with the key are refused.")),
    ROUTE("createKey", POST, "/v1/auth/keys", .credential = CRED_WEB_SESSION, .scopes = SCOPE(KEYS_WRITE),
          .limit = LIMIT_AUTH, .body = &key_request_shape, .body_error = ERR_INVALID_KEY_OPTIONS, .run = RUN_WRITE,
          .handler = key_post, .handler_data = &key_scopes_current, .reply = &agent_credential_shape,
          .flags = ROUTE_RECHECKS_KEY | ROUTE_SITE, .store_error = ERR_CREATE_FAILED,
          .earlier = &earlier_key_rows[EARLIER_CREATE_KEY],
          .doc =
              ROUTE_DOC("Sign-in and keys", 201, "Create an agent key",
                        .description = "`api_key` is shown only once. A key holds only scopes of its session, never "
                                       "`keys:write`. It outlives the session. At most 20 keys are active at a time.",
                        .body_example = "{\"name\": \"Delivery agent\", \"scopes\": [\"account:read\", "
                                        "\"access:read\", \"access:write\"], \"expires_in_days\": 30}",
                        .errors = ROUTE_ERRORS(ERR_KEY_LIMIT))),
    ROUTE("listKeys", GET, "/v1/auth/keys", .credential = CRED_WEB_SESSION, .scopes = SCOPE(KEYS_WRITE),
          .limit = LIMIT_AUTH, .run = RUN_READ, .handler = get_keys, .reply = &key_list_shape, .flags = ROUTE_SITE,
          .store_error = ERR_LIST_FAILED,
          .doc = ROUTE_DOC("Sign-in and keys", 200, "List the keys that are not revoked",
                           .description = "Newest first, without secrets. Expired keys stay listed for a while. "
                                          "`current` marks the calling session.")),
    ROUTE("revokeKey", DELETE, "/v1/auth/keys/{id}", .credential = CRED_WEB_SESSION, .scopes = SCOPE(KEYS_WRITE),
          .limit = LIMIT_AUTH, .query = &revoke_shape, .run = RUN_WRITE, .handler = delete_key,
          .reply = &key_revoked_shape, .flags = ROUTE_RECHECKS_KEY | ROUTE_SITE, .store_error = ERR_DELETE_FAILED,
          .doc = ROUTE_DOC("Sign-in and keys", 200, "Revoke a key",
                           .description =
                               "Any key of the account, including the calling one, which is then signed out. Grants "
                               "that the key created go on opening the door unless `end_grants` is true.",
                           .errors = ROUTE_ERRORS(ERR_NOT_FOUND))),
    ROUTE("revokeOtherKeys", POST, "/v1/auth/keys/revoke-others", .credential = CRED_WEB_SESSION,
          .scopes = SCOPE(KEYS_WRITE), .limit = LIMIT_AUTH, .query = &revoke_shape, .run = RUN_WRITE,
          .handler = post_revoke_others, .reply = &keys_revoked_shape, .flags = ROUTE_RECHECKS_KEY | ROUTE_SITE,
          .store_error = ERR_UPDATE_FAILED,
          .doc = ROUTE_DOC("Sign-in and keys", 200, "Revoke all active keys except the calling one",
                           .description = "For use after a key may have leaked: only the calling session stays valid. "
                                          "Grants that the others created go on opening the door unless `end_grants` "
                                          "is true, also those that the resident created in other browsers.")),
};
const struct route_set key_routes = ROUTE_SET(rows);
