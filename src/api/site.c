#include "api/routes.h"

#include "api/account_html.h"
#include "api/account_js.h"
#include "api/index_html.h"
#include "api/style_css.h"

#define SANDBOX_MARK "<!-- sandbox -->"

static enum err get_index(struct request *q, struct reply *p)
{
    static const char sandbox[] = "<section class=\"card\" aria-labelledby=\"sandbox\">\n"
                                  "<h2 id=\"sandbox\">For people</h2>\n"
                                  "<p>This is a sandbox. <a href=\"/sandbox/\">Its page</a> has the bell, the messages "
                                  "and the clock.</p>\n</section>";
    const char *mark = strstr(index_html, SANDBOX_MARK);
    p->status = 200;
    p->raw = arena_printf(q->tx.arena, "%.*s%s%s", (int)(mark - index_html), index_html,
                          q->tx.config->production ? "" : sandbox, mark + strlen(SANDBOX_MARK));
    return ERR_NONE;
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
     .text = account_html,
     .status = 200,
     .media = "text/html; charset=utf-8",
     .flags = ROUTE_PAGE},
    {.operation_id = "getAccountScript",
     .summary = "The account page's script",
     .tag = "Pages",
     .method = HTTP_GET,
     .path = "/account.js",
     .credential = CRED_NONE,
     .run = RUN_HERE,
     .text = account_js,
     .status = 200,
     .media = "text/javascript; charset=utf-8",
     .flags = ROUTE_PAGE},
    {.operation_id = "getStyle",
     .summary = "The style sheet of all pages",
     .tag = "Pages",
     .method = HTTP_GET,
     .path = "/style.css",
     .credential = CRED_NONE,
     .run = RUN_HERE,
     .text = style_css,
     .status = 200,
     .media = "text/css; charset=utf-8",
     .flags = ROUTE_PAGE},
};
const struct route_set site_routes = ROUTE_SET(rows);
