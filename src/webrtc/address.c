#include "webrtc/address.h"

#include <ifaddrs.h>
#include <net/if.h>

struct candidates {
    struct sa *list;
    size_t n, max;
};

static void add_candidate(struct candidates *c, const struct sa *address, uint16_t port)
{
    struct sa candidate = *address;
    sa_set_port(&candidate, port);
    for (size_t i = 0; i < c->n; i++)
        if (sa_cmp(&c->list[i], &candidate, SA_ALL))
            return;
    if (c->n < c->max)
        c->list[c->n++] = candidate;
}

static bool may_be_offered(const struct sa *bound, const struct sa *address, bool loopback)
{
    if (sa_is_linklocal(address) || sa_is_any(address) || sa_is_loopback(address) != loopback)
        return false;
    return sa_af(address) == AF_INET || sa_af(bound) == AF_INET6;
}

static void add_machine(struct candidates *c, const struct sa *bound, bool loopback)
{
    struct ifaddrs *all = NULL;
    struct sa address;
    if (getifaddrs(&all))
        return;
    for (const struct ifaddrs *i = all; i; i = i->ifa_next)
        if (i->ifa_addr && (i->ifa_flags & IFF_UP) && !sa_set_sa(&address, i->ifa_addr) &&
            may_be_offered(bound, &address, loopback))
            add_candidate(c, &address, sa_port(bound));
    freeifaddrs(all);
}

size_t webrtc_address_list(const struct sa *bound, const struct sa *external,
                           struct sa ret[static WEBRTC_CANDIDATES_MAX])
{
    struct candidates c = {.list = ret, .max = WEBRTC_CANDIDATES_MAX - 1}; /* one is for `external` */
    const uint16_t port = sa_port(bound);
    if (!sa_is_any(bound))
        add_candidate(&c, bound, port);
    else
        add_machine(&c, bound, false);
    c.max++;
    if (external)
        add_candidate(&c, external, port);
    if (!c.n)
        add_machine(&c, bound, true);
    if (!c.n) /* an answer must have one */
        add_candidate(&c, bound, port);
    return c.n;
}
