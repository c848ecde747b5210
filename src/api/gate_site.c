#include "api/gate_site.h"

static bool is_own_origin(struct str origin, struct str authority)
{
    return str_starts(origin, STR("https://")) && authority.n && str_eqi(str_from(origin, 8), authority);
}

enum err gate_check_site(struct request *q)
{
    const struct http_request *r = q->http;
    size_t sites, origins;
    struct str site = http_header(r, STR("Sec-Fetch-Site"), &sites);
    struct str origin = http_header(r, STR("Origin"), &origins);
    if (sites)
        return sites == 1 && str_eq(site, STR("same-origin")) ? ERR_NONE : ERR_CROSS_SITE_REQUEST;
    if (!origins && (r->method == HTTP_GET || r->method == HTTP_HEAD))
        return ERR_NONE;
    const bool own = origins == 1 && is_own_origin(origin, http_header(r, STR("Host"), NULL));
    return own ? ERR_NONE : ERR_CROSS_SITE_REQUEST;
}
