#include "site/routes.h"

#include "api/constant.h"
#include "http/web.h"

#define SANDBOX_MARK "<!-- sandbox -->"

static enum err get_index(struct request *q, struct reply *p)
{
    static const char sandbox[] = "<section class=\"card\" aria-labelledby=\"sandbox\">\n"
                                  "<h2 id=\"sandbox\">For people</h2>\n"
                                  "<p>This is a sandbox. <a href=\"/sandbox/\">Its page</a> has the bell, the messages "
                                  "and the clock.</p>\n</section>";
    const char *page = web_site_index_html->body[HTTP_CODING_NONE].p, *mark = strstr(page, SANDBOX_MARK);
    p->status = 200;
    p->raw = arena_printf(q->tx.arena, "%.*s%s%s", (int)(mark - page), page, q->tx.config->production ? "" : sandbox,
                          mark + strlen(SANDBOX_MARK));
    return ERR_NONE;
}

/* Another version's name gets this version's asset, which no cache may keep by that name. */
static enum err get_asset(struct request *q, struct reply *p)
{
    bool exact;
    const struct http_asset *asset = http_asset_find(q->path_text, &exact);
    if (!asset)
        return ERR_NOT_FOUND;
    p->media = asset->media;
    p->immutable = exact;
    return reply_constant(q, p, &asset->content);
}

static const struct route rows[] = {
    {.operation_id = "getIndex",
     .summary = "Links to the documentation and the sandbox",
     .tag = "Pages",
     .method = HTTP_GET,
     .path = "/",
     .credential = CRED_NONE,
     .run = RUN_HERE,
     .handler = get_index,
     .status = 200,
     .media = "text/html; charset=utf-8",
     .flags = ROUTE_PAGE},
    {.operation_id = "getAccountPage",
     .summary = "The page to which the billing provider returns",
     .tag = "Pages",
     .method = HTTP_GET,
     .path = "/account",
     .credential = CRED_NONE,
     .run = RUN_HERE,
     .content = web_site_account_html,
     .status = 200,
     .media = "text/html; charset=utf-8",
     .flags = ROUTE_PAGE},
    {.operation_id = "getAsset",
     .summary = "A script or style sheet of the pages",
     .tag = "Pages",
     .method = HTTP_GET,
     .path = "/a/{text}",
     .credential = CRED_NONE,
     .run = RUN_HERE,
     .handler = get_asset,
     .status = 200,
     .flags = ROUTE_PAGE},
};
static const struct route_set pages = ROUTE_SET(rows);

const struct route_set *const site_sets[] = {&pages};
const size_t site_set_count = sizeof site_sets / sizeof *site_sets;
