#include "api/error_page.h"

#include "api/gate_site.h"
#include "http/web.h"

#define REQUEST_MARK "<!-- request -->"

bool error_page_wanted(const struct request *q)
{
    const struct http_request *r = q->http;
    bool looks = r->method == HTTP_GET || r->method == HTTP_HEAD;
    bool called = str_starts(r->path, STR("/v1/")) || str_starts(r->path, STR(SITE_PREFIX "/v1/"));
    return looks && !r->peer.local && !called && http_accepts(r, "text/html");
}

/* The page for a status; its variants are those of each language, then those of the sandbox. */
static const struct http_content *page_of(int status)
{
    if (status == 404)
        return web_site_missing_html;
    if (status == 429)
        return web_site_busy_html;
    return status >= 500 ? web_site_broken_html : web_site_refused_html;
}

void error_page_put(const struct request *q, const struct err_info *info, struct buf *out)
{
    const size_t language = http_language(q->http->headers, q->http->header_count, web_languages);
    const size_t variant = language + (q->tx.config->production ? 0 : WEB_LANGUAGES);
    const char *page = page_of(info->status)[variant].body[HTTP_CODING_NONE].p, *mark = strstr(page, REQUEST_MARK);
    buf_put(out, page, (size_t)(mark - page));
    buf_str(out, str_z(q->request_id));
    buf_str(out, str_z(mark + strlen(REQUEST_MARK)));
}
