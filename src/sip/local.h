/* Inside the SIP user agent: the addresses of this machine that it listens on.
 *
 * listen.sip is one address, or all of them (0.0.0.0, or [::] for IPv4 and IPv6). libre cannot listen on all addresses,
 * so the agent listens on each, and follows the machine when addresses come and go. Link-local IPv6 addresses are left
 * out: a SIP URI cannot express their scope. */
#pragma once
#include <re/re.h>

struct sip_agent;
struct sip_stack;

struct sip_local {
    struct sa want; /* listen.sip; with all addresses, its port is the bound one */
    bool all;
    bool failing; /* an address could not be bound at the last look */
    int changes;  /* the kernel's messages about addresses, or -1 */
    struct tmr look;
    char address[64]; /* the bound one, for sip_address() */
};

/* Listens on listen.sip, whose value is `want`. Returns 0 or errno. */
int sip_local_open(struct sip_agent *a, const struct sa *want);
void sip_local_close(struct sip_agent *a);
