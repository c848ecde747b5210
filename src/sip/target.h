/* Where our requests within a dialog go.
 *
 * RFC 3261 sends them to the Contact of the peer. A call box behind NAT names an address there that cannot be reached,
 * so its Contact is replaced by the address that its message came from. */
#pragma once
#include <re/re.h>

/* Before the stack reads a message that sets the target of a dialog: replaces its Contact unless the message came from
 * there. Over a connection the target is always that connection. `invite` began the dialog (the message itself, if it
 * does): if a proxy put itself into the route, the Contact stays. */
void sip_target_fix(const struct sip_msg *invite, const struct sip_msg *msg);
/* The stack finds no Contact in the message any more. */
void sip_target_forget(const struct sip_msg *msg);
/* Before our last request: if the connection of `request`, which set the target, is closed, aims at its own Contact. */
void sip_target_retry(struct sip_dialog *dialog, const struct sip_msg *request);
