#include "sip/local.h"

#include <errno.h>
#include <ifaddrs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "sip/agent.h"
#include "sip/call.h"
#include "sip/local_find.h"
#include "sip/stack.h"

#define ADDRESSES_MAX 64
#define BIND_ATTEMPTS 20
#define SETTLE_MS     300  /* from a change of addresses to our look at them: changes come in groups */
#define LOOK_MS       5000 /* between two looks, if the kernel does not tell of changes or an address was not bound */

/* ---- the addresses of the machine ---- */

static bool usable(const struct sip_local *l, const struct ifaddrs *i, struct sa *ret)
{
    if (!i->ifa_addr || !(i->ifa_flags & IFF_UP) || sa_set_sa(ret, i->ifa_addr))
        return false;
    if (sa_af(ret) == AF_INET6)
        return sa_af(&l->want) == AF_INET6 && !IN6_IS_ADDR_LINKLOCAL(&ret->u.in6.sin6_addr);
    return sa_af(ret) == AF_INET;
}

static bool listed(const struct sa *list, size_t n, const struct sa *address)
{
    for (size_t i = 0; i < n; i++)
        if (sa_cmp(&list[i], address, SA_ADDR))
            return true;
    return false;
}

/* The addresses to listen on, with the port of listen.sip. False if they cannot be read. */
static bool read_addresses(const struct sip_local *l, struct sa ret[static ADDRESSES_MAX], size_t *ret_n)
{
    struct ifaddrs *all;
    struct sa address;
    size_t n = 0;
    if (getifaddrs(&all))
        return false;
    for (const struct ifaddrs *i = all; i && n < ADDRESSES_MAX; i = i->ifa_next) {
        if (!usable(l, i, &address) || listed(ret, n, &address))
            continue;
        sa_set_port(&address, sa_port(&l->want));
        ret[n++] = address;
    }
    freeifaddrs(all);
    *ret_n = n;
    return true;
}

/* ---- stacks ---- */

static int idle_stack(struct sip_agent *a, struct sip_stack **ret)
{
    for (struct le *le = a->stacks.head; le; le = le->next) {
        struct sip_stack *s = le->data;
        if (sa_isset(&s->bound, SA_ADDR))
            continue;
        *ret = s;
        return 0;
    }
    return sip_stack_new(a, ret);
}

static void tell(const char *what, const struct sa *address)
{
    char text[64];
    (void)re_snprintf(text, sizeof text, "%J", address);
    log_info("%s address=%s", what, text);
}

static int gain(struct sip_agent *a, const struct sa *address, struct sa *ret_bound)
{
    struct sip_stack *s;
    int e = idle_stack(a, &s);
    if (!e)
        e = sip_stack_listen(s, address);
    if (!e)
        *ret_bound = s->bound;
    return e;
}

static void lose(struct sip_agent *a, struct sip_stack *s)
{
    sip_call_end_all(a, s);
    sip_codes_end(a, s);
    sip_stack_close(s);
}

/* ---- changes ---- */

static void lose_gone(struct sip_agent *a, const struct sa *now, size_t n)
{
    for (struct le *le = a->stacks.head; le; le = le->next) {
        struct sip_stack *s = le->data;
        if (sa_isset(&s->bound, SA_ADDR) && !listed(now, n, &s->bound)) {
            tell("sip address lost", &s->bound);
            lose(a, s);
        }
    }
}

static void gain_new(struct sip_agent *a, const struct sa *now, size_t n)
{
    bool failed_before = a->local.failing;
    a->local.failing = false;
    for (size_t i = 0; i < n; i++) {
        struct sa bound;
        if (sip_local_at(a, &now[i]))
            continue;
        if (!gain(a, &now[i], &bound)) {
            tell("sip address gained", &bound);
            continue;
        }
        a->local.failing = true; /* such as an IPv6 address that is being verified */
        if (!failed_before)
            tell("sip address not bound yet", &now[i]);
    }
}

/* The first stack is for requests of ours, so it must have an address. */
static void keep_first(struct sip_agent *a)
{
    struct sip_stack *first = list_ledata(a->stacks.head), *other = NULL;
    for (struct le *le = a->stacks.head; le && !other; le = le->next) {
        struct sip_stack *s = le->data;
        if (sa_isset(&s->bound, SA_ADDR) && !sa_is_loopback(&s->bound))
            other = s;
    }
    if (sa_isset(&first->bound, SA_ADDR) || !other)
        return;
    struct sa address = other->bound;
    lose(a, other);
    a->local.failing = sip_stack_listen(first, &address) || a->local.failing;
}

