#include "api/gate_loopback.h"

#include "api/route.h"

/* The host of an authority: "localhost:8443" gives localhost, "[::1]:8443" gives [::1]. */
static struct str authority_host(struct str authority)
{
    const char *end = authority.n && authority.p[0] == '[' ? memchr(authority.p, ']', authority.n) : NULL;
    struct str port;
    return end ? str_n(authority.p, (size_t)(end - authority.p) + 1) : str_cut(authority, ':', &port);
}

/* The host of a URL: "https://door.example.com:8443/x" gives door.example.com. */
static struct str url_host(struct str url)
{
    const char *at = url.n ? memmem(url.p, url.n, "://", 3) : NULL;
    struct str path;
    return at ? authority_host(str_cut(str_from(url, (size_t)(at - url.p) + 3), '/', &path)) : STR_NONE;
}

static bool is_for_us(const struct request *q, struct str host)
{
    static const struct str own[] = {{"localhost", 9}, {"127.0.0.1", 9}, {"[::1]", 5}};
    struct str given = url_host(str_z(q->tx.config->top_public_url));
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (str_eqi(host, own[i]))
            return true;
    return given.n && str_eqi(host, given);
}

/* True if the browser reports a navigation: the user followed a link or typed an address. This is safe, because the
 * linking page cannot read the response and pages change nothing. */
static bool is_visit(const struct request *q)
{
    return (q->route->flags & ROUTE_PAGE) &&
           str_eq(http_header(q->http, STR("Sec-Fetch-Mode"), NULL), STR("navigate")) &&
           str_eq(http_header(q->http, STR("Sec-Fetch-Dest"), NULL), STR("document"));
}

/* Checks Fetch Metadata, where the browser sends it, and Origin. Programs send neither. */
static bool is_same_origin(const struct request *q, struct str authority)
{
    size_t sites, origins;
    struct str site = http_header(q->http, STR("Sec-Fetch-Site"), &sites);
    struct str origin = http_header(q->http, STR("Origin"), &origins);
    if (sites > 1 || (sites && !str_eq(site, STR("same-origin")) && !str_eq(site, STR("none"))))
        return false;
    return !origins || (origins == 1 && str_starts(origin, STR("https://")) && str_eqi(str_from(origin, 8), authority));
}

enum err gate_check_loopback(struct request *q)
{
    struct str authority = http_header(q->http, STR("Host"), NULL);
    if (!q->http->peer.loopback)
        return ERR_LOOPBACK_REQUIRED;
    if (!is_for_us(q, authority_host(authority)))
        return tx_fail(&q->tx, ERR_LOOPBACK_REQUIRED,
                       "The sandbox is served only as localhost, 127.0.0.1, [::1] and the host of public_url.");
    if (!is_visit(q) && !is_same_origin(q, authority))
        return tx_fail(&q->tx, ERR_LOOPBACK_REQUIRED, "The sandbox does not serve pages of another origin.");
    return ERR_NONE;
}
