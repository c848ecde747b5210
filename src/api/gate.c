#include "api/gate.h"

#include <ctype.h>
#include <stdatomic.h>

#include "api/door.h"
#include "api/gate_auth.h"
#include "api/gate_loopback.h"
#include "domain/building.h"
#include "jobs/queue.h"

#define IDEMPOTENCY_MIN 16
#define IDEMPOTENCY_MAX 100

/* ---- the head ---- */

enum err gate_head(struct request *q)
{
    const struct http_peer *peer = &q->http->peer;
    if (!peer->secure && !peer->local)
        return ERR_HTTPS_REQUIRED;
    return ERR_NONE;
}

/* ---- limits ---- */

static enum err take_limit(struct gate *gate, struct request *q, enum limit_kind kind, struct str subject,
                           int64_t limit, enum err code)
{
    const unsigned nodes = gate->config->limits_shared && gate->jobs ? jobs_nodes(gate->jobs) : 1;
    limit = (limit + nodes - 1) / nodes;
    struct limit_state state = limit_take(gate->limiter, kind, subject, limit, q->tx.now_us);
    if (q->limits.tightest.limit == 0 || state.exceeded || state.remaining < q->limits.tightest.remaining)
        q->limits.tightest = state;
    if (!state.exceeded)
        return ERR_NONE;
    q->tx.retry_after_s = state.reset_s;
    return code;
}

static enum err take_all(struct gate *gate, struct request *q)
{
    const struct config *c = gate->config;
    const struct str block = limit_address_block(q->tx.arena, q->http->peer.address);
    enum err e = ERR_NONE;
    switch (q->route->limit) {
    case LIMIT_NONE:
    case LIMIT_KEY:
        break;
    case LIMIT_PLANS:
        e = take_limit(gate, q, LIMIT_PER_ADDRESS_PLANS, block, c->limits_plans_per_ip, ERR_RATE_LIMIT_EXCEEDED);
        break;
    case LIMIT_GUEST:
        e = take_limit(gate, q, LIMIT_PER_ADDRESS_GUEST, block, c->limits_guest_per_ip, ERR_RATE_LIMIT_EXCEEDED);
        break;
    case LIMIT_OAUTH:
        e = take_limit(gate, q, LIMIT_PER_ADDRESS_OAUTH, block, c->limits_oauth_per_ip, ERR_RATE_LIMIT_EXCEEDED);
        break;
    case LIMIT_AUTH:
    case LIMIT_OTP:
        e = take_limit(gate, q, LIMIT_PER_ADDRESS_AUTH, block, c->limits_auth_per_ip, ERR_AUTH_RATE_LIMIT);
        if (!e && q->route->limit == LIMIT_OTP)
            e = take_limit(gate, q, LIMIT_PER_ADDRESS_OTP, block, c->limits_otp_per_ip, ERR_OTP_RATE_LIMIT);
        break;
    }
    if (e || !id_given(&q->who.key_id) || q->route->limit == LIMIT_NONE)
        return e;
    int64_t limit = q->who.subscribed ? c->limits_requests_active : c->limits_requests_free;
    return take_limit(gate, q, LIMIT_PER_KEY, id_str(&q->who.key_id), limit, ERR_RATE_LIMIT_EXCEEDED);
}

/* A retried transaction must not count twice. */
static enum err check_limits(struct gate *gate, struct request *q)
{
    if (!q->limits.taken) {
        q->limits.taken = true;
        q->limits.result = take_all(gate, q);
    }
    return q->limits.result;
}

/* ---- the key ---- */

static bool admits_person(const struct route *route, const struct principal *who)
{
    return !principal_visits(who) || route->people & 1u << principal_role(who);
}

/* Whether the key is of the kind that the row needs; ERR_NONE: it is. */
static enum err check_kind(const struct route *route, const struct principal *who)
{
    switch (route->credential) {
    case CRED_WEB_SESSION:
        return who->web_session && admits_person(route, who) ? ERR_NONE : ERR_WEB_SESSION_REQUIRED;
    case CRED_OWNER:
        return id_given(&who->member_id) ? route->parent_error : ERR_NONE;
    case CRED_PARENT:
        return id_given(&who->building_id) ? route->parent_error : ERR_NONE;
    default:
        return ERR_NONE;
    }
}

