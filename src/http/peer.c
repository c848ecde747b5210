#include "http/peer.h"

/* Returns the last item of a comma-separated list and sets *rest to the list before it, STR_NONE if there is none. */
static struct str last_item(struct str list, struct str *rest)
{
    const char *comma = list.n ? memrchr(list.p, ',', list.n) : NULL;
    *rest = comma ? str_n(list.p, (size_t)(comma - list.p)) : STR_NONE;
    return str_trim(comma ? str_from(list, (size_t)(comma - list.p) + 1) : list);
}

/* Parses an address, also in the forms of some proxies: "192.0.2.1:4711", "[2001:db8::1]", "[2001:db8::1]:4711". */
static bool read_hop(struct str hop, struct net_address *ret)
{
    if (hop.n && hop.p[0] == '[') {
        struct str after;
        return net_address_parse(str_cut(str_from(hop, 1), ']', &after), ret) && after.p;
    }
    if (net_address_parse(hop, ret))
        return true;
    struct str port;
    return net_address_parse(str_cut(hop, ':', &port), ret);
}

/* The result of the forwarding fields. */
struct forwarding {
    bool forwarded; /* there is a forwarding field, so a proxy is in between */
    struct str proto;
    bool known; /* `client` is set */
    bool ended; /* no further hop is read */
    struct net_address client;
};

/* Reads the hops from the right as long as they are trusted. */
static void walk_hops(struct forwarding *f, struct str list, const struct net_cidrs *trusted)
{
    while (list.p && !f->ended) {
        struct net_address hop;
        if (read_hop(last_item(list, &list), &hop)) {
            f->client = hop;
            f->known = true;
            f->ended = !net_cidrs_contain(trusted, &hop);
        } else {
            f->ended = true;
        }
    }
}

static bool is_forwarding(struct str name)
{
    return (name.n > 12 && str_eqi(str_n(name.p, 12), STR("X-Forwarded-"))) || str_eqi(name, STR("Forwarded")) ||
           str_eqi(name, STR("X-Real-IP")) || str_eqi(name, STR("Via"));
}

static struct forwarding read_forwarding(const struct http_request *r, const struct net_cidrs *trusted)
{
    struct forwarding f = {0};
    for (size_t i = r->header_count; i-- > 0;) {
        const struct http_header *h = &r->headers[i];
        if (!is_forwarding(h->name))
            continue;
        f.forwarded = true;
        if (h->name.n == 15 && str_eqi(h->name, STR("X-Forwarded-For"))) {
            walk_hops(&f, h->value, trusted);
        } else if (h->name.n == 17 && !f.proto.p && str_eqi(h->name, STR("X-Forwarded-Proto"))) {
            f.proto = h->value;
        }
    }
    return f;
}

static bool is_https(struct str proto)
{
    struct str rest;
    return str_eqi(last_item(proto, &rest), STR("https"));
}

void http_peer_resolve(struct http_request *r, const struct http_origin *from, const struct net_cidrs *trusted)
{
    struct http_peer *peer = &r->peer;
    struct forwarding f = {0};
    if (from->trusted || from->loopback)
        f = read_forwarding(r, trusted);
    peer->local = from->local;
    peer->loopback = from->loopback && !f.forwarded;
    peer->secure = from->trusted && f.proto.p ? is_https(f.proto) : from->tls || from->local;
    if (from->trusted && f.known)
        net_address_text(&f.client, peer->address);
    else
        memcpy(peer->address, from->text, sizeof peer->address);
}
