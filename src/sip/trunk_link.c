#include "sip/trunk_link.h"

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "media/external.h"
#include "sip/agent.h"
#include "sip/guard.h"
#include "sip/local_find.h"
#include "sip/stack.h"

#define ANSWER_MS    5000   /* a server that takes longer does not answer */
#define RETRY_MS     10000  /* of a server that is down */
#define REFUSED_MS   30000  /* of a refused registration, doubled up to */
#define REFUSED_MOST 4      /* times */
#define RESOLVE_MS   300000 /* between look-ups of a name */
#define FAILING_MS   30000  /* a call failed */
#define REPEATS_MAX  4      /* of one request: two realms, a stale nonce, a longer expiry */
#define EXPIRES_MAX  86400
#define EXPIRES_MIN  10

static void contact(struct sip_trunk *t);
static void on_timer(void *arg);

/* ---- state ---- */

const char *sip_trunk_state_name(const struct sip_trunk *t)
{
    static const char *const names[] = {"trying", "up", "failing", "down"};
    return t->state == SIP_TRUNK_UP && t->registered ? "registered" : names[t->state];
}

static void set_state(struct sip_trunk *t, enum sip_trunk_state state, const char *why)
{
    const char *before = sip_trunk_state_name(t);
    if (why != t->error)
        (void)snprintf(t->error, sizeof t->error, "%s", why);
    t->registered = t->registered && state != SIP_TRUNK_DOWN;
    if (t->state == state)
        return;
    t->state = state;
    t->since_us = clock_now_us();
    if (state == SIP_TRUNK_UP)
        log_info("sip trunk name=%s state=%s before=%s", t->peer->name, sip_trunk_state_name(t), before);
    else
        log_warn("sip trunk name=%s state=%s before=%s reason=\"%s\"", t->peer->name, sip_trunk_state_name(t), before,
                 t->error);
}

static void end_request(struct sip_trunk *t)
{
    tmr_cancel(&t->timer);
    t->request = mem_deref(t->request);
}

static void wait_for(struct sip_trunk *t, int64_t ms)
{
    tmr_start(&t->timer, ms > 0 ? (uint64_t)ms : 0, on_timer, t);
}

static void succeeded(struct sip_trunk *t)
{
    const int64_t now_ms = tick_now_ms(), probe_ms = t->peer->probe_s * 1000;
    int64_t wait_ms = probe_ms ? probe_ms : RESOLVE_MS;
    end_request(t);
    t->tried = 0;
    t->refusals = 0;
    if (now_ms < t->failing_until_ms)
        set_state(t, SIP_TRUNK_FAILING, t->error);
    else
        set_state(t, SIP_TRUNK_UP, "");
    if (t->state == SIP_TRUNK_FAILING && wait_ms > t->failing_until_ms - now_ms)
        wait_ms = t->failing_until_ms - now_ms;
    if (t->peer->reg && wait_ms > t->refresh_ms - now_ms)
        wait_ms = t->refresh_ms - now_ms;
    wait_for(t, wait_ms);
}

static void failed(struct sip_trunk *t, const char *why, int64_t retry_ms)
{
    end_request(t);
    t->tried = 0;
    t->resolve_ms = 0;
    t->refresh_ms = 0;
    set_state(t, SIP_TRUNK_DOWN, why);
    wait_for(t, retry_ms);
}

/* The target did not answer, or with a failure of the server: the next one may. */
static void target_failed(struct sip_trunk *t, const char *why)
{
    char refused_text[SIP_TRUNK_ERROR];
    end_request(t);
    if (*t->tls_error) {
        (void)snprintf(refused_text, sizeof refused_text, "%s", t->tls_error);
        why = refused_text;
    }
    if (++t->tried >= t->target_count) {
        failed(t, why, RETRY_MS);
        return;
    }
    t->target = (t->target + 1) % t->target_count;
    t->refresh_ms = 0;
    contact(t);
}

/* ---- requests ---- */

