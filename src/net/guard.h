/* The addresses that the service may call on behalf of its clients: only public ones, by IANA's special-purpose
 * registries (RFC 6890). For an IPv6 address that a translator maps to IPv4 (RFC 6052), the IPv4 address is checked. */
#pragma once
#include "net/address.h"

bool net_address_is_public(const struct net_address *a);
/* The same for a socket address; false for a family other than AF_INET and AF_INET6. */
bool net_guard_permits(const struct sockaddr *a, socklen_t len);

enum net_guard_verdict {
    GUARD_PUBLIC,    /* every address of the host is public */
    GUARD_PRIVATE,   /* at least one is not */
    GUARD_UNRESOLVED /* the URL is invalid, the host has no address, or the look-up timed out */
};

/* Looks up the host of a URL. Blocks for at most wait_ms. A later call must check the address that it connects to: the
 * look-up may then give another one. */
enum net_guard_verdict net_guard_check(struct str url, int wait_ms);
