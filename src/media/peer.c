#include "media/peer.h"

#include "media/address.h"
#include "media/tick.h"

#define UNHEARD_MS 3000 /* audio goes to a silent peer for this long */
#define SILENT_MS  3000 /* a peer that sends nothing for this long may go on from another port */

/* Whether an address that is not the one of the SDP may become the peer's: another port of the negotiated host or of a
 * host of its SIP, because a box behind NAT names an unreachable address. Other calls may come from the same host: the
 * peer must be silent, and the sender must not have sent before this session. */
static bool may_learn(const struct media_peer *p, const struct sa *named, const struct sa *src)
{
    const bool known =
        sa_cmp(src, named, SA_ADDR) || sa_cmp(src, &p->signalling, SA_ADDR) || sa_cmp(src, &p->host, SA_ADDR);
    const bool silent = !p->chosen || tick_now_ms() - p->heard_ms >= SILENT_MS;
    return known && silent && !media_strays_have(&p->strays, src);
}

bool media_peer_accept(struct media_peer *p, const struct sa *named, const struct sa *src, bool *ret_other)
{
    *ret_other = false;
    if (p->chosen && sa_cmp(src, &p->source, SA_ALL))
        return true;
    const bool exact = sa_cmp(src, named, SA_ALL);
    if ((!exact && !may_learn(p, named, src)) || !media_may_be_at(&p->signalling, src))
        return false;
    *ret_other = !sa_cmp(src, &p->source, SA_ALL);
    p->source = *src;
    p->chosen = true;
    return true;
}

bool media_peer_at(const struct media_peer *p, const struct sa *named, bool wanted, struct sa *ret)
{
    if (p->chosen) {
        *ret = p->source;
        return true;
    }
    const bool open = wanted || tick_now_ms() - p->alive_ms < UNHEARD_MS;
    if (!open || !sa_port(named) || !media_may_be_at(&p->signalling, &p->signalling))
        return false;
    *ret = p->signalling;
    sa_set_port(ret, sa_port(named));
    return true;
}
