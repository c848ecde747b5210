/* Inside the SIP user agent: one of libre's SIP stacks, which listens on one address of the machine.
 *
 * libre sends all requests of a stack from the stack's first address, so that each address needs a stack. A stack is
 * freed only with the agent: without an address, it waits for another one. */
#pragma once
#include <re/re.h>

struct media_ports;
struct sip_agent;

struct sip_stack {
    struct le le; /* in agent->stacks */
    struct sip_agent *agent;
    struct sa bound; /* unset: no address */
    struct sa bound_tls;
    struct sip *sip;
    struct sipsess_sock *sessions;
    struct media_ports *ports; /* of the address */
    struct sip_lsnr *first, *guard, *rest, *responses;
    char probe[20];            /* Call-ID of the filter's request to ourselves, until it arrives */
    struct udp_sock *udp;      /* the SIP socket, once known */
    uint32_t dropped;          /* datagrams there, that were counted */
    struct udp_helper *filter; /* on it */
    char extra[128];           /* lines for the next message, see sip/extra.h */
    struct tcp_helper *extra_helper;
};

/* Appends a stack without an address to agent->stacks. Returns 0 or errno. */
int sip_stack_new(struct sip_agent *a, struct sip_stack **ret);
/* Listens on an address, UDP and TCP; port 0 is a free port. Returns 0 or errno. */
int sip_stack_listen(struct sip_stack *s, const struct sa *want);
/* Stops listening. The calls of the stack must have ended. */
void sip_stack_close(struct sip_stack *s);
void sip_stack_free(struct sip_stack *s);
