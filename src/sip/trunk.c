#include "sip/trunk.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "media/external.h"
#include "sip/agent.h"
#include "sip/local_find.h"
#include "sip/source.h"
#include "sip/stack.h"
#include "sip/trunk_form.h"
#include "sip/trunk_link.h"

#define NAME_SERVERS 4
#define PUBLISH_MS   1000

_Static_assert(CONFIG_PEERS_MAX <= TRUNK_BOARD_MAX, "the board has room for each");
_Static_assert(CONFIG_PEERS_MAX <= 8 * sizeof(unsigned), "sip_trunk_route has a bit for each");

/* ---- starting ---- */

static bool is_trunk(const struct config_peer *p)
{
    return p->server && *p->server;
}

static enum err add_trunk(struct sip_agent *a, const struct config_peer *p, char *why, size_t why_size)
{
    struct sip_trunks *all = &a->trunks;
    struct sip_trunk *t = &all->list[all->count++];
    char key[100], *reason = NULL;
    struct str password = STR("");
    *t = (struct sip_trunk){.agent = a, .peer = p};
    (void)snprintf(key, sizeof key, "voice.peer.%s.password", p->name);
    enum err e = config_secret_of(key, p->password, &all->arena, &password, &reason);
    if (e)
        (void)snprintf(why, why_size, "%s", reason);
    free(reason);
    t->password = *p->user ? password.p : NULL;
    return e;
}

static void find_name_servers(struct sip_agent *a)
{
    struct sa servers[NAME_SERVERS];
    uint32_t n = ARRAY_SIZE(servers);
    char domain[256];
    const char *given = a->config->voice_nameserver;
    memset(servers, 0, sizeof servers);
    int e = given && *given ? sa_decode(&servers[0], given, strlen(given))
                            : dns_srv_get(domain, sizeof domain, servers, &n);
    if (given && *given)
        n = 1;
    if (!n || e || dnsc_alloc(&a->trunks.dnsc, NULL, servers, n))
        log_warn("no name server: trunks are reached by their addresses only");
}

enum err sip_trunks_init(struct sip_agent *a, char *why, size_t why_size)
{
    struct sip_trunks *all = &a->trunks;
    arena_init(&all->arena, NULL, 0);
    all->count = 0;
    enum err e = ERR_NONE;
    for (size_t i = 0; !e && i < a->config->peer_count; i++)
        if (is_trunk(&a->config->peers[i]))
            e = add_trunk(a, &a->config->peers[i], why, why_size);
    if (!e && all->count)
        find_name_servers(a);
    return e;
}

struct count {
    const struct config_peer *peer;
    unsigned calls;
};

static bool count_calls(struct le *le, void *arg)
{
    const struct sip_source *s = le->data;
    struct count *c = arg;
    if (s->peer == c->peer)
        c->calls += s->calls;
    return false;
}

static struct trunk_status status_of(const struct sip_trunk *t)
{
    struct count in = {.peer = t->peer};
    struct trunk_status s = {.since_us = t->since_us, .calls_out = t->calls};
    hash_apply(t->agent->sources.table, count_calls, &in);
    s.calls_in = in.calls;
    (void)snprintf(s.name, sizeof s.name, "%s", t->peer->name);
    (void)snprintf(s.server, sizeof s.server, "%s", t->peer->server);
    (void)snprintf(s.state, sizeof s.state, "%s", sip_trunk_state_name(t));
    (void)snprintf(s.error, sizeof s.error, "%s", t->error);
    (void)snprintf(s.transport, sizeof s.transport, "%s", t->peer->transport);
    if (t->target_count)
        (void)re_snprintf(s.transport, sizeof s.transport, "%s", sip_agent_transport(t->targets[t->target].tp));
    return s;
}

/* Calls come and go often, so the board is written once a second. */
static void publish(void *arg)
{
    struct sip_agent *a = arg;
    struct trunk_status list[CONFIG_PEERS_MAX];
    for (size_t i = 0; i < a->trunks.count; i++)
        list[i] = status_of(&a->trunks.list[i]);
    trunk_board_put(a->board, list, a->trunks.count);
    tmr_start(&a->trunks.publish, PUBLISH_MS, publish, a);
}

void sip_trunks_start(struct sip_agent *a)
{
    for (size_t i = 0; i < a->trunks.count; i++)
        sip_trunk_link_start(&a->trunks.list[i]);
    if (a->trunks.count)
        publish(a);
}

