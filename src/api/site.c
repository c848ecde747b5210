#include "api/site.h"

#include "api/account_html.h"
#include "api/account_js.h"
#include "api/style_css.h"

static enum err get_account_page(struct request *q, struct reply *p)
{
    (void)q;
    return reply_text(p, str_z(account_html));
}

static enum err get_account_script(struct request *q, struct reply *p)
{
    (void)q;
    return reply_text(p, str_z(account_js));
}

static enum err get_style(struct request *q, struct reply *p)
{
    (void)q;
    return reply_text(p, str_z(style_css));
}

static const struct route rows[] = {
    {.operation = "getAccountPage",
     .summary = "The page that the billing provider leads back to",
     .tag = "Pages",
     .method = HTTP_GET,
     .path = "/account",
     .credential = CRED_NONE,
     .run = RUN_HERE,
     .handler = get_account_page,
     .status = 200,
     .media = "text/html; charset=utf-8",
     .flags = ROUTE_PAGE},
    {.operation = "getAccountScript",
     .summary = "The account page's script",
     .tag = "Pages",
     .method = HTTP_GET,
     .path = "/account.js",
     .credential = CRED_NONE,
     .run = RUN_HERE,
     .handler = get_account_script,
     .status = 200,
     .media = "text/javascript; charset=utf-8",
     .flags = ROUTE_PAGE},
    {.operation = "getStyle",
     .summary = "The style sheet of all pages",
     .tag = "Pages",
     .method = HTTP_GET,
     .path = "/style.css",
     .credential = CRED_NONE,
     .run = RUN_HERE,
     .handler = get_style,
     .status = 200,
     .media = "text/css; charset=utf-8",
     .flags = ROUTE_PAGE},
};
const struct route_set site_routes = ROUTE_SET(rows);
