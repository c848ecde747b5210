/* The API as one HTTP handler: connects the server with the routes' handlers. */
#pragma once
#include "api/parts.h"
#include "api/route.h"

struct openapi;

struct service_options {
    const struct config *config;
    const struct route_set *const *sets; /* searched in order; must outlive the service */
    size_t set_count;
    const struct openapi *openapi; /* of service_openapi; must outlive the service, too. NULL: not asked */
    struct parts parts;            /* the parts that exist already; copied */
};

struct service;

enum err service_new(const struct service_options *options, struct service **ret) CHECKED;
/* Must follow the HTTP server's stop, and precede the store's. Waits for running blocking handlers whose requests have
 * timed out, and drops queued ones. */
void service_stop(struct service *s);
void service_free(struct service *s);

/* For the parts that are made later: before the first request. */
struct parts *service_parts(struct service *s);

/* The handler for http_server_new. */
struct http_handler service_handler(struct service *s);

/* For the handler of a page, in its transaction: appends to `out` what GET of that path below /app, with its query,
 * answers with 200. The gate checks the part as it checks that GET: credential, scopes, building, path, query. Counts
 * as part of the page's request. */
enum err service_embed(struct request *q, struct str path, struct buf *out) CHECKED;
/* For a row's `verify`: makes q a request of this row instead. Its path, query, headers and body must be set, too. */
void service_become(struct request *q, const struct route *row);
/* Runs a GET row for q, in its transaction, with the parameters of its path. The gate checks it as it checks that GET,
 * but for authentication and limits. */
enum err service_read(struct request *q, const struct route *row, struct reply *ret) CHECKED;
/* The OpenAPI document. For blocking handlers: the first one builds it, in a few hundredths of a second. */
const struct http_content *service_openapi(struct service *s);
/* For the store's listener: invalidates cached authentications (TOPIC_KEYS), and tells the streams of events. Any
 * thread. */
void service_changed(struct service *s, unsigned topics, const struct store_fed *fed);
