/* The embedded SIP user agent: answers the call boxes' calls over UDP and TCP, on a thread of its own (docs/calls.md).
 *
 * It never touches the store: each decision is a write job, and the answer comes back through a mailbox. */
#pragma once
#include "base/config.h"
#include "store/store.h"

struct sip_agent;

/* Listens on config->listen_sip (port 0: a free one, the same for UDP and TCP) and starts taking calls. `c` and `s`
 * must outlive the agent. On failure ERR_USAGE (the address) or ERR_IO, and *ret_why (owned by the caller, free) says
 * why. */
enum err sip_start(const struct config *c, struct store *s, struct sip_agent **ret, char **ret_why) CHECKED;
/* "127.0.0.1:5060", with the port that was bound; lives as long as the agent. */
const char *sip_address(const struct sip_agent *a);
/* Takes no more calls, lets those in progress end for up to wait_ms, hangs up what is left. Does not wait for that. */
void sip_wind_down(struct sip_agent *a, int64_t wait_ms);
/* The same, unless it was done before, and waits until it is over and every decision that was asked for has come. */
void sip_stop(struct sip_agent *a, int64_t wait_ms);
/* Frees an agent that was stopped; best after store_close, as a store thread may not yet have let go of its mailbox.
 * NULL is fine. */
void sip_free(struct sip_agent *a);
