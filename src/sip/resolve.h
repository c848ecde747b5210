/* Finds the addresses of a SIP server: in /etc/hosts, or by RFC 3263: NAPTR, SRV, then A and AAAA records. libre would
 * do that for each request again; a trunk must know its addresses, because they may call, and to try one after the
 * other. */
#pragma once
#include <re/re.h>

#include "base/config.h"
#include "sip/trunk_form.h"

#define SIP_TARGETS_MAX      16
#define SIP_RESOLVE_HOSTS    8
#define SIP_RESOLVE_WORST_MS 15000

struct sip_target {
    struct sa addr;
    enum sip_transp tp;
};

/* Called once from the loop: best target first. Without targets, `why` is the reason. */
typedef void sip_resolve_h(const struct sip_target *targets, size_t count, const char *why, void *arg);

struct sip_resolve {
    struct dnsc *dnsc;
    struct sip_server server;
    enum sip_transp tp;
    bool given; /* the transport */
    bool ipv4, ipv6;
    sip_resolve_h *done;
    void *arg;

    struct dns_query *query;
    struct tmr wait, deadline;
    void (*next)(struct sip_resolve *r, struct list *answers);
    struct {
        char host[256];
        uint16_t port;
    } hosts[SIP_RESOLVE_HOSTS];
    size_t host_count, host;
    struct sip_target targets[SIP_TARGETS_MAX];
    size_t count;
};

/* Begins a look-up, which calls `done` within SIP_RESOLVE_WORST_MS, never before it returns. `transport` is "auto",
 * "udp", "tcp" or "tls". `dnsc` may be NULL: only numeric addresses are then found. Addresses of other families than
 * asked for are omitted. */
void sip_resolve_start(struct sip_resolve *r, struct dnsc *dnsc, const char *server, const char *transport, bool ipv4,
                       bool ipv6, sip_resolve_h *done, void *arg);
/* Ends a look-up without calling `done`. All zero is fine. */
void sip_resolve_cancel(struct sip_resolve *r);
