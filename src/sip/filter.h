/* Drops datagrams from outside voice.peers, and datagrams that are not SIP, before the SIP stack: it would parse the
 * first, and write a line to standard error for each of the others.
 *
 * The stack does not expose its socket, but every message names the socket it came through. So the agent sends itself
 * an OPTIONS when it starts, and takes the socket from that. */
#pragma once
#include "sip/stack.h"

/* Starts on a stack that listens. It also works without the filter, if the probe is lost. */
void sip_filter_start(struct sip_stack *s);
/* Whether the message is the probe; if so, installs the filter. */
bool sip_filter_probe(struct sip_stack *s, const struct sip_msg *msg);
void sip_filter_stop(struct sip_stack *s);
/* Counts what the kernel has dropped since the last time. */
void sip_filter_count(struct sip_stack *s);
