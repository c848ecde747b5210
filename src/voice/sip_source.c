#include "voice/sip_source.h"

#include "voice/sip_guard.h"

static bool same(struct le *le, void *arg)
{
    const struct sip_source *s = le->data, *wanted = arg;
    return s->peer == wanted->peer && (s->peer || sa_cmp(&s->addr, &wanted->addr, SA_ADDR));
}

static void sip_source_destructor(void *arg)
{
    struct sip_source *s = arg;
    hash_unlink(&s->le);
}

struct sip_source *sip_source_find(struct hash *table, const struct sa *from, const struct config_peer *peer)
{
    struct sip_source wanted = {.peer = peer, .addr = sip_source_block(from)};
    uint32_t key = peer ? hash_joaat_str(peer->name) : sa_hash(&wanted.addr, SA_ADDR);
    struct sip_source *s = list_ledata(hash_lookup(table, key, same, &wanted));
    if (s)
        return s;
    s = mem_zalloc(sizeof *s, sip_source_destructor);
    if (s) {
        s->peer = wanted.peer;
        s->addr = wanted.addr;
        hash_append(table, key, &s->le, s);
    }
    return s;
}

void sip_source_leave(struct sip_source *s)
{
    if (--s->calls == 0)
        mem_deref(s);
}