int sip_trunk_password(char **user, char **password, const char *realm, void *arg)
{
    (void)realm;
    const struct sip_trunk *t = arg;
    if (!t->password)
        return EACCES;
    const int e = str_dup(user, t->peer->user);
    return e ? e : str_dup(password, t->password);
}

bool sip_trunk_hop(const struct sip_trunk *t, char *ret, size_t size)
{
    if (!t->target_count)
        return false;
    const struct sip_target *at = &t->targets[t->target];
    return re_snprintf(ret, size, "sip:%J%s", &at->addr, sip_transp_param(at->tp)) > 0;
}

static int print_user(struct re_printf *pf, const struct sip_trunk *t)
{
    const char *user = *t->peer->user ? t->peer->user : "portero";
    return re_hprintf(pf, "%H", uri_user_escape, &(struct pl){user, strlen(user)});
}

static int add_contact(enum sip_transp tp, const struct sa *src, const struct sa *dst, struct mbuf *mb, void *arg)
{
    const struct sip_trunk *t = arg;
    struct sa at;
    if (external_address(t->agent->config, src, dst, &at))
        sa_set_port(&at, sa_port(src));
    else
        at = *src;
    return mbuf_printf(mb, "Contact: <sip:%H@%J%s>\r\n", print_user, t, &at, sip_transp_param(tp));
}

static void on_response(int error, const struct sip_msg *msg, void *arg);

/* Whether connections over TLS to this target are another trunk's: libre would share one, but it was verified for the
 * name and authorities of the trunk that opened it. */
static bool is_taken(const struct sip_trunk *t)
{
    const struct sip_target *target = &t->targets[t->target];
    for (const struct sip_trunk *o = t->agent->trunks.list; target->tp == SIP_TRANSP_TLS && o < t; o++)
        for (size_t i = 0; i < o->target_count; i++)
            if (o->targets[i].tp == SIP_TRANSP_TLS && sa_cmp(&o->targets[i].addr, &target->addr, SA_ALL) &&
                (strcmp(o->peer->server, t->peer->server) != 0 || strcmp(o->peer->tls_ca, t->peer->tls_ca) != 0))
                return true;
    return false;
}

static int send_request(struct sip_trunk *t)
{
    char hop[80], uri[SIP_ROUTE_URI], expires[32] = "";
    struct uri route;
    struct sip_stack *from = sip_local_stack(t->agent, &t->targets[t->target].addr);
    const char *method = t->registering ? "REGISTER" : "OPTIONS", *domain = sip_trunk_domain(t->peer);
    if (!from || !sip_trunk_hop(t, hop, sizeof hop) || uri_decode(&route, &(struct pl){hop, strlen(hop)}))
        return EADDRNOTAVAIL;
    (void)snprintf(uri, sizeof uri, "sip:%s", domain);
    if (t->registering)
        (void)snprintf(expires, sizeof expires, "Expires: %u\r\n", t->expires_s);
    sip_tls_expect(t);
    return sip_requestf(&t->request, from->sip, true, method, uri, &route, t->auth, add_contact, on_response, t,
                        "To: <sip:%H@%s>\r\nFrom: <sip:%H@%s>;tag=%s\r\nCall-ID: %s\r\nCSeq: %u %s\r\n%s"
                        "Allow: " SIP_ALLOW "\r\nUser-Agent: portero/" PORTERO_VERSION "\r\nContent-Length: 0\r\n\r\n",
                        print_user, t, domain, print_user, t, domain, t->tag, t->call_id, ++t->cseq, method, expires);
}

/* Sends the request again, in answer to a response. False if that cannot help. */
static bool repeat(struct sip_trunk *t)
{
    return ++t->repeated <= REPEATS_MAX && !send_request(t);
}

/* ---- responses ---- */

