#include "media/address.h"

#include <string.h>

enum scope { SCOPE_GLOBAL, SCOPE_LOOPBACK, SCOPE_LINK, SCOPE_INVALID };

static enum scope scope_of_ipv4(uint32_t address)
{
    if (address >> 24 == 127)
        return SCOPE_LOOPBACK;
    if (address >> 16 == 0xa9fe)
        return SCOPE_LINK;
    bool unspecified = address >> 24 == 0, multicast_or_reserved = address >> 29 == 7;
    return unspecified || multicast_or_reserved ? SCOPE_INVALID : SCOPE_GLOBAL;
}

static enum scope scope_of(const struct sa *sa)
{
    if (sa_af(sa) == AF_INET)
        return scope_of_ipv4(sa_in(sa));
    const struct in6_addr *address = &sa->u.in6.sin6_addr;
    uint32_t mapped;
    memcpy(&mapped, address->s6_addr + 12, sizeof mapped);
    if (IN6_IS_ADDR_V4MAPPED(address))
        return scope_of_ipv4(ntohl(mapped));
    if (IN6_IS_ADDR_LOOPBACK(address))
        return SCOPE_LOOPBACK;
    if (IN6_IS_ADDR_LINKLOCAL(address))
        return SCOPE_LINK;
    return IN6_IS_ADDR_UNSPECIFIED(address) || IN6_IS_ADDR_MULTICAST(address) ? SCOPE_INVALID : SCOPE_GLOBAL;
}

bool media_may_be_at(const struct sa *signalling, const struct sa *at)
{
    enum scope scope = scope_of(at);
    return scope == SCOPE_GLOBAL || (scope != SCOPE_INVALID && scope == scope_of(signalling));
}
