#include "sandbox/routes.h"

#include "api/constant.h"
#include "http/web.h"

/* In the language that the browser prefers. */
static enum err get_tour(struct request *q, struct reply *p)
{
    reply_header(p, "Vary", STR("Accept-Language"));
    return reply_constant(
        q, p, &web_sandbox_tour_html[http_language(q->http->headers, q->http->header_count, web_languages)]);
}

static const struct route rows[] = {
    ROUTE("getSandboxPage", GET, "/sandbox/", .credential = CRED_LOOPBACK, .run = RUN_HERE,
          .content = web_sandbox_page_html, .media = "text/html; charset=utf-8", .flags = ROUTE_PAGE,
          .doc = ROUTE_DOC("Sandbox", 200, "A web page with all sandbox functions")),
    ROUTE("getSandboxTour", GET, "/sandbox/tour", .credential = CRED_LOOPBACK, .run = RUN_HERE, .handler = get_tour,
          .media = "text/html; charset=utf-8", .flags = ROUTE_PAGE,
          .doc = ROUTE_DOC("Sandbox", 200, "A web page that leads from nothing to an open door")),
};
const struct route_set sandbox_page_routes = ROUTE_SET(rows);
