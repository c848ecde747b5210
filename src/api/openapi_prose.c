#include "api/openapi_prose.h"

#include "api/door_site.h"

static const struct {
    const char *name, *description;
} tags[] = {
    {"Access grants", "Timers, passcodes and routines that open the door of a building. A call that matches no grant "
                      "is forwarded to the resident."},
    {"Passes", "Grants with a calendar: windows of days and times, a start and an end. `/v1/unlock` lists them, too."},
    {"Activity logs", "Attempts to open a building's door, and forwarded calls."},
    {"Calls", "Each call of the last 30 days (the operator may choose another time), step by step, and what a call "
              "would lead to."},
    {"Events", "What happens at a door and to its grants, as it happens."},
    {"Buildings", "The buildings of an account, their setup, and the greetings and release tone of their call boxes."},
    {"Account", "The account: its subscription and the next actions of its key."},
    {"Forwarding phone", "The resident's phone. Calls are forwarded to it once it is verified."},
    {"Sign-in and keys", "Sign-in by e-mail creates a website session. A session creates keys with scopes for agents."},
    {"Billing", "Plans, the hosted checkout and the hosted billing portal. The API takes no card details."},
    {"Webhooks", "HTTPS receivers that are notified when access is used, and their deliveries."},
    {"Service", "The service itself: health, contract and guide."},
    {"Browsers", "Browsers that residents are signed in with."},
    {"The person's data", "A copy of all that is held of the person, and its deletion with the account."},
    {"Assistants", "Assistants that ask a resident for access by OAuth, on the page `/oauth/authorize`."},
    {"Notices", "Notices of events at a building's door, pushed to browsers or sent by e-mail."},
    {"People", "Members of a building: whom the owner lets sign in to it."},
    {"Sandbox", "Simulated e-mail, text messages, calls, numbers, billing and clock."},
};

const char *openapi_tag(const char *tag)
{
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (strcmp(tags[i].name, tag) == 0)
            return tags[i].description;
    return NULL;
}

void openapi_path(const struct route *route, char ret[static OPENAPI_PATH_MAX])
{
    const char *path = route->path, *prefix = route->flags & ROUTE_SITE_ONLY ? SITE_PREFIX : "";
    const char *text = strstr(path, "{text}");
    const int before = text ? (int)(text - path) : (int)strlen(path);
    snprintf(ret, OPENAPI_PATH_MAX, "%s%.*s%s%s", prefix, before, path, text ? "{id}" : "",
             text ? text + strlen("{text}") : "");
}

const char *openapi_method(const struct route *route)
{
    static const char *const methods[] = {
        [HTTP_GET] = "get", [HTTP_POST] = "post", [HTTP_PUT] = "put", [HTTP_PATCH] = "patch", [HTTP_DELETE] = "delete"};
    return methods[route->method];
}

static void put_scopes(const struct route *route, struct buf *out)
{
    const char *before = __builtin_popcount(route->scopes) > 1 ? " with the scopes " : " with the scope ";
    for (int bit = 0; bit < SCOPE_COUNT; bit++) {
        if (!(route->scopes & 1u << bit))
            continue;
        buf_printf(out, "%s`%s`", before, scope_text((enum scope)bit));
        before = " and ";
    }
    buf_lit(out, ".");
}

static void put_credential(const struct route *route, struct buf *out)
{
    if (route->flags & ROUTE_SITE_ONLY && route->credential != CRED_NONE) {
        buf_lit(out, "Requires the cookie of a browser that is signed in.");
        return;
    }
    const char *refused = route->parent_error ? err_info(route->parent_error)->code : "";
    switch (route->credential) {
    case CRED_NONE:
        buf_lit(out, "Requires no key.");
        return;
    case CRED_LOOPBACK:
        buf_lit(out, "Available on loopback only, without a key.");
        return;
    case CRED_CONTROL:
        return;
    case CRED_KEY:
        buf_lit(out, "Requires an API key");
        put_scopes(route, out);
        return;
    case CRED_WEB_SESSION:
        buf_lit(out, "Requires the key of a website session");
        put_scopes(route, out);
        buf_lit(out, " Agent keys get 403 `WEB_SESSION_REQUIRED`.");
        return;
    case CRED_OWNER:
        buf_lit(out, "Requires the owner's key");
        put_scopes(route, out);
        buf_printf(out, " An invited member's key gets 403 `%s`.", refused);
        return;
    case CRED_PARENT:
        buf_lit(out, "Requires a key of the parent account");
        put_scopes(route, out);
        buf_printf(out, " A key bound to one building gets 403 `%s`.", refused);
        return;
    }
}

static void put_building(enum route_building building, struct buf *out)
{
    switch (building) {
    case BUILDING_NONE:
    case BUILDING_PATH:
        return;
    case BUILDING_HEADER:
        buf_lit(
            out,
            " Applies to the building in `X-Service-Building-Id`, which may be omitted if the account has only one.");
        return;
    case BUILDING_FORBIDDEN:
        buf_lit(out, " Do not send `X-Service-Building-Id`.");
        return;
    }
}

static void put_header_prose(const struct route *route, struct buf *out)
{
    if (route->idempotency == NEED_REQUIRED)
        buf_lit(out, " After a timeout, repeat the request with the same `Idempotency-Key` and body: it takes effect "
                     "only once.");
    if (route->idempotency == NEED_OPTIONAL)
        buf_lit(out,
                " With an `Idempotency-Key`, the request can be repeated after a timeout and takes effect only once.");
    if (route->match != MATCH_NONE)
        buf_lit(out, " Send the last read `ETag` as `If-Match`. After a conflict, read again and repeat the change.");
}

void openapi_describe(const struct route *route, struct buf *out)
{
    if (route->doc.description)
        buf_printf(out, "%s\n\n", route->doc.description);
    put_credential(route, out);
    put_building(route->building, out);
    put_header_prose(route, out);
    if (route->doc.flags & DOC_EXTENSION)
        buf_lit(out, " An extension of the contract.");
}