void sip_trunks_leave(struct sip_agent *a)
{
    for (size_t i = 0; i < a->trunks.count; i++)
        sip_trunk_link_leave(&a->trunks.list[i]);
}

bool sip_trunks_leaving(const struct sip_agent *a)
{
    bool leaving = false;
    for (size_t i = 0; i < a->trunks.count; i++)
        leaving = leaving || a->trunks.list[i].leaving;
    return leaving;
}

void sip_trunks_done(struct sip_agent *a)
{
    tmr_cancel(&a->trunks.publish);
    tmr_cancel(&a->trunks.forget);
    for (size_t i = 0; i < a->trunks.count; i++)
        sip_trunk_link_stop(&a->trunks.list[i]);
    a->trunks.dnsc = mem_deref(a->trunks.dnsc);
    arena_done(&a->trunks.arena);
}

/* ---- calls ---- */

static bool has_room(const struct sip_trunk *t)
{
    return t->calls < (unsigned)t->peer->calls_out;
}

/* The first trunk that was not tried: one that is up, else one whose last call failed. */
static struct sip_trunk *choose(struct sip_agent *a, unsigned tried)
{
    struct sip_trunk *last_choice = NULL;
    for (size_t i = 0; i < a->trunks.count; i++) {
        struct sip_trunk *t = &a->trunks.list[i];
        if (tried & 1U << i || !has_room(t) || !t->target_count || t->state == SIP_TRUNK_DOWN)
            continue;
        if (t->state != SIP_TRUNK_FAILING)
            return t;
        if (!last_choice)
            last_choice = t;
    }
    return last_choice;
}

/* Directs the call to the target in use, unless the request's URI leads there. */
static bool set_outbound(const struct sip_trunk *t, struct sip_route *ret)
{
    struct sip_server server;
    sip_server_parse(t->peer->server, &server);
    ret->outbound[0] = '\0';
    return (server.numeric && !*t->peer->domain) || sip_trunk_hop(t, ret->outbound, sizeof ret->outbound);
}

/* Outside of the local networks the trunk must be told the external address. */
static void set_contact(const struct sip_agent *a, const struct sip_trunk *t, struct sip_route *ret)
{
    const struct sip_target *target = &t->targets[t->target];
    struct sa at, local;
    char user[sizeof ret->cuser];
    if (sip_transp_laddr(ret->stack->sip, &local, target->tp, &target->addr) ||
        !external_address(a->config, &local, &target->addr, &at))
        return;
    (void)snprintf(user, sizeof user, "%s", ret->cuser);
    sa_set_port(&at, sa_port(&local));
    (void)re_snprintf(ret->cuser, sizeof ret->cuser, "sip:%s@%J%s", user, &at, sip_transp_param(target->tp));
}

bool sip_trunk_route(struct sip_agent *a, unsigned *tried, const char *number, const char *as, const char *original,
                     struct sip_route *ret)
{
    for (struct sip_trunk *t; (t = choose(a, *tried));) {
        *tried |= 1U << (t - a->trunks.list);
        if (!sip_trunk_form(t->peer, number, as, original, ret) || !set_outbound(t, ret))
            continue;
        ret->stack = sip_local_stack(a, &t->targets[t->target].addr);
        if (!ret->stack)
            continue;
        set_contact(a, t, ret);
        sip_tls_expect(t);
        ret->auth = sip_trunk_password;
        ret->auth_arg = t;
        ret->srtp = sip_trunk_srtp(t->peer);
        ret->trunk = t;
        return true;
    }
    return false;
}

void sip_trunk_again(const struct sip_agent *a, unsigned *tried, const struct sip_trunk *t)
{
    *tried &= ~(1U << (t - a->trunks.list));
}

void sip_trunk_enter(struct sip_trunk *t)
{
    t->calls++;
}

void sip_trunk_leave(struct sip_trunk *t)
{
    t->calls--;
}

bool sip_trunk_result(struct sip_agent *a, struct sip_trunk *t, int error, int status)
{
    (void)a;
    char text[64] = "", why[100];
    const bool refused = status == 401 || status == 407; /* our password */
    if (status >= 300 && status < 400) {
        log_info("sip trunk name=%s redirection=%d followed=0", t->peer->name, status);
        return true;
    }
    if (!error && !refused && status != 408 && (status < 500 || status >= 600))
        return false;
    if (error)
        (void)snprintf(why, sizeof why, "call not placed: %s", str_error(error, text, sizeof text));
    else
        (void)snprintf(why, sizeof why, "call answered with %d", status);
    sip_trunk_link_failed(t, why);
    return true;
}
