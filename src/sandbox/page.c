#include "sandbox/routes.h"

#include "http/web.h"

static const struct route rows[] = {
    {.operation_id = "getSandboxPage",
     .summary = "A web page with all sandbox functions",
     .tag = "Sandbox",
     .method = HTTP_GET,
     .path = "/sandbox/",
     .credential = CRED_LOOPBACK,
     .run = RUN_HERE,
     .content = web_sandbox_page_html,
     .status = 200,
     .media = "text/html; charset=utf-8",
     .flags = ROUTE_PAGE},
};
const struct route_set sandbox_page_routes = ROUTE_SET(rows);
