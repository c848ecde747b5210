/* The paths of the documents for developers (site/docs.h). */
#include "site/routes.h"

#include "api/constant.h"
#include "api/service.h"

/* Also answers to a slash at the end. */
static enum err get_docs(struct request *q, struct reply *p)
{
    struct str path = q->http->path;
    if (path.n > 1 && path.p[path.n - 1] == '/')
        path.n--;
    const struct http_asset *document = service_document(q->service, path);
    if (!document)
        return ERR_NOT_FOUND;
    p->media = document->media;
    return reply_constant(q, p, &document->content);
}

#define DOCS(id, at, text)                                                                                             \
    {                                                                                                                  \
        .operation_id = (id), .summary = (text), .tag = "Pages", .method = HTTP_GET, .path = (at),                     \
        .credential = CRED_NONE, .run = RUN_BLOCKING, .handler = get_docs, .status = 200, .flags = ROUTE_PAGE          \
    }

static const struct route rows[] = {
    DOCS("getDocs", "/docs", "The documents for developers"),
    DOCS("getDocsFolder", "/docs/", "The same"),
    DOCS("getDocsPage", "/docs/{text}", "A guide, as a page or in Markdown; the errors; the index of the search"),
    DOCS("getDocsReference", "/docs/api/{text}", "The reference of the operations of one kind"),
    DOCS("getContents", "/llms.txt", "The contents of the documents, for language models"),
    DOCS("getRobots", "/robots.txt", "Which pages search engines may read"),
};
const struct route_set docs_routes = ROUTE_SET(rows);
