#include "media/external.h"

#include <netinet/in.h>

#define USER "portero"

static bool in_block(const uint8_t *address, const uint8_t *block, unsigned bits)
{
    const unsigned whole = bits / 8, rest = bits % 8;
    return memcmp(address, block, whole) == 0 && (!rest || (address[whole] ^ block[whole]) >> (8 - rest) == 0);
}

static bool is_inside_ipv4(const uint8_t *address)
{
    static const struct {
        uint8_t block[4], bits;
    } inside[] = {{{127}, 8}, {{10}, 8}, {{172, 16}, 12}, {{192, 168}, 16}, {{169, 254}, 16}, {{100, 64}, 10}};
    for (size_t i = 0; i < ARRAY_SIZE(inside); i++)
        if (in_block(address, inside[i].block, inside[i].bits))
            return true;
    return false;
}

static bool is_inside(const struct sa *sa)
{
    if (sa_af(sa) == AF_INET)
        return is_inside_ipv4((const uint8_t *)&sa->u.in.sin_addr);
    const struct in6_addr *a = &sa->u.in6.sin6_addr;
    const bool unique_local = (a->s6_addr[0] & 0xfe) == 0xfc;
    return IN6_IS_ADDR_LOOPBACK(a) || IN6_IS_ADDR_LINKLOCAL(a) || unique_local;
}

bool external_address(const struct config *c, const struct sa *local, const struct sa *peer, struct sa *ret)
{
    struct sa external;
    if (!c->voice_external_address || sa_set_str(&external, c->voice_external_address, 0))
        return false;
    if (sa_af(&external) != sa_af(local) || is_inside(peer) || !is_inside(local))
        return false;
    *ret = external;
    return true;
}

void external_contact(const struct config *c, const struct sip_msg *invite, char ret[static EXTERNAL_CONTACT_MAX])
{
    struct sa at;
    if (external_address(c, &invite->dst, &invite->src, &at)) {
        sa_set_port(&at, sa_port(&invite->dst));
        (void)re_snprintf(ret, EXTERNAL_CONTACT_MAX, "sip:" USER "@%J%s", &at, sip_transp_param(invite->tp));
    } else {
        (void)re_snprintf(ret, EXTERNAL_CONTACT_MAX, "%s", USER);
    }
}
