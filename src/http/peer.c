#include "http/peer.h"

/* The last item of a comma-separated list; *rest: what stands before it, STR_NONE if nothing does. */
static struct str last_item(struct str list, struct str *rest)
{
    const char *comma = list.n ? memrchr(list.p, ',', list.n) : NULL;
    *rest = comma ? str_n(list.p, (size_t)(comma - list.p)) : STR_NONE;
    return str_trim(comma ? str_from(list, (size_t)(comma - list.p) + 1) : list);
}

/* An address, also as some proxies write it: "192.0.2.1:4711", "[2001:db8::1]", "[2001:db8::1]:4711". */
static bool read_hop(struct str hop, struct http_address *ret)
{
    if (hop.n && hop.p[0] == '[') {
        struct str after;
        return http_address_parse(str_cut(str_from(hop, 1), ']', &after), ret) && after.p;
    }
    if (http_address_parse(hop, ret))
        return true;
    struct str port;
    return http_address_parse(str_cut(hop, ':', &port), ret);
}

/* Walks the field's hops from the right while they are trusted; true when the walk is over. */
static bool walk_hops(struct str list, const struct http_cidrs *trusted, struct http_address *at, bool *moved)
{
    while (list.p) {
        struct http_address hop;
        if (!read_hop(last_item(list, &list), &hop))
            return true;
        *at = hop;
        *moved = true;
        if (!http_cidrs_contain(trusted, at))
            return true;
    }
    return false;
}

void http_peer_resolve(struct http_request *r, const struct http_origin *from, const struct http_cidrs *trusted)
{
    struct http_peer *peer = &r->peer;
    struct http_address address;
    bool moved = false, spoken_for = false, walked = false;
    struct str proto = STR_NONE;

    peer->local = from->local;
    peer->secure = from->tls || from->local;
    if (from->trusted || from->loopback) {
        for (size_t i = r->header_count; i-- > 0;) {
            const struct http_header *h = &r->headers[i];
            if (h->name.n == 15 && str_eqi(h->name, STR("X-Forwarded-For"))) {
                spoken_for = true;
                if (from->trusted && !walked)
                    walked = walk_hops(h->value, trusted, &address, &moved);
            } else if (h->name.n == 9 && str_eqi(h->name, STR("Forwarded"))) {
                spoken_for = true;
            } else if (h->name.n == 17 && !proto.p && str_eqi(h->name, STR("X-Forwarded-Proto"))) {
                proto = h->value;
            }
        }
    }
    if (from->trusted && proto.p) {
        struct str rest;
        peer->secure = str_eqi(last_item(proto, &rest), STR("https"));
    }
    peer->loopback = from->loopback && !spoken_for;
    if (moved)
        http_address_text(&address, peer->address);
    else
        memcpy(peer->address, from->text, sizeof peer->address);
}