static void refused(struct sip_trunk *t, const struct sip_msg *msg)
{
    char why[SIP_TRUNK_ERROR];
    (void)re_snprintf(why, sizeof why, "registration refused: %u %r", msg->scode, &msg->reason);
    for (char *p = why; *p; p++)
        if ((unsigned char)*p < ' ' || *p == '"')
            *p = ' ';
    const unsigned n = t->refusals++ < REFUSED_MOST ? t->refusals - 1 : REFUSED_MOST - 1;
    failed(t, why, (int64_t)REFUSED_MS << n);
}

struct granted {
    const struct sip_trunk *trunk;
    uint32_t seconds;
};

/* Finds our contact among the registrar's, and its expiry. */
static bool find_contact(const struct sip_hdr *hdr, const struct sip_msg *msg, void *arg)
{
    struct granted *g = arg;
    struct sip_addr contact;
    struct pl seconds;
    char user[SIP_ROUTE_URI];
    (void)msg;
    (void)re_snprintf(user, sizeof user, "%H", print_user, g->trunk);
    if (sip_addr_decode(&contact, &hdr->val) || pl_strcmp(&contact.uri.user, user) ||
        msg_param_decode(&contact.params, "expires", &seconds))
        return false;
    g->seconds = pl_u32(&seconds);
    return true;
}

static void on_registered(struct sip_trunk *t, const struct sip_msg *msg)
{
    struct granted g = {.trunk = t, .seconds = pl_isset(&msg->expires) ? pl_u32(&msg->expires) : t->expires_s};
    (void)sip_msg_hdr_apply(msg, true, SIP_HDR_CONTACT, find_contact, &g);
    if (g.seconds < EXPIRES_MIN)
        g.seconds = EXPIRES_MIN;
    if (g.seconds > EXPIRES_MAX)
        g.seconds = EXPIRES_MAX;
    t->registered = true;
    t->refresh_ms = tick_now_ms() + (int64_t)g.seconds * 800; /* four fifths */
    succeeded(t);
}

/* 423: the registrar wants longer registrations. */
static bool take_longer(struct sip_trunk *t, const struct sip_msg *msg)
{
    const struct sip_hdr *least = sip_msg_hdr(msg, SIP_HDR_MIN_EXPIRES);
    const uint32_t seconds = least ? pl_u32(&least->val) : 0;
    if (seconds <= t->expires_s || seconds > EXPIRES_MAX)
        return false;
    t->expires_s = seconds;
    return true;
}

static void on_register_response(struct sip_trunk *t, const struct sip_msg *msg)
{
    if (msg->scode < 300)
        on_registered(t, msg);
    else if ((msg->scode != 401 && msg->scode != 407) || sip_auth_authenticate(t->auth, msg) || !repeat(t)) {
        if (msg->scode != 423 || !take_longer(t, msg) || !repeat(t))
            refused(t, msg);
    }
}

/* A server that answers at all is up, unless it says that it cannot serve. */
static bool is_unavailable(int status)
{
    return status == 408 || (status >= 500 && status < 600 && status != 501);
}

/* The registrar answered our last request. NULL: it did not. */
static void on_left(struct sip_trunk *t, const struct sip_msg *msg)
{
    const bool challenged = msg && (msg->scode == 401 || msg->scode == 407);
    if (challenged && !sip_auth_authenticate(t->auth, msg) && repeat(t))
        return;
    log_debug("sip trunk name=%s left status=%d", t->peer->name, msg ? msg->scode : 0);
    t->leaving = t->registered = false;
    sip_agent_settled(t->agent);
}

static void on_response(int error, const struct sip_msg *msg, void *arg)
{
    struct sip_trunk *t = arg;
    char text[64] = "", why[100];
    if (!error && msg->scode < 200)
        return;
    t->request = NULL;
    if (t->leaving) {
        on_left(t, error ? NULL : msg);
        return;
    }
    if (error || is_unavailable(msg->scode)) {
        if (error)
            (void)snprintf(why, sizeof why, "%s", str_error(error, text, sizeof text));
        else
            (void)re_snprintf(why, sizeof why, "the server answers %u", msg->scode);
        target_failed(t, why);
    } else if (t->registering) {
        on_register_response(t, msg);
    } else {
        succeeded(t);
    }
}

