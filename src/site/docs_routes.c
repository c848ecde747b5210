/* The paths of the documents for developers (site/docs.h). */
#include "site/routes.h"

#include "api/constant.h"
#include "api/parts.h"

/* The Markdown of the page, for a program that asks for it; NULL otherwise. */
static const struct http_asset *find_markdown(const struct request *q, struct str path)
{
    if (!http_accepts(q->http, "text/markdown"))
        return NULL;
    return parts_document(q->parts, arena_printf(q->tx.arena, "%.*s.md", STR_ARG(path)));
}

/* Also answers to a slash at the end. */
static enum err get_docs(struct request *q, struct reply *p)
{
    struct str path = q->http->path;
    if (path.n > 1 && path.p[path.n - 1] == '/')
        path.n--;
    const struct http_asset *document = find_markdown(q, path);
    if (!document)
        document = parts_document(q->parts, path);
    if (!document)
        return ERR_NOT_FOUND;
    reply_header(p, "Vary", STR("Accept"));
    p->media = document->media;
    return reply_constant(q, p, &document->content);
}

#define DOCS(id, at, text)                                                                                             \
    ROUTE(id, GET, at, .credential = CRED_NONE, .run = RUN_BLOCKING, .handler = get_docs, .flags = ROUTE_PAGE,         \
          .doc = ROUTE_DOC("Pages", 200, text))

static const struct route rows[] = {
    DOCS("getDocs", "/docs", "The documents for developers"),
    DOCS("getDocsMarkdown", "/docs.md", "The same in Markdown"),
    DOCS("getDocsFolder", "/docs/", "The documents for developers"),
    DOCS("getDocsPage", "/docs/{text}", "A guide, as a page or in Markdown; the errors; the index of the search"),
    DOCS("getDocsBehaviour", "/docs/behaviour/{text}", "Behaviour of one part, row by row"),
    DOCS("getDocsReference", "/docs/api/{text}", "The reference of the operations of one kind"),
    DOCS("getContents", "/llms.txt", "The contents of the documents, for language models"),
    DOCS("getRobots", "/robots.txt", "Which pages search engines may read"),
};
const struct route_set docs_routes = ROUTE_SET(rows);