static enum err check_credential(struct request *q)
{
    switch (q->route->credential) {
    case CRED_LOOPBACK:
        return gate_check_loopback(q);
    case CRED_CONTROL:
        return q->http->peer.local ? ERR_NONE : ERR_NOT_FOUND;
    default:
        return check_kind(q->route, &q->who);
    }
}

/* Keys of an account of the earlier revision get its rows, where the door has them. May run again, for a principal that
 * has changed. */
static enum err choose_revision(struct request *q)
{
    const bool earlier = q->who.earlier_revision && q->door->earlier;
    if (!q->asked)
        q->asked = q->route;
    if (q->asked->flags & ROUTE_EARLIER)
        return earlier ? ERR_NONE : ERR_NOT_FOUND;
    q->route = earlier && q->asked->earlier ? q->asked->earlier : q->asked;
    return ERR_NONE;
}

bool gate_admits(const struct route *route, const struct principal *who)
{
    return !check_kind(route, who) && admits_person(route, who) && !(route->scopes & ~who->scopes);
}

uint32_t gate_scopes(const struct request *q)
{
    return q->route->scopes | (q->door->scopes ? q->door->scopes(q) : 0);
}

static enum err check_person(struct request *q)
{
    if (admits_person(q->route, &q->who))
        return ERR_NONE;
    return q->route->flags & ROUTE_PAGE
               ? ERR_NOT_FOUND
               : tx_fail(&q->tx, ERR_INSUFFICIENT_SCOPE, "A member of the building may not do this.");
}

static enum err check_scopes(struct request *q)
{
    uint32_t missing = gate_scopes(q) & ~q->who.scopes;
    if (!missing)
        return ERR_NONE;
    q->tx.why =
        arena_printf(q->tx.arena, "The key lacks the scope %s.", scope_text((enum scope)__builtin_ctz(missing)));
    return ERR_INSUFFICIENT_SCOPE;
}

static enum err check_subscription(const struct request *q)
{
    return q->route->flags & ROUTE_SUBSCRIBED && !q->who.subscribed ? ERR_SUBSCRIPTION_REQUIRED : ERR_NONE;
}

/* ---- the building ---- */

/* The ID that the request names besides its path; ERR_NONE with an empty one if it does not. */
static enum err building_named(struct request *q, struct id *ret)
{
    size_t count;
    struct str text;
    enum err e = q->door->value(q, DOOR_BUILDING, &text, &count);
    *ret = (struct id){0};
    if (e || !count)
        return e;
    return count == 1 && id_parse(text, ret) ? ERR_NONE : ERR_INVALID_BUILDING;
}

enum err gate_select_building(struct request *q, const struct id *wanted)
{
    const struct principal *who = &q->who;
    if (id_given(&who->building_id)) {
        if (!id_equal(&who->building_id, wanted))
            return ERR_BUILDING_NOT_FOUND;
        q->building_linked = !id_equal(wanted, &who->primary_id);
    } else if (id_equal(wanted, &who->primary_id)) {
        q->building_linked = false;
    } else {
        enum err e = building_of(&q->tx, &who->account_id, wanted, &q->building_linked);
        if (e)
            return e;
    }
    q->building_id = *wanted;
    const struct id *by_key = id_given(&who->building_id) ? &who->building_id : &who->primary_id;
    q->building_number = id_equal(wanted, by_key) ? who->building_number : 0;
    return ERR_NONE;
}

static enum err building_by_name(struct request *q)
{
    struct id wanted;
    enum err e = building_named(q, &wanted);
    if (e)
        return e;
    if (!id_given(&wanted)) {
        if (!id_given(&q->who.building_id) && q->who.building_count > 1)
            return ERR_BUILDING_REQUIRED;
        wanted = id_given(&q->who.building_id) ? q->who.building_id : q->who.primary_id;
    }
    return gate_select_building(q, &wanted);
}

