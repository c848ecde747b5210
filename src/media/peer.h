/* Inside the media session: the address that the peer's packets come from, and ours go to. media/media.h says why. */
#pragma once
#include "media/ports.h"

/* Zero at first. Times come from tick_now_ms(). */
struct media_peer {
    struct sa signalling; /* host of its INVITE */
    struct sa host;       /* another host that it may send from */
    struct sa source;     /* once chosen, the address for packets in and out */
    bool chosen;
    int64_t alive_ms; /* its last sign of life that was no packet */
    int64_t heard_ms;
    struct media_strays strays; /* of earlier calls at this port */
    struct media_strays refused;
};

/* Whether a packet from `src` comes from the peer. `named`: the address in its SDP, which takes precedence whenever it
 * sends. *ret_other: the last one came from another address. */
bool media_peer_accept(struct media_peer *p, const struct sa *named, const struct sa *src, bool *ret_other);
/* The current destination of packets: the address that the peer sends from. Until the peer has sent a packet it is the
 * host of its SIP, which is no third party, as long as that is `wanted`, and for a moment after each sign of life.
 * False: send no packet. */
bool media_peer_at(const struct media_peer *p, const struct sa *named, bool wanted, struct sa *ret);
