/* The RTP ports of a local address, handed out in turn: the port that was freed last comes last.
 *
 * The ports that come next are open and watched. A sender of packets to a port that is in no SDP yet believes in an
 * earlier call, of this process or of one that was killed. The session that gets the port must not learn its peer's
 * address from these packets. */
#pragma once
#include <re/re.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define MEDIA_STRAYS 4 /* addresses that are remembered for a port */

struct media_ports;

/* Addresses that sent packets to a port that belong to no session, or not to its session. */
struct media_strays {
    struct {
        struct sa from;
        int64_t at_ms; /* its last packet, as tick_now_ms() */
    } seen[MEDIA_STRAYS];
};

/* The even ports from `low` on whose next port, for RTCP, is `high` at most. Reference-counted: the caller derefs *ret.
 * ERR_IO if memory is short. */
enum err media_ports_new(struct media_ports **ret, const struct sa *laddr, uint16_t low, uint16_t high) CHECKED;
/* Opens the next port. `handler` gets its RTP packets with `arg`; *ret_strays gets those who sent to it in the last
 * second. ERR_IO if no port is free. */
enum err media_ports_take(struct media_ports *p, rtp_recv_h *handler, void *arg, struct rtp_sock **ret,
                          struct media_strays *ret_strays) CHECKED;
/* Closes a port of media_ports_take(). `refused`: those whose packets its session refused. */
void media_ports_give(struct media_ports *p, struct rtp_sock *rtp, const struct media_strays *refused);
/* Remembers the sender of a packet, in place of the one that has been silent for longest. */
void media_strays_note(struct media_strays *s, const struct sa *from);
bool media_strays_have(const struct media_strays *s, const struct sa *from);