/* ---- time ---- */

static void begin_request(struct sip_trunk *t, bool registering)
{
    t->registering = registering;
    t->repeated = 0;
    t->tls_error[0] = '\0';
    sip_auth_reset(t->auth);
    wait_for(t, ANSWER_MS);
    char text[64] = "";
    if (is_taken(t)) {
        target_failed(t, "its address is that of a trunk with another name or tls_ca");
        return;
    }
    const int e = send_request(t);
    if (e)
        target_failed(t, str_error(e, text, sizeof text));
}

static void contact(struct sip_trunk *t)
{
    if (t->peer->reg && tick_now_ms() >= t->refresh_ms)
        begin_request(t, true);
    else if (t->peer->probe_s)
        begin_request(t, false);
    else
        succeeded(t);
}

static void on_resolved(const struct sip_target *targets, size_t count, const char *why, void *arg)
{
    struct sip_trunk *t = arg;
    struct sa addresses[SIP_TARGETS_MAX];
    const struct sip_target used = t->targets[t->target];
    if (!count && !t->target_count) {
        failed(t, why, RETRY_MS);
        return;
    }
    t->resolve_ms = tick_now_ms() + RESOLVE_MS;
    if (count) { /* otherwise the old addresses serve on */
        memcpy(t->targets, targets, count * sizeof *targets);
        t->target_count = count;
        t->target = 0;
    }
    for (size_t i = 0; i < count; i++) {
        addresses[i] = targets[i].addr;
        if (t->state == SIP_TRUNK_UP && targets[i].tp == used.tp && sa_cmp(&targets[i].addr, &used.addr, SA_ALL))
            t->target = i;
    }
    sip_peers_learn(&t->agent->peers, t->peer, addresses, count);
    contact(t);
}

static void look_up(struct sip_trunk *t)
{
    const struct sip_agent *a = t->agent;
    sip_resolve_start(&t->resolve, a->trunks.dnsc, t->peer->server, t->peer->transport, sip_local_has(a, AF_INET),
                      sip_local_has(a, AF_INET6), on_resolved, t);
}

static void on_timer(void *arg)
{
    struct sip_trunk *t = arg;
    if (t->request) {
        target_failed(t, "the server does not answer");
        return;
    }
    if (tick_now_ms() >= t->resolve_ms)
        look_up(t);
    else
        contact(t);
}

void sip_trunk_link_start(struct sip_trunk *t)
{
    t->expires_s = (uint32_t)t->peer->register_s;
    t->since_us = clock_now_us();
    (void)re_snprintf(t->call_id, sizeof t->call_id, "%016llx", (unsigned long long)rand_u64());
    (void)re_snprintf(t->tag, sizeof t->tag, "%016llx", (unsigned long long)rand_u64());
    if (sip_auth_alloc(&t->auth, sip_trunk_password, t, false))
        failed(t, "no memory", RETRY_MS);
    else
        look_up(t);
}

void sip_trunk_link_failed(struct sip_trunk *t, const char *why)
{
    t->failing_until_ms = tick_now_ms() + FAILING_MS;
    set_state(t, SIP_TRUNK_FAILING, why);
    if (!t->request && t->target_count)
        wait_for(t, 0);
}

void sip_trunk_link_leave(struct sip_trunk *t)
{
    const bool registering = t->registering && t->request; /* it may succeed */
    sip_resolve_cancel(&t->resolve);
    end_request(t);
    if (!t->registered && !registering)
        return;
    t->leaving = t->registering = true;
    t->repeated = 0;
    t->expires_s = 0;
    sip_auth_reset(t->auth);
    t->leaving = !send_request(t);
}

void sip_trunk_link_stop(struct sip_trunk *t)
{
    sip_resolve_cancel(&t->resolve);
    end_request(t);
    t->auth = mem_deref(t->auth);
}
