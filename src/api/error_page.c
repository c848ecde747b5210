#include "api/error_page.h"

bool error_page_wanted(const struct request *q)
{
    const struct http_request *r = q->http;
    struct str accept = http_header(r, STR("Accept"), NULL);
    bool looks = r->method == HTTP_GET || r->method == HTTP_HEAD;
    return looks && !r->peer.local && !str_starts(r->path, STR("/v1/")) && accept.n &&
           memmem(accept.p, accept.n, "text/html", 9);
}

/* The texts come from tbl/errors.def and contain no HTML special characters, so they need no escaping. */
void error_page_put(const struct err_info *info, const char *request_id, struct buf *out)
{
    buf_printf(out,
               "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
               "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>%d: Portero</title>\n"
               "<link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"/style.css\">\n</head>\n"
               "<body class=\"narrow\">\n<header>\n<h1>%s</h1>\n<p class=\"quiet\">%s</p>\n</header>\n"
               "<main>\n<p><a href=\"/\">Start page</a></p>\n</main>\n"
               "<footer>Request <code>%s</code></footer>\n</body>\n</html>\n",
               info->status, info->message, info->next_action, request_id);
}
