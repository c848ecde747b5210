#include "voice/sip_trunk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "voice/sip_agent.h"
#include "voice/sip_trunk_form.h"

static bool is_trunk(const struct config_peer *p)
{
    return p->server && *p->server;
}

static enum err add_trunk(struct sip_trunks *all, const struct config_peer *p, char *why, size_t why_size)
{
    struct sip_trunk *t = &all->list[all->count++];
    char key[100], *reason = NULL;
    struct str password = STR("");
    *t = (struct sip_trunk){.peer = p};
    (void)snprintf(key, sizeof key, "voice.peer.%s.password", p->name);
    enum err e = config_secret_of(key, p->password, &all->arena, &password, &reason);
    if (e)
        (void)snprintf(why, why_size, "%s", reason);
    free(reason);
    t->password = *p->user ? password.p : NULL;
    return e;
}

enum err sip_trunks_init(struct sip_agent *a, char *why, size_t why_size)
{
    struct sip_trunks *all = &a->trunks;
    arena_init(&all->arena, NULL, 0);
    all->count = 0;
    enum err e = ERR_NONE;
    for (size_t i = 0; !e && i < a->config->peer_count; i++)
        if (is_trunk(&a->config->peers[i]))
            e = add_trunk(all, &a->config->peers[i], why, why_size);
    return e;
}

void sip_trunks_done(struct sip_agent *a)
{
    arena_done(&a->trunks.arena);
}

/* ---- calls ---- */

/* libre's digest authentication asks for the name and the password of each realm. */
static int give_password(char **user, char **password, const char *realm, void *arg)
{
    (void)realm;
    const struct sip_trunk *t = arg;
    if (!t->password)
        return EACCES;
    int e = str_dup(user, t->peer->user);
    return e ? e : str_dup(password, t->password);
}

static bool has_room(const struct sip_trunk *t)
{
    return t->calls < (unsigned)t->peer->calls_out;
}

/* The URI of the server as the only hop, unless the request's URI leads there. */
static void set_outbound(const struct sip_trunk *t, struct sip_route *ret)
{
    const struct config_peer *p = t->peer;
    ret->outbound[0] = '\0';
    if (!*p->domain)
        return;
    const bool named = strcmp(p->transport, "auto") != 0;
    (void)snprintf(ret->outbound, sizeof ret->outbound, "sip:%s%s%s", p->server, named ? ";transport=" : "",
                   named ? p->transport : "");
}

bool sip_trunk_route(struct sip_agent *a, unsigned *at, const char *number, const char *as, const char *original,
                     struct sip_route *ret)
{
    while (*at < a->trunks.count) {
        struct sip_trunk *t = &a->trunks.list[(*at)++];
        if (!has_room(t) || !sip_trunk_form(t->peer, number, as, original, ret))
            continue;
        set_outbound(t, ret);
        ret->auth = give_password;
        ret->auth_arg = t;
        ret->srtp = strcmp(t->peer->srtp, "off") != 0;
        ret->rtp = strcmp(t->peer->srtp, "required") != 0;
        ret->trunk = t;
        return true;
    }
    return false;
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
    (void)t;
    return error || status == 408 || status >= 500;
}
