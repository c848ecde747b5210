/* Keys issued by the operator, for a building or a member (KEY-22, KEY-23). */
#include "admin/routes.h"
#include "api/scopes.h"
#include "domain/key.h"
#include "domain/member.h"
#include "domain/owner.h"

#define SECONDS_PER_DAY 86400
#define MEMBER_SCOPES   (SCOPE(ACCOUNT_READ) | SCOPE(ACCESS_READ) | SCOPE(ACCESS_WRITE) | SCOPE(LOGS_READ))

struct key_body {
    struct val building_id, member_id, scopes, name, expires_in_days;
};
struct key_reply {
    struct val id, api_key, building_id, member_id, scopes, expires_at;
};

static const struct field body_fields[] = {
    FIELD(struct key_body, building_id, T_ID, .error = ERR_INVALID_BUILDING),
    FIELD(struct key_body, member_id, T_ID, .error = ERR_INVALID_ID),
    FIELD(struct key_body, scopes, T_STRINGS, .min = 1, .max = SCOPE_COUNT),
    FIELD(struct key_body, name, T_STRING, .flags = F_TRIM | F_NONBLANK, .max = KEY_NAME_MAX),
    FIELD(struct key_body, expires_in_days, T_INT, .min = 1, .max = KEY_DAYS_MAX),
};
static const struct shape body_shape = SHAPE(struct key_body, "AdminKeyCreate", body_fields);

static const struct field reply_fields[] = {
    FIELD(struct key_reply, id, T_ID, .flags = F_REQUIRED),
    FIELD(struct key_reply, api_key, T_STRING, .flags = F_REQUIRED | F_SECRET, .doc = "shown only once"),
    FIELD(struct key_reply, building_id, T_ID, .flags = F_REQUIRED),
    FIELD(struct key_reply, member_id, T_ID),
    FIELD(struct key_reply, scopes, T_STRINGS, .flags = F_REQUIRED),
    FIELD(struct key_reply, expires_at, T_TIME, .flags = F_REQUIRED),
};
static const struct shape reply_shape = SHAPE(struct key_reply, "AdminKey", reply_fields);

/* Finds account, building and member of the key, and the scopes it may have. */
static enum err find_holder(struct tx *tx, const struct key_body *body, struct key_options *ret, uint32_t *ret_most)
{
    if (v_set(body->building_id) == v_set(body->member_id))
        return tx_fail(tx, ERR_INVALID_KEY_OPTIONS, "exactly one of building_id and member_id is required");
    if (v_set(body->building_id)) {
        *ret_most = ~0u;
        ret->building_id = admin_id(body->building_id);
        return building_owner(tx, &ret->building_id, &ret->account_id);
    }
    struct member member;
    struct id id = admin_id(body->member_id);
    enum err e = member_get(tx, &id, &member);
    if (e)
        return e == ERR_NOT_FOUND ? tx_fail(tx, e, "member not found") : e;
    *ret_most = MEMBER_SCOPES;
    ret->member_id = member.id;
    ret->building_id = member.building_id;
    ret->account_id = member.account_id;
    return ERR_NONE;
}

static enum err create_key(struct request *q, struct reply *p)
{
    const struct key_body *body = q->body;
    struct key_options options = {.kind = KEY_AGENT};
    struct key_issued issued;
    uint32_t most;
    enum err e = find_holder(&q->tx, body, &options, &most);
    if (!e)
        e = key_scopes(&q->tx, &key_scopes_current, body->scopes, most, &options.scopes);
    if (e)
        return e;
    options.name = v_set(body->name) ? body->name.s : v_set(body->member_id) ? STR("Member key") : STR("Building key");
    int64_t days = v_set(body->expires_in_days) ? body->expires_in_days.i : KEY_DAYS_DEFAULT;
    options.ttl_s = days * SECONDS_PER_DAY;
    e = key_issue(&q->tx, &options, &issued);
    if (e)
        return e;
    struct key_reply *reply = arena_new(q->tx.arena, struct key_reply);
    *reply = (struct key_reply){
        .id = v_str(arena_str(q->tx.arena, id_str(&issued.id))),
        .api_key = v_str(arena_str(q->tx.arena, str_z(issued.text))),
        .building_id = v_str(arena_str(q->tx.arena, id_str(&options.building_id))),
        .scopes = scope_list(q->tx.arena, issued.scopes),
        .expires_at = v_time(issued.expires_at_us),
    };
    if (id_given(&options.member_id))
        reply->member_id = v_str(arena_str(q->tx.arena, id_str(&options.member_id)));
    q->subject = arena_printf(q->tx.arena, "building=%s key=%s", options.building_id.text, issued.id.text);
    crypto_wipe(issued.text, sizeof issued.text);
    return reply_ok(p, 201, &reply_shape, reply);
}

static const struct route rows[] = {
    ROUTE("adminCreateKey", POST, "/admin/keys", .credential = CRED_CONTROL, .body = &body_shape,
          .body_error = ERR_INVALID_KEY_OPTIONS, .run = RUN_WRITE, .handler = create_key, .reply = &reply_shape,
          .doc = ROUTE_DOC("Keys", 201, "Issue a key for a building or a member")),
};
const struct route_set admin_key_routes = ROUTE_SET(rows);