static void on_look(void *arg)
{
    struct sip_agent *a = arg;
    struct sa now[ADDRESSES_MAX];
    size_t n;
    if (read_addresses(&a->local, now, &n)) {
        lose_gone(a, now, n);
        gain_new(a, now, n);
        keep_first(a);
    }
    if (a->local.failing || a->local.changes < 0)
        tmr_start(&a->local.look, LOOK_MS, on_look, a);
}

static void on_change(int flags, void *arg)
{
    (void)flags;
    struct sip_agent *a = arg;
    char unread[8192];
    while (recv(a->local.changes, unread, sizeof unread, MSG_DONTWAIT) > 0)
        ; /* all addresses are read again */
    tmr_start(&a->local.look, SETTLE_MS, on_look, a);
}

/* Without the kernel's messages, looks at intervals. */
static void follow(struct sip_agent *a)
{
    struct sockaddr_nl at = {.nl_family = AF_NETLINK,
                             .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    bool fine = fd >= 0 && !bind(fd, (struct sockaddr *)&at, sizeof at) && !fd_listen(fd, FD_READ, on_change, a);
    if (!fine && fd >= 0)
        close(fd);
    a->local.changes = fine ? fd : -1;
    tmr_start(&a->local.look, fine && !a->local.failing ? SETTLE_MS : LOOK_MS, on_look, a);
}

/* ---- starting ---- */

/* Puts the address of the default route first: requests of ours go out there. */
static void put_default_first(const struct sip_local *l, struct sa *list, size_t n)
{
    struct sa somewhere, from;
    const char *outside = sa_af(&l->want) == AF_INET6 ? "2001:db8::1" : "192.0.2.1";
    bool found = !sa_set_str(&somewhere, "192.0.2.1", SIP_PORT) && sip_local_from(&somewhere, &from);
    if (!found && (sa_set_str(&somewhere, outside, SIP_PORT) || !sip_local_from(&somewhere, &from)))
        return;
    for (size_t i = 1; i < n; i++) {
        if (!sa_cmp(&list[i], &from, SA_ADDR))
            continue;
        struct sa first = list[0];
        list[0] = list[i];
        list[i] = first;
    }
}

static void close_stacks(struct sip_agent *a)
{
    for (struct le *le = a->stacks.head; le; le = le->next)
        sip_stack_close(le->data);
}

/* Listens on all of these addresses, at the port of the first. */
static int gain_all(struct sip_agent *a, struct sa *list, size_t n, struct sa *ret_first)
{
    a->local.failing = false;
    for (size_t i = 0; i < n; i++) {
        struct sa bound;
        if (i)
            sa_set_port(&list[i], sa_port(ret_first));
        int e = gain(a, &list[i], &bound);
        if (e && (!i || e != EADDRNOTAVAIL))
            return e;
        if (!i)
            *ret_first = bound;
        a->local.failing = a->local.failing || e;
    }
    return n ? 0 : EADDRNOTAVAIL;
}

/* A port that the system chose for one address may be taken at another: try another port. */
static int open_all(struct sip_agent *a)
{
    struct sa list[ADDRESSES_MAX], first;
    size_t n;
    int e = 0;
    if (!read_addresses(&a->local, list, &n))
        return errno;
    put_default_first(&a->local, list, n);
    for (int i = 0; i < BIND_ATTEMPTS; i++) {
        sa_set_port(&list[0], sa_port(&a->local.want));
        e = gain_all(a, list, n, &first);
        if (!e) {
            sa_set_port(&a->local.want, sa_port(&first));
            follow(a);
            return 0;
        }
        close_stacks(a);
        if (sa_port(&a->local.want))
            break;
    }
    return e;
}

int sip_local_open(struct sip_agent *a, const struct sa *want)
{
    a->local = (struct sip_local){.want = *want, .all = sa_is_any(want), .changes = -1};
    int e = a->local.all ? open_all(a) : gain(a, want, &a->local.want);
    if (!e)
        (void)re_snprintf(a->local.address, sizeof a->local.address, "%J", &a->local.want);
    return e;
}

void sip_local_close(struct sip_agent *a)
{
    tmr_cancel(&a->local.look);
    if (a->local.all && a->local.changes >= 0) {
        fd_close(a->local.changes);
        close(a->local.changes);
    }
    close_stacks(a);
}
