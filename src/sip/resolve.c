#include "sip/resolve.h"

#include <netdb.h>
#include <stdio.h>
#include <strings.h>

#define HOSTS_LINE_MAX 8192 /* a longer one ends the search */
#define QUERY_MS       3000 /* for one record type of one name; libre repeats the query meanwhile */

static void ask_host(struct sip_resolve *r);
static void ask_next_service(struct sip_resolve *r);

static void finish(struct sip_resolve *r, const char *why)
{
    sip_resolve_cancel(r);
    r->done(r->targets, r->count, why, r->arg);
}

static void on_deadline(void *arg)
{
    finish(arg, "the name server did not respond in time");
}

/* ---- queries, one at a time ---- */

static void on_silence(void *arg)
{
    struct sip_resolve *r = arg;
    struct list none = LIST_INIT;
    r->query = mem_deref(r->query);
    r->next(r, &none);
}

static void on_records(int err, const struct dnshdr *hdr, struct list *answers, struct list *authorities,
                       struct list *more, void *arg)
{
    struct sip_resolve *r = arg;
    struct list none = LIST_INIT;
    (void)hdr;
    (void)authorities;
    (void)more;
    tmr_cancel(&r->wait);
    r->next(r, err || !answers ? &none : answers);
}

/* Queries and passes the answers to `next`: an empty list without any, or without a response. */
static void ask(struct sip_resolve *r, const char *name, uint16_t type,
                void (*next)(struct sip_resolve *r, struct list *answers))
{
    r->next = next;
    const int e = dnsc_query(&r->query, r->dnsc, name, type, DNS_CLASS_IN, true, on_records, r);
    tmr_start(&r->wait, e ? 0 : QUERY_MS, on_silence, r);
}

/* ---- addresses ---- */

static bool add_address(struct dnsrr *rr, void *arg)
{
    struct sip_resolve *r = arg;
    struct sip_target t = {.tp = r->tp};
    const uint16_t port = sip_transp_port(r->tp, r->hosts[r->host].port);
    if (r->count == SIP_TARGETS_MAX)
        return true;
    if (rr->type == DNS_TYPE_A)
        sa_set_in(&t.addr, rr->rdata.a.addr, port);
    else
        sa_set_in6(&t.addr, rr->rdata.aaaa.addr, port);
    r->targets[r->count++] = t;
    return false;
}

static void next_host(struct sip_resolve *r)
{
    if (++r->host < r->host_count && r->count < SIP_TARGETS_MAX)
        ask_host(r);
    else
        finish(r, "the name has no address");
}

static void take_ipv6(struct sip_resolve *r, struct list *answers)
{
    dns_rrlist_apply(answers, NULL, DNS_TYPE_AAAA, DNS_CLASS_IN, false, add_address, r);
    next_host(r);
}

static void ask_ipv6(struct sip_resolve *r)
{
    if (r->ipv6)
        ask(r, r->hosts[r->host].host, DNS_TYPE_AAAA, take_ipv6);
    else
        next_host(r);
}

static void take_ipv4(struct sip_resolve *r, struct list *answers)
{
    dns_rrlist_apply(answers, NULL, DNS_TYPE_A, DNS_CLASS_IN, false, add_address, r);
    ask_ipv6(r);
}

static void ask_host(struct sip_resolve *r)
{
    if (r->ipv4)
        ask(r, r->hosts[r->host].host, DNS_TYPE_A, take_ipv4);
    else
        ask_ipv6(r);
}

static bool add_host(struct sip_resolve *r, const char *name, uint16_t port)
{
    if (r->host_count == SIP_RESOLVE_HOSTS)
        return false;
    (void)snprintf(r->hosts[r->host_count].host, sizeof r->hosts->host, "%s", name);
    r->hosts[r->host_count++].port = port;
    return true;
}

static void ask_server(struct sip_resolve *r)
{
    (void)add_host(r, r->server.host, r->server.port);
    ask_host(r);
}

/* ---- services ---- */

static bool take_service(struct dnsrr *rr, void *arg)
{
    const char *target = rr->rdata.srv.target;
    if (!target || !*target) /* "." says that there is no such service */
        return false;
    return !add_host(arg, target, rr->rdata.srv.port);
}

static void take_services(struct sip_resolve *r, struct list *answers)
{
    dns_rrlist_sort(answers, DNS_TYPE_SRV, rand_u32());
    dns_rrlist_apply(answers, NULL, DNS_TYPE_SRV, DNS_CLASS_IN, false, take_service, r);
    if (r->host_count)
        ask_host(r);
    else
        ask_next_service(r);
}

