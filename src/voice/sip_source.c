#include "voice/sip_source.h"

#include "voice/sip_guard.h"

static bool same_address(struct le *le, void *arg)
{
    const struct sip_source *s = le->data;
    return sa_cmp(&s->addr, arg, SA_ADDR);
}

static void destructor(void *arg)
{
    struct sip_source *s = arg;
    hash_unlink(&s->le);
}

struct sip_source *sip_source_find(struct hash *table, const struct sa *from)
{
    struct sa addr = sip_source_block(from);
    uint32_t key = sa_hash(&addr, SA_ADDR);
    struct sip_source *s = list_ledata(hash_lookup(table, key, same_address, &addr));
    if (s)
        return s;
    s = mem_zalloc(sizeof *s, destructor);
    if (s) {
        s->addr = addr;
        hash_append(table, key, &s->le, s);
    }
    return s;
}

void sip_source_leave(struct sip_source *s)
{
    if (--s->calls == 0)
        mem_deref(s);
}
