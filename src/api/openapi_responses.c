#include "api/openapi_responses.h"

#include <assert.h>

size_t openapi_successes(const struct route *route, int ret[static SUCCESSES_MAX])
{
    const int all[] = {route->doc.status, route->doc.other_status, route->doc.pending_status};
    size_t count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i])
            ret[count++] = all[i];
    return count;
}

const char *openapi_success_text(const struct route *route, int status)
{
    if (status == 200 && route->doc.status != 200 && (route->doc.flags & DOC_REPLAY))
        return "Replayed: the result of the earlier request.";
    return status == 201   ? "Created."
           : status == 202 ? "Accepted, but not completed yet."
           : status == 302 ? "Redirect."
                           : route->doc.summary;
}

struct str openapi_media(const struct route *route)
{
    struct str rest;
    const struct str media = route->reply ? STR("application/json") : str_cut(str_z(route->media), ';', &rest);
    return media.n ? media : STR_NONE;
}

/* ---- headers ---- */

struct header_list {
    struct response_header *all;
    size_t count;
};

static void add_header(struct header_list *list, const char *name, const char *type, const char *doc)
{
    assert(list->count < RESPONSE_HEADERS_MAX);
    list->all[list->count++] = (struct response_header){name, type, doc};
}

size_t openapi_common_headers(bool cacheable, struct response_header ret[static RESPONSE_HEADERS_MAX])
{
    ret[0] = (struct response_header){"X-Request-ID", "string", "identifies this request in support cases"};
    ret[1] = (struct response_header){"Cache-Control", "string", cacheable ? "public, for one minute" : "no-store"};
    return 2;
}

static void add_success_headers(struct header_list *list, const struct route *route, int status)
{
    if (route->flags & ROUTE_ETAG)
        add_header(list, "ETag", "string",
                   route->flags & ROUTE_CACHEABLE ? "version of this text, for If-None-Match"
                                                  : "the version, for If-Match");
    if (status == 201 && route->doc.flags & DOC_LOCATION)
        add_header(list, "Location", "string", "path of the created resource");
    if ((status == 200 || (status && status == route->doc.pending_status)) && route->doc.flags & DOC_REPLAY)
        add_header(list, "Idempotency-Replayed", "string", "true: this is the result of an earlier request");
    if (status == 302 || status == 303)
        add_header(list, "Location", "string", "address to follow");
}

static void add_error_headers(struct header_list *list, const struct route *route, int status)
{
    if (status == 401)
        add_header(list, "WWW-Authenticate", "string", "Bearer");
    if (status == 403 && route->scopes)
        add_header(list, "WWW-Authenticate", "string", "Bearer, with the scopes of a key that would do");
    if (status == 426)
        add_header(list, "Upgrade", "string", "TLS/1.2");
    if (status == 429 || status == 503)
        add_header(list, "Retry-After", "integer", "seconds to wait");
}

size_t openapi_headers(const struct route *route, int status, struct response_header ret[static RESPONSE_HEADERS_MAX])
{
    const bool success = status < 400;
    const bool early = status == 413 || status == 426; /* refused before any limit is counted */
    struct header_list list = {ret, openapi_common_headers(success && route->flags & ROUTE_CACHEABLE, ret)};
    if (route->limit != LIMIT_NONE && !early) {
        add_header(&list, "RateLimit-Limit", "integer", "requests per window");
        add_header(&list, "RateLimit-Remaining", "integer", "requests left in the window");
        add_header(&list, "RateLimit-Reset", "integer", "seconds until the window ends");
    }
    if (!early && status != 401 && status != 429 &&
        (route->building == BUILDING_HEADER || route->building == BUILDING_PATH))
        add_header(&list, "X-Service-Building-Id", "string", "the selected building, if known");
    if (route->flags & ROUTE_CORS)
        add_header(&list, "Access-Control-Allow-Origin", "string", "*");
    if (success)
        add_success_headers(&list, route, status);
    else
        add_error_headers(&list, route, status);
    return list.count;
}
