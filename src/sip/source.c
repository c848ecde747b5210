#include "sip/source.h"

#include "sip/guard.h"

#define HASH_SIZE  256
#define PROVEN_MAX 1024 /* sources without calls */

static bool same(struct le *le, void *arg)
{
    const struct sip_source *s = le->data, *wanted = arg;
    return s->peer == wanted->peer && (s->peer || sa_cmp(&s->addr, &wanted->addr, SA_ADDR));
}

static uint32_t key_of(const struct sip_source *s)
{
    return s->peer ? hash_joaat_str(s->peer->name) : sa_hash(&s->addr, SA_ADDR);
}

static void sip_source_destructor(void *arg)
{
    struct sip_source *s = arg;
    hash_unlink(&s->le);
    list_unlink(&s->idle);
}

int sip_sources_init(struct sip_sources *all)
{
    list_init(&all->idle);
    return hash_alloc(&all->table, HASH_SIZE);
}

void sip_sources_done(struct sip_sources *all)
{
    if (all->table)
        hash_flush(all->table);
    all->table = mem_deref(all->table);
}

struct sip_source *sip_source_find(const struct sip_sources *all, const struct sa *from, const struct config_peer *peer)
{
    struct sip_source wanted = {.peer = peer, .addr = sip_source_block(from)};
    return list_ledata(hash_lookup(all->table, key_of(&wanted), same, &wanted));
}

struct sip_source *sip_source_enter(struct sip_sources *all, const struct sa *from, const struct config_peer *peer)
{
    struct sip_source *s = sip_source_find(all, from, peer);
    if (!s) {
        s = mem_zalloc(sizeof *s, sip_source_destructor);
        if (!s)
            return NULL;
        s->peer = peer;
        s->addr = sip_source_block(from);
        hash_append(all->table, key_of(s), &s->le, s);
    }
    s->calls++;
    list_unlink(&s->idle);
    return s;
}

void sip_source_leave(struct sip_sources *all, struct sip_source *s)
{
    if (--s->calls)
        return;
    if (!s->proven) {
        mem_deref(s);
        return;
    }
    list_append(&all->idle, &s->idle, s);
    if (list_count(&all->idle) > PROVEN_MAX)
        mem_deref(list_ledata(all->idle.head));
}
