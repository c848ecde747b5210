#include "api/error_page.h"

#include "http/web.h"

#define REQUEST_MARK "<!-- request -->"

bool error_page_wanted(const struct request *q)
{
    const struct http_request *r = q->http;
    struct str accept = http_header(r, STR("Accept"), NULL);
    bool looks = r->method == HTTP_GET || r->method == HTTP_HEAD;
    return looks && !r->peer.local && !q->site && !str_starts(r->path, STR("/v1/")) && accept.n &&
           memmem(accept.p, accept.n, "text/html", 9);
}

static void put_missing(const struct request *q, struct buf *out)
{
    const size_t language = http_language(q->http->headers, q->http->header_count, web_languages);
    const char *page = web_site_missing_html[language].body[HTTP_CODING_NONE].p, *mark = strstr(page, REQUEST_MARK);
    buf_put(out, page, (size_t)(mark - page));
    buf_str(out, str_z(q->request_id));
    buf_str(out, str_z(mark + strlen(REQUEST_MARK)));
}

/* The texts come from tbl/errors.def and contain no HTML special characters, so they need no escaping. */
void error_page_put(const struct request *q, const struct err_info *info, struct buf *out)
{
    if (info->status == 404) {
        put_missing(q, out);
        return;
    }
    buf_printf(out,
               "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
               "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>%d: Portero</title>\n"
               "<link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"" WEB_SITE_STYLE_CSS
               "\">\n</head>\n"
               "<body class=\"narrow\">\n<header>\n<h1>%s</h1>\n<p class=\"quiet\">%s</p>\n</header>\n"
               "<main>\n<p><a href=\"/\">Start page</a></p>\n</main>\n"
               "<footer>Request <code>%s</code></footer>\n</body>\n</html>\n",
               info->status, info->message, info->next_action, q->request_id);
}
