/* Header lines for messages that libre writes: it has no place for any in a re-INVITE and its 200. */
#pragma once
#include "sip/stack.h"

/* Adds the lines, each ending with CRLF, to the next message of the stack, which goes to the source of `msg`. It must
 * be sent before control returns to the loop. */
void sip_extra_set(struct sip_stack *s, const struct sip_msg *msg, const char *lines);
/* Nothing was sent. */
void sip_extra_clear(struct sip_stack *s);
/* Of the helper on the stack's UDP socket: adds the lines to a datagram. */
bool sip_extra_datagram(int *err, struct sa *dst, struct mbuf *mb, void *arg);
