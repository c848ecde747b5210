/* Keeps datagrams from the stack that come from outside voice.peers, or are no SIP: it would parse the ones, and write
 * a line to standard error for each of the others.
 *
 * The stack does not give away its socket, but every message names the one it came through: the agent sends itself an
 * OPTIONS when it starts, and takes the socket from that. */
#pragma once
#include "voice/sip_agent.h"

/* `bound` is the address of the UDP socket. Without the filter, where the probe does not get through, the agent works
 * as well. */
void sip_filter_start(struct sip_agent *a, const struct sa *bound);
/* Is this the probe? Then the filter is put in place. */
bool sip_filter_probe(struct sip_agent *a, const struct sip_msg *msg);
void sip_filter_stop(struct sip_agent *a);