static enum err building_by_path(struct request *q)
{
    struct id wanted, named;
    if (!q->path_text.n) /* no path of HTTP */
        return building_by_name(q);
    if (!id_parse(q->path_text, &wanted))
        return ERR_INVALID_BUILDING;
    enum err e = building_named(q, &named);
    if (e)
        return e;
    if (id_given(&named) && !id_equal(&named, &wanted))
        return ERR_INVALID_BUILDING_CONTEXT;
    return gate_select_building(q, &wanted);
}

static enum err building_forbidden(struct request *q)
{
    size_t count;
    struct str text;
    enum err e = q->door->value(q, DOOR_BUILDING, &text, &count);
    return !e && count ? ERR_INVALID_BUILDING_CONTEXT : e;
}

static enum err check_building(struct request *q)
{
    switch (q->route->building) {
    case BUILDING_NONE:
        return ERR_NONE;
    case BUILDING_HEADER:
        return building_by_name(q);
    case BUILDING_PATH:
        return building_by_path(q);
    case BUILDING_FORBIDDEN:
        return building_forbidden(q);
    }
    return ERR_INTERNAL_ERROR;
}

/* ---- the key of a repetition, and the version ---- */

static bool idempotency_key_valid(struct str s)
{
    if (s.n < IDEMPOTENCY_MIN || s.n > IDEMPOTENCY_MAX)
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!isalnum((unsigned char)s.p[i]) && s.p[i] != '-' && s.p[i] != '_')
            return false;
    return true;
}

static enum err check_idempotency(struct request *q)
{
    size_t count;
    struct str key;
    if (q->route->idempotency == NEED_NOT)
        return ERR_NONE;
    enum err e = q->door->value(q, DOOR_IDEMPOTENCY_KEY, &key, &count);
    if (e || (count == 0 && q->route->idempotency == NEED_OPTIONAL))
        return e;
    if (count != 1 || !idempotency_key_valid(key))
        return ERR_IDEMPOTENCY_KEY_REQUIRED;
    q->idempotency_key = key;
    return ERR_NONE;
}

/* The opaque part of an entity tag, "…" or W/"…" (RFC 9110 section 8.8.3). */
static bool entity_tag(struct str tag, struct str *ret)
{
    if (str_starts(tag, STR("W/")))
        tag = str_from(tag, 2);
    if (tag.n < 2 || tag.p[0] != '"' || tag.p[tag.n - 1] != '"')
        return false;
    *ret = str_n(tag.p + 1, tag.n - 2);
    return true;
}

/* A version as the service writes it: decimal, without leading zeros. */
static bool grant_version(struct str tag, int64_t *ret)
{
    uint64_t version;
    if (!str_to_u64(tag, INT64_MAX, &version) || (tag.n > 1 && tag.p[0] == '0'))
        return false;
    *ret = (int64_t)version;
    return true;
}

static bool settings_token(struct request *q, struct str tag)
{
    if (tag.n != 2 * SHA256_LEN)
        return false;
    struct str lower = arena_str(q->tx.arena, tag);
    for (size_t i = 0; i < tag.n; i++) {
        if (!isxdigit((unsigned char)tag.p[i]))
            return false;
        ((char *)lower.p)[i] = (char)tolower((unsigned char)tag.p[i]);
    }
    q->match_token = lower;
    return true;
}

static enum err check_tag(struct request *q, struct str tag)
{
    if (q->route->match == MATCH_GRANT)
        return entity_tag(tag, &tag) && grant_version(tag, &q->match_version) ? ERR_NONE : ERR_VERSION_REQUIRED;
    return entity_tag(tag, &tag) && settings_token(q, tag) ? ERR_NONE : ERR_SETTINGS_VERSION_REQUIRED;
}

static enum err check_match(struct request *q)
{
    size_t count;
    struct str tag;
    if (q->route->match == MATCH_NONE)
        return ERR_NONE;
    enum err e = q->door->value(q, DOOR_MATCH, &tag, &count);
    return e ? e : check_tag(q, count == 1 ? tag : STR_NONE);
}

