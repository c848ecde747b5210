#include "api/door.h"

#include "api/gate.h"
#include "api/query.h"
#include "domain/key.h"

#define KEY_MAX 128 /* a longer key is refused without hashing */

/* RFC 6750 section 2.1: one field, the scheme in any case, one or more spaces, the token. */
static bool bearer(const struct http_request *r, struct str *ret)
{
    size_t count;
    struct str rest, value = http_header(r, STR("Authorization"), &count);
    struct str scheme = str_cut(value, ' ', &rest);
    if (count != 1 || !rest.p || !str_eqi(scheme, STR("Bearer")))
        return false;
    *ret = str_trim(rest);
    return ret->n > 0 && !memchr(ret->p, ' ', ret->n);
}

enum err door_bearer(struct request *q, unsigned char ret[static SHA256_LEN])
{
    struct str key;
    if (!bearer(q->http, &key))
        return ERR_AUTH_REQUIRED;
    if (key.n > KEY_MAX)
        return ERR_INVALID_KEY;
    key_hash(key, ret);
    return ERR_NONE;
}

enum err door_header(struct request *q, enum door_value which, struct str *ret, size_t *ret_count)
{
    static const struct str names[] = {[DOOR_BUILDING] = {"X-Service-Building-Id", 21},
                                       [DOOR_IDEMPOTENCY_KEY] = {"Idempotency-Key", 15},
                                       [DOOR_MATCH] = {"If-Match", 8}};
    *ret = http_header(q->http, names[which], ret_count);
    return ERR_NONE;
}

bool door_query(struct request *q, void *ret, struct schema_fault *ret_fault)
{
    return query_read(q->route->query, q->http->query, q->tx.arena, ret, ret_fault);
}

enum err door_body(struct request *q, json_t **ret)
{
    if (!q->http->body.n && q->route->body_optional) {
        *ret = json_object();
        return *ret ? ERR_NONE : ERR_INTERNAL_ERROR;
    }
    if (!gate_has_media(q, STR("application/json")))
        return tx_fail(&q->tx, ERR_INVALID_JSON, "Content-Type must be application/json");
    json_t *body;
    enum err e = json_read(q->http->body, &body);
    if (e)
        return e;
    if (json_is_object(body)) {
        *ret = body;
        return ERR_NONE;
    }
    json_decref(body);
    return tx_fail(&q->tx, ERR_INVALID_JSON, "the body must be a JSON object");
}

static bool api_opens(const struct route *route)
{
    return route->credential != CRED_CONTROL && !(route->flags & ROUTE_SITE_ONLY);
}

const struct door door_api = {.prefix = "",
                              .via = "",
                              .earlier = true,
                              .opens = api_opens,
                              .key_hash = door_bearer,
                              .value = door_header,
                              .query = door_query,
                              .body = door_body};

static bool control_opens(const struct route *route)
{
    return route->credential == CRED_CONTROL;
}

const struct door door_control = {.prefix = "",
                                  .via = "",
                                  .earlier = true,
                                  .opens = control_opens,
                                  .key_hash = door_bearer,
                                  .value = door_header,
                                  .query = door_query,
                                  .body = door_body};
