/* IP addresses and CIDR blocks. An IPv4 address is stored in its IPv4-mapped form (RFC 4291 section 2.5.5.2), so
 * 192.0.2.1 equals ::ffff:192.0.2.1. */
#pragma once
#include <sys/socket.h>

#include "base/err.h"
#include "base/str.h"

#define NET_ADDRESS_TEXT 46 /* longest text and its NUL */

struct net_address {
    unsigned char bytes[16];
};

struct net_cidr {
    struct net_address address;
    unsigned bits; /* 0..128 */
};

struct net_cidrs {
    struct net_cidr *list;
    size_t count;
};

/* All zero for a family other than AF_INET and AF_INET6. */
struct net_address net_address_of(const struct sockaddr_storage *from);
/* Parses "192.0.2.1" or "2001:db8::1", without surrounding characters. */
bool net_address_parse(struct str text, struct net_address *ret);
/* Writes IPv4-mapped addresses as IPv4. */
void net_address_text(const struct net_address *a, char ret[static NET_ADDRESS_TEXT]);
bool net_address_is_loopback(const struct net_address *a);
/* Returns the first address of the block that limits treat as one peer: the IPv4 address itself, or the /64 of an IPv6
 * address, the smallest block that a subscriber gets. */
struct net_address net_address_block(const struct net_address *a);

/* Parses a NULL-terminated list of "10.0.0.0/8", "::1/128" or plain addresses. NULL is an empty list. Fails with
 * ERR_USAGE and sets *ret_bad to the invalid entry. */
enum err net_cidrs_parse(const char *const *texts, struct net_cidrs *ret, const char **ret_bad) CHECKED;
void net_cidrs_done(struct net_cidrs *c);
bool net_cidrs_contain(const struct net_cidrs *c, const struct net_address *a);