/* ---- body and query ---- */

bool gate_has_media(const struct request *q, struct str media)
{
    size_t count;
    struct str rest, type = http_header(q->http, STR("Content-Type"), &count);
    return count == 1 && str_eqi(str_trim(str_cut(type, ';', &rest)), media);
}

static enum err field_error(struct request *q, const struct schema_fault *fault)
{
    q->tx.why = fault->message;
    return fault->error;
}

static enum err read_path_and_query(struct request *q)
{
    struct schema_fault fault = {0};
    const struct route *route = q->route;
    if (strstr(route->path, "{id}") && !id_parse(q->path_text, &q->path_id))
        return ERR_INVALID_ID;
    if (q->item_text.p && !id_parse(q->item_text, &q->item_id))
        return ERR_INVALID_ID;
    if (!route->query)
        return ERR_NONE;
    q->query = arena_alloc(q->tx.arena, route->query->size);
    return q->door->query(q, q->query, &fault) ? ERR_NONE : field_error(q, &fault);
}

static void hash_body(struct request *q, const json_t *json)
{
    struct buf canonical = BUF(HTTP_MAX_BODY * 8);
    json_canonical(json, &canonical);
    crypto_sha256(buf_view(&canonical), q->body_hash);
    buf_done(&canonical);
}

/* Before a right code, nobody knows whose account a request without a key is for. So its earlier row gets the bodies
 * that only this one takes, with the reason for which the current revision refuses them in tx.why. */
static bool read_earlier_body(struct request *q, const json_t *json, const struct schema_fault *fault)
{
    const struct route *earlier = q->route->credential == CRED_NONE ? q->route->earlier : NULL;
    struct schema_fault ignored;
    if (!earlier || !schema_read(earlier->body, json, earlier->body_error, q->tx.arena, q->body, &ignored))
        return false;
    q->route = earlier;
    q->tx.why = fault->message;
    return true;
}

/* A reused Idempotency-Key with another body is reported first, even if the new body is invalid. */
static enum err read_body(struct request *q, const json_t *json)
{
    struct schema_fault fault = {0};
    const bool keyed = q->idempotency_key.p;
    if (keyed)
        hash_body(q, json);
    q->body = arena_alloc(q->tx.arena, q->route->body->size);
    if (schema_read(q->route->body, json, q->route->body_error, q->tx.arena, q->body, &fault))
        return ERR_NONE;
    if (read_earlier_body(q, json, &fault))
        return ERR_NONE;
    const enum err e = keyed ? q->route->receipt(q) : ERR_NOT_FOUND;
    return e && e != ERR_NOT_FOUND ? e : field_error(q, &fault);
}

static enum err check_input(struct request *q)
{
    if (!q->route->body)
        return read_path_and_query(q);
    json_t *json = NULL;
    enum err e = q->door->body(q, &json);
    if (e)
        return e;
    e = read_path_and_query(q);
    if (!e)
        e = read_body(q, json);
    json_decref(json);
    return e;
}

/* ---- all checks, in the order of HTTP-1 ---- */

enum err gate_check_key(struct gate_cache *cache, struct request *q)
{
    return route_needs_key(q->route) ? gate_authenticate(cache, q) : ERR_NONE;
}

enum err gate_check_part(struct request *q)
{
    enum err e = check_credential(q);
    if (!e)
        e = check_person(q);
    if (!e)
        e = check_scopes(q);
    if (!e)
        e = check_subscription(q);
    if (!e)
        e = check_building(q);
    if (!e)
        e = check_idempotency(q);
    if (!e)
        e = check_match(q);
    if (!e)
        e = check_input(q);
    return e;
}

enum err gate_check(struct gate *gate, struct gate_cache *cache, struct request *q)
{
    enum err e = gate_check_key(cache, q);
    if (!e)
        e = choose_revision(q);
    if (!e)
        e = check_limits(gate, q);
    return e ? e : gate_check_part(q);
}
