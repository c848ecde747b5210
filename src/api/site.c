#include "api/site.h"

#include "api/account_html.h"
#include "api/account_js.h"
#include "api/style_css.h"

static const struct route rows[] = {
    {.operation = "getAccountPage",
     .summary = "The page that the billing provider leads back to",
     .tag = "Pages",
     .method = HTTP_GET,
     .path = "/account",
     .credential = CRED_NONE,
     .run = RUN_HERE,
     .text = account_html,
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
     .text = account_js,
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
     .text = style_css,
     .status = 200,
     .media = "text/css; charset=utf-8",
     .flags = ROUTE_PAGE},
};
const struct route_set site_routes = ROUTE_SET(rows);
