#include "api/openapi_prose.h"

static const struct {
    const char *name, *description;
} tags[] = {
    {"Access grants", "Who is let in: timers, passcodes and routines of a building. A call that matches no grant is "
                      "forwarded to the resident."},
    {"Activity logs", "What happened at a building's door: attempts to get in, and forwarded calls."},
    {"Buildings", "The buildings of an account, how far their set-up is, and what their call boxes say and send."},
    {"Account", "The account as a whole: its subscription, and what its key can do next."},
    {"Forwarding phone", "The resident's phone, to which calls are forwarded once it is verified."},
    {"Sign-in and keys", "Sign-in by e-mail gives a website session; a session gives agents keys with scopes."},
    {"Billing", "Plans, the hosted checkout and the hosted billing portal. The API takes no card details."},
    {"Webhooks", "HTTPS receivers that are told when access is used, and what was delivered to them."},
    {"Service", "The service itself: its state, its contract, its guide."},
    {"Sandbox", "What stands in for the outside world: mail and text messages, calls, numbers, billing, the clock."},
};

const char *openapi_tag(const char *tag)
{
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (strcmp(tags[i].name, tag) == 0)
            return tags[i].description;
    return NULL;
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
    const char *refused = route->parent_error ? err_info(route->parent_error)->code : "";
    switch (route->credential) {
    case CRED_NONE:
        buf_lit(out, "Needs no key.");
        return;
    case CRED_LOOPBACK:
        buf_lit(out, "Answers on loopback only, without a key.");
        return;
    case CRED_CONTROL:
        return;
    case CRED_KEY:
        buf_lit(out, "Needs an API key");
        put_scopes(route, out);
        return;
    case CRED_WEB_SESSION:
        buf_lit(out, "Needs the key of a website session");
        put_scopes(route, out);
        buf_lit(out, " Agent keys get 403 `WEB_SESSION_REQUIRED`.");
        return;
    case CRED_OWNER:
        buf_lit(out, "Needs the owner's key");
        put_scopes(route, out);
        buf_printf(out, " An invited member's key gets 403 `%s`.", refused);
        return;
    case CRED_PARENT:
        buf_lit(out, "Needs a key of the parent account");
        put_scopes(route, out);
        buf_printf(out, " A key that is bound to one building gets 403 `%s`.", refused);
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
        buf_lit(out, " Acts on the building named in `X-Service-Building-Id`, which may be left out while the account "
                     "has only one.");
        return;
    case BUILDING_FORBIDDEN:
        buf_lit(out, " Send no `X-Service-Building-Id`.");
        return;
    }
}

static void put_header_prose(const struct route *route, struct buf *out)
{
    if (route->idempotency == NEED_REQUIRED)
        buf_lit(out, " After a time-out repeat it with the same `Idempotency-Key` and body: it does not happen twice.");
    if (route->idempotency == NEED_OPTIONAL)
        buf_lit(out, " With an `Idempotency-Key` it can be repeated after a time-out without happening twice.");
    if (route->match != MATCH_NONE)
        buf_lit(out, " Send the `ETag` you last read as `If-Match`; on a conflict read again, then repeat the change.");
}

void openapi_describe(const struct route *route, struct buf *out)
{
    if (route->description)
        buf_printf(out, "%s\n\n", route->description);
    put_credential(route, out);
    put_building(route->building, out);
    put_header_prose(route, out);
    if (route->flags & ROUTE_EXTENSION)
        buf_lit(out, " An extension: the contract does not have it.");
}