static void ask_service(struct sip_resolve *r)
{
    static const char *const prefixes[] = {
        [SIP_TRANSP_UDP] = "_sip._udp", [SIP_TRANSP_TCP] = "_sip._tcp", [SIP_TRANSP_TLS] = "_sips._tcp"};
    char name[sizeof r->server.host + 16];
    (void)snprintf(name, sizeof name, "%s.%s", prefixes[r->tp], r->server.host);
    ask(r, name, DNS_TYPE_SRV, take_services);
}

/* Without services of this transport: TCP's if any transport will do, then the name itself. */
static void ask_next_service(struct sip_resolve *r)
{
    if (!r->given && r->tp == SIP_TRANSP_UDP) {
        r->tp = SIP_TRANSP_TCP;
        ask_service(r);
        return;
    }
    if (!r->given)
        r->tp = SIP_TRANSP_UDP;
    ask_server(r);
}

static bool choose_transport(struct dnsrr *rr, void *arg)
{
    static const struct {
        const char *service;
        enum sip_transp tp;
    } known[] = {{"SIP+D2U", SIP_TRANSP_UDP}, {"SIP+D2T", SIP_TRANSP_TCP}, {"SIPS+D2T", SIP_TRANSP_TLS}};
    struct sip_resolve *r = arg;
    for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
        if (!rr->rdata.naptr.services || str_casecmp(rr->rdata.naptr.services, known[i].service))
            continue;
        r->tp = known[i].tp;
        r->given = true;
        return true;
    }
    return false;
}

static void take_transports(struct sip_resolve *r, struct list *answers)
{
    dns_rrlist_sort(answers, DNS_TYPE_NAPTR, rand_u32());
    const struct dnsrr *rr = dns_rrlist_apply(answers, NULL, DNS_TYPE_NAPTR, DNS_CLASS_IN, false, choose_transport, r);
    if (rr && rr->rdata.naptr.replace && *rr->rdata.naptr.replace)
        ask(r, rr->rdata.naptr.replace, DNS_TYPE_SRV, take_services);
    else
        ask_service(r);
}

/* ---- the beginning ---- */

static void on_known(void *arg)
{
    struct sip_resolve *r = arg;
    const bool usable = sa_af(&r->server.addr) == AF_INET ? r->ipv4 : r->ipv6;
    r->targets[0] = (struct sip_target){.addr = r->server.addr, .tp = r->tp};
    sa_set_port(&r->targets[0].addr, sip_transp_port(r->tp, r->server.port));
    r->count = usable;
    finish(r, "listen.sip has no address of this family");
}

static void on_no_dns(void *arg)
{
    finish(arg, "there is no name server");
}

static enum sip_transp transport_of(const char *name)
{
    if (strcmp(name, "tls") == 0)
        return SIP_TRANSP_TLS;
    return strcmp(name, "tcp") == 0 ? SIP_TRANSP_TCP : SIP_TRANSP_UDP;
}

static bool is_called(const struct hostent *h, const char *name)
{
    bool found = strcasecmp(h->h_name, name) == 0;
    for (char **alias = h->h_aliases; !found && *alias; alias++)
        found = strcasecmp(*alias, name) == 0;
    return found && h->h_addrtype == AF_INET;
}

/* A name of this machine's own, in /etc/hosts. */
static bool in_hosts_file(struct sip_server *s)
{
    char text[HOSTS_LINE_MAX];
    struct hostent entry, *h;
    uint32_t address;
    int unused;
    bool found = false;
    sethostent(0);
    while (!found && !gethostent_r(&entry, text, sizeof text, &h, &unused) && h) {
        found = is_called(h, s->host);
        if (found) {
            memcpy(&address, h->h_addr_list[0], sizeof address);
            sa_set_in(&s->addr, ntohl(address), s->port);
        }
    }
    endhostent();
    return found;
}

void sip_resolve_start(struct sip_resolve *r, struct dnsc *dnsc, const char *server, const char *transport, bool ipv4,
                       bool ipv6, sip_resolve_h *done, void *arg)
{
    sip_resolve_cancel(r);
    *r = (struct sip_resolve){.dnsc = dnsc,
                              .tp = transport_of(transport),
                              .given = strcmp(transport, "auto") != 0,
                              .ipv4 = ipv4,
                              .ipv6 = ipv6,
                              .done = done,
                              .arg = arg};
    sip_server_parse(server, &r->server);
    const bool known = r->server.numeric || in_hosts_file(&r->server);
    if (known || !dnsc) {
        tmr_start(&r->deadline, 0, known ? on_known : on_no_dns, r);
        return;
    }
    tmr_start(&r->deadline, SIP_RESOLVE_WORST_MS, on_deadline, r);
    if (r->server.port)
        ask_server(r);
    else if (r->given)
        ask_service(r);
    else
        ask(r, r->server.host, DNS_TYPE_NAPTR, take_transports);
}

void sip_resolve_cancel(struct sip_resolve *r)
{
    tmr_cancel(&r->wait);
    tmr_cancel(&r->deadline);
    r->query = mem_deref(r->query);
}
