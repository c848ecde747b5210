#include "sandbox/routes.h"

#include "sandbox/page_html.h"
#include "sandbox/page_js.h"

static const struct route rows[] = {
    {.operation_id = "getSandboxPage",
     .summary = "A web page with all sandbox functions",
     .tag = "Sandbox",
     .method = HTTP_GET,
     .path = "/sandbox/",
     .credential = CRED_LOOPBACK,
     .run = RUN_HERE,
     .text = page_html,
     .status = 200,
     .media = "text/html; charset=utf-8",
     .flags = ROUTE_PAGE},
    {.operation_id = "getSandboxModule",
     .summary = "The page's script",
     .tag = "Sandbox",
     .method = HTTP_GET,
     .path = "/sandbox/page.js",
     .credential = CRED_LOOPBACK,
     .run = RUN_HERE,
     .text = page_js,
     .status = 200,
     .media = "text/javascript; charset=utf-8",
     .flags = ROUTE_PAGE},
};
const struct route_set sandbox_page_routes = ROUTE_SET(rows);
