#include "api/error_page.h"

#include "api/door_site.h"
#include "http/web.h"

#define MARK     "<!-- "
#define MARK_END " -->"

bool error_page_wanted(const struct request *q)
{
    const struct http_request *r = q->http;
    bool looks = r->method == HTTP_GET || r->method == HTTP_HEAD;
    bool called = str_starts(r->path, STR("/v1/")) || str_starts(r->path, STR(SITE_PREFIX "/v1/"));
    return looks && !r->peer.local && !called && http_accepts(r, "text/html");
}

/* The page for an error; its variants are each language's, then the sandbox's. */
static const struct http_content *page_of(const struct err_info *info)
{
    const int status = info->status;
    if (strcmp(info->code, "LOOPBACK_REQUIRED") == 0)
        return web_site_loopback_html;
    if (status == 404)
        return web_site_missing_html;
    if (status == 429)
        return web_site_busy_html;
    return status >= 500 ? web_site_broken_html : web_site_refused_html;
}

/* The port that the browser has asked: digits. */
static struct str port_of(const struct request *q)
{
    const struct str host = http_header(q->http, STR("Host"), NULL);
    const char *colon = host.n ? memrchr(host.p, ':', host.n) : NULL;
    const struct str port = colon ? str_from(host, (size_t)(colon - host.p) + 1) : STR_NONE;
    uint64_t number;
    return str_to_u64(port, UINT16_MAX, &number) ? port : STR("443");
}

void error_page_put(const struct request *q, const struct err_info *info, struct buf *out)
{
    const size_t language = http_language(q->http->headers, q->http->header_count, web_languages);
    const size_t variant = language + (q->tx.config->production ? 0 : WEB_LANGUAGES);
    const char *page = page_of(info)[variant].body[HTTP_CODING_NONE].p, *mark;
    while ((mark = strstr(page, MARK))) {
        const struct str name = str_z(mark + strlen(MARK));
        buf_put(out, page, (size_t)(mark - page));
        buf_str(out, str_starts(name, STR("port")) ? port_of(q) : str_z(q->request_id));
        page = strstr(name.p, MARK_END) + strlen(MARK_END);
    }
    buf_str(out, str_z(page));
}
