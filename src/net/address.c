#include "net/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>

#include "base/mem.h"

static const unsigned char mapped_prefix[12] = {[10] = 0xff, [11] = 0xff};

static bool is_mapped(const struct net_address *a)
{
    return memcmp(a->bytes, mapped_prefix, sizeof mapped_prefix) == 0;
}

static struct net_address mapped(const void *ipv4)
{
    struct net_address a;
    memcpy(a.bytes, mapped_prefix, sizeof mapped_prefix);
    memcpy(a.bytes + sizeof mapped_prefix, ipv4, 4);
    return a;
}

struct net_address net_address_of(const struct sockaddr_storage *from)
{
    struct net_address a = {0};
    if (from->ss_family == AF_INET)
        return mapped(&((const struct sockaddr_in *)from)->sin_addr);
    if (from->ss_family == AF_INET6)
        memcpy(a.bytes, &((const struct sockaddr_in6 *)from)->sin6_addr, sizeof a.bytes);
    return a;
}

bool net_address_parse(struct str text, struct net_address *ret)
{
    char z[NET_ADDRESS_TEXT];
    struct in_addr ipv4;
    struct in6_addr ipv6;
    if (text.n == 0 || text.n >= sizeof z || memchr(text.p, '\0', text.n))
        return false;
    memcpy(z, text.p, text.n);
    z[text.n] = '\0';
    if (inet_pton(AF_INET, z, &ipv4) == 1) {
        *ret = mapped(&ipv4);
        return true;
    }
    if (inet_pton(AF_INET6, z, &ipv6) != 1)
        return false;
    memcpy(ret->bytes, &ipv6, sizeof ret->bytes);
    return true;
}

void net_address_text(const struct net_address *a, char ret[static NET_ADDRESS_TEXT])
{
    const char *text = is_mapped(a) ? inet_ntop(AF_INET, a->bytes + sizeof mapped_prefix, ret, NET_ADDRESS_TEXT)
                                    : inet_ntop(AF_INET6, a->bytes, ret, NET_ADDRESS_TEXT);
    if (!text)
        ret[0] = '\0';
}

bool net_address_is_loopback(const struct net_address *a)
{
    static const unsigned char one[16] = {[15] = 1};
    return is_mapped(a) ? a->bytes[12] == 127 : memcmp(a->bytes, one, sizeof one) == 0;
}

struct net_address net_address_block(const struct net_address *a)
{
    struct net_address block = *a;
    if (!is_mapped(a))
        memset(block.bytes + 8, 0, 8);
    return block;
}

static bool parse_cidr(struct str text, struct net_cidr *ret)
{
    struct str length;
    struct str address = str_cut(text, '/', &length);
    struct net_cidr c;
    if (!net_address_parse(address, &c.address))
        return false;
    bool ipv4 = !memchr(address.p, ':', address.n);
    unsigned most = ipv4 ? 32 : 128;
    uint64_t bits = most;
    if (length.p && !str_to_u64(length, most, &bits))
        return false;
    c.bits = (unsigned)bits + (128 - most);
    *ret = c;
    return true;
}

enum err net_cidrs_parse(const char *const *texts, struct net_cidrs *ret, const char **ret_bad)
{
    size_t count = 0;
    while (texts && texts[count])
        count++;
    struct net_cidrs c = {.list = mem_array(struct net_cidr, count + 1), .count = count};
    for (size_t i = 0; i < count; i++) {
        if (!parse_cidr(str_z(texts[i]), &c.list[i])) {
            *ret_bad = texts[i];
            net_cidrs_done(&c);
            return ERR_USAGE;
        }
    }
    *ret = c;
    return ERR_NONE;
}

void net_cidrs_done(struct net_cidrs *c)
{
    free(c->list);
    *c = (struct net_cidrs){0};
}

static bool within(const struct net_cidr *c, const struct net_address *a)
{
    size_t whole = c->bits / 8;
    unsigned rest = c->bits % 8;
    if (memcmp(c->address.bytes, a->bytes, whole) != 0)
        return false;
    return rest == 0 || ((c->address.bytes[whole] ^ a->bytes[whole]) >> (8 - rest)) == 0;
}

bool net_cidrs_contain(const struct net_cidrs *c, const struct net_address *a)
{
    for (size_t i = 0; i < c->count; i++)
        if (within(&c->list[i], a))
            return true;
    return false;
}
