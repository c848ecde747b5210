/* Which addresses the service may call on behalf of its clients: those of the public Internet alone, by IANA's
 * special-purpose registries (RFC 6890). Where IPv6 carries an IPv4 address that a translator would call (RFC 6052),
 * that one is judged. */
#pragma once
#include "net/address.h"

bool net_address_is_public(const struct net_address *a);
/* The same of a socket's address; false for a family other than AF_INET and AF_INET6. */
bool net_guard_permits(const struct sockaddr *a, socklen_t len);

enum net_guard_verdict {
    GUARD_PUBLIC,    /* every address of the host is public */
    GUARD_PRIVATE,   /* one at least is not */
    GUARD_UNRESOLVED /* it is no URL with a host, or the host has no address, or none was found in time */
};

/* Looks up a URL's host, for wait_ms at most. Blocks. What is found may be different when the URL is called, so that a
 * call has to check the address it connects to. */
enum net_guard_verdict net_guard_check(struct str url, int wait_ms);
