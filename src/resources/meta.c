#include "resources/meta.h"

#include "api/constant.h"
#include "api/error_page.h"
#include "api/service.h"
#include "resources/routes.h"

#define OPENAPI_PATH "/openapi.json"
#define GUIDE_PATH   "/docs/agents"

struct health {
    struct val status, version, uptime, openapi_url, docs_url;
};

static const char *const ok_only[] = {"ok", NULL};
static const struct field health_fields[] = {
    FIELD(struct health, status, T_STRING, .flags = F_REQUIRED | F_CONST, .values = ok_only),
    FIELD(struct health, version, T_STRING, .flags = F_REQUIRED, .doc = "version of the service"),
    FIELD(struct health, uptime, T_NUMBER, .flags = F_REQUIRED, .doc = "seconds since the process started"),
    FIELD(struct health, openapi_url, T_STRING, .flags = F_REQUIRED, .format = "uri",
          .doc = "address of the OpenAPI document"),
    FIELD(struct health, docs_url, T_STRING, .flags = F_REQUIRED, .format = "uri",
          .doc = "address of the guide for agents"),
};
static const struct shape health_shape = SHAPE(struct health, "Health", health_fields);

static struct str public_address(struct request *q, const char *path)
{
    return arena_printf(q->tx.arena, "%s%s", q->parts->public_url, path);
}

static struct health *make_health(const char *public_url, int64_t started_us, struct arena *a)
{
    struct health *h = arena_new(a, struct health);
    h->status = v_str(STR("ok"));
    h->version = v_str(str_z(PORTERO_VERSION));
    h->uptime = v_int((clock_monotonic_us() - started_us) / US_PER_S);
    h->openapi_url = v_str(arena_printf(a, "%s" OPENAPI_PATH, public_url));
    h->docs_url = v_str(arena_printf(a, "%s" GUIDE_PATH, public_url));
    return h;
}

void meta_write_health(const char *public_url, int64_t started_us, struct arena *a, struct buf *out)
{
    schema_write(&health_shape, make_health(public_url, started_us, a), out);
}

static enum err get_health(struct request *q, struct reply *p)
{
    return reply_ok(p, 200, &health_shape, make_health(q->parts->public_url, q->parts->started_us, q->tx.arena));
}

static enum err get_contract(struct request *q, struct reply *p)
{
    p->status = 302;
    reply_header(p, "Location", public_address(q, OPENAPI_PATH));
    return ERR_NONE;
}

static enum err get_document(struct request *q, struct reply *p)
{
    return reply_constant(q, p, service_openapi(q->service));
}

/* Browsers, which do not ask for Markdown, get it as a page. */
static enum err get_guide(struct request *q, struct reply *p)
{
    const bool page = error_page_wanted(q) && !http_accepts(q->http, "text/markdown");
    const struct http_asset *guide = parts_document(q->parts, page ? STR(GUIDE_PATH) : STR(GUIDE_PATH ".md"));
    if (!guide)
        return ERR_NOT_FOUND;
    p->media = guide->media;
    p->page = page;
    reply_header(p, "Vary", STR("Accept"));
    return reply_constant(q, p, &guide->content);
}

static const struct route rows[] = {
    ROUTE("getHealth", GET, "/v1/health", .run = RUN_HERE, .handler = get_health, .reply = &health_shape,
          .doc = ROUTE_DOC("Service", 200, "Check that the service is running", .description = "Not rate limited.")),
    ROUTE("getContract", GET, "/v1/openapi.json", .run = RUN_HERE, .handler = get_contract, .flags = ROUTE_CORS,
          .doc = ROUTE_DOC("Service", 302, "The address of the OpenAPI document",
                           .description = "Follow `Location`. Not rate limited; open to every origin.")),
    ROUTE("getDocument", GET, OPENAPI_PATH, .run = RUN_BLOCKING, .handler = get_document, .media = "application/json",
          .flags = ROUTE_ETAG | ROUTE_CORS | ROUTE_CACHEABLE,
          .doc = ROUTE_DOC("Service", 200, "The OpenAPI document", .description = "This document.",
                           .flags = DOC_EXTENSION)),
    ROUTE("getGuide", GET, GUIDE_PATH, .run = RUN_BLOCKING, .handler = get_guide,
          .media = "text/markdown; charset=utf-8", .flags = ROUTE_ETAG | ROUTE_CORS | ROUTE_CACHEABLE,
          .doc = ROUTE_DOC("Service", 200, "The guide for agents",
                           .description = "A guide in Markdown for agents that use this API. Browsers, which accept "
                                          "`text/html`, get it as a page.",
                           .flags = DOC_EXTENSION)),
};
const struct route_set meta_routes = ROUTE_SET(rows);
