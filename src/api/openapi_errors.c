#include "api/openapi_errors.h"

static void add_error(struct error_set *set, enum err e)
{
    if (e > ERR_NONE && e < ERR_TABLE_END)
        set->has[e] = true;
}

static void add_fields(struct error_set *set, const struct shape *shape)
{
    for (size_t i = 0; shape && i < shape->field_count; i++)
        add_error(set, shape->fields[i].error);
    for (size_t i = 0; shape && shape->variants && shape->variants[i]; i++)
        add_fields(set, shape->variants[i]);
}

static void add_credential(struct error_set *set, const struct route *route)
{
    if (route->credential == CRED_LOOPBACK)
        add_error(set, ERR_LOOPBACK_REQUIRED);
    if (!route_needs_key(route))
        return;
    add_error(set, ERR_AUTH_REQUIRED);
    add_error(set, ERR_INVALID_KEY);
    add_error(set, ERR_AUTHENTICATION_REQUIRED);
    add_error(set, ERR_RATE_LIMIT_EXCEEDED);
    if (route->credential == CRED_WEB_SESSION)
        add_error(set, ERR_WEB_SESSION_REQUIRED);
    if (route->credential == CRED_PARENT || route->credential == CRED_OWNER)
        add_error(set, route->parent_error);
    if (route->scopes)
        add_error(set, ERR_INSUFFICIENT_SCOPE);
}

static void add_limit(struct error_set *set, enum route_limit limit)
{
    if (limit == LIMIT_PLANS)
        add_error(set, ERR_RATE_LIMIT_EXCEEDED);
    if (limit == LIMIT_AUTH || limit == LIMIT_OTP)
        add_error(set, ERR_AUTH_RATE_LIMIT);
    if (limit == LIMIT_OTP)
        add_error(set, ERR_OTP_RATE_LIMIT);
}

static void add_building_errors(struct error_set *set, enum route_building building)
{
    switch (building) {
    case BUILDING_NONE:
        return;
    case BUILDING_HEADER:
        add_error(set, ERR_BUILDING_REQUIRED);
        break;
    case BUILDING_PATH:
    case BUILDING_FORBIDDEN:
        add_error(set, ERR_INVALID_BUILDING_CONTEXT);
        break;
    }
    if (building != BUILDING_FORBIDDEN) {
        add_error(set, ERR_INVALID_BUILDING);
        add_error(set, ERR_BUILDING_NOT_FOUND);
    }
}

static void add_input(struct error_set *set, const struct route *route)
{
    if (route->idempotency != NEED_NOT) {
        add_error(set, ERR_IDEMPOTENCY_KEY_REQUIRED);
        add_error(set, ERR_IDEMPOTENCY_CONFLICT);
    }
    if (route->match == MATCH_GRANT)
        add_error(set, ERR_VERSION_REQUIRED);
    if (route->match == MATCH_SETTINGS)
        add_error(set, ERR_SETTINGS_VERSION_REQUIRED);
    if (strstr(route->path, "{id}"))
        add_error(set, ERR_INVALID_ID);
    add_fields(set, route->query);
    if (route->body) {
        add_error(set, ERR_INVALID_JSON);
        add_error(set, route->body_error);
        add_fields(set, route->body);
        add_error(set, ERR_PAYLOAD_TOO_LARGE);
    }
}

static bool uses_store(const struct route *route)
{
    return route->run != RUN_HERE || route_needs_key(route);
}

void openapi_errors(const struct route *route, struct error_set *ret)
{
    *ret = (struct error_set){0};
    if (route->credential != CRED_CONTROL)
        add_error(ret, ERR_HTTPS_REQUIRED);
    add_error(ret, ERR_INTERNAL_ERROR);
    if (uses_store(route))
        add_error(ret, ERR_SERVICE_UNAVAILABLE);
    add_error(ret, route->store_error);
    add_credential(ret, route);
    if (route->flags & ROUTE_SITE_ONLY)
        add_error(ret, ERR_CROSS_SITE_REQUEST);
    add_limit(ret, route->limit);
    add_building_errors(ret, route->building);
    add_input(ret, route);
    for (const enum err *e = route->doc.errors; e && *e; e++)
        add_error(ret, *e);
}
