/* Inside the SIP user agent: which of its addresses a call or request of ours goes out from. Apart from sip/local.h, so
 * that calls can ask. */
#pragma once
#include <re/re.h>

struct sip_agent;
struct sip_stack;

/* The stack for a call or request of ours to this address: the stack of the local address that the kernel would send
 * from. NULL if there is none. */
struct sip_stack *sip_local_stack(struct sip_agent *a, const struct sa *to);
/* The stack that listens on this address, or NULL. */
struct sip_stack *sip_local_at(const struct sip_agent *a, const struct sa *address);
/* Whether the agent has an address of this family. */
bool sip_local_has(const struct sip_agent *a, int family);
/* The address that the kernel sends from to this one. Sends nothing. */
bool sip_local_from(const struct sa *to, struct sa *ret);
