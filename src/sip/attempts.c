#include "sip/attempts.h"

#include "sip/guard.h"

#define HASH_SIZE 256

struct attempts {
    struct le by_source, in_all;
    struct sa addr;
    int64_t until_ms; /* all are forgotten then */
};

static void attempts_destructor(void *arg)
{
    struct attempts *s = arg;
    hash_unlink(&s->by_source);
    list_unlink(&s->in_all);
}

int sip_attempts_init(struct sip_attempts *a)
{
    *a = (struct sip_attempts){0};
    return hash_alloc(&a->by_source, HASH_SIZE);
}

void sip_attempts_done(struct sip_attempts *a)
{
    list_flush(&a->all);
    a->by_source = mem_deref(a->by_source);
}

static bool is_source(struct le *le, void *arg)
{
    const struct attempts *s = le->data;
    return sa_cmp(&s->addr, arg, SA_ADDR);
}

static struct attempts *find_attempts(const struct sip_attempts *a, const struct sa *block)
{
    return list_ledata(hash_lookup(a->by_source, sa_hash(block, SA_ADDR), is_source, (void *)block));
}

static bool is_full(struct sip_attempts *a, int64_t now_ms)
{
    struct le *le = a->count < SIP_ATTEMPTS_SOURCES ? NULL : a->all.head;
    while (le) {
        struct attempts *s = le->data;
        le = le->next;
        if (s->until_ms <= now_ms) {
            mem_deref(s);
            a->count--;
        }
    }
    return a->count >= SIP_ATTEMPTS_SOURCES;
}

static bool must_wait(const struct attempts *s, int64_t now_ms)
{
    return s->until_ms - now_ms > (SIP_ATTEMPTS_BURST - 1) * SIP_ATTEMPT_MS;
}

bool sip_attempts_allow(struct sip_attempts *a, const struct sa *src, int64_t now_ms)
{
    const struct sa block = sip_source_block(src);
    const struct attempts *s = find_attempts(a, &block);
    return s ? !must_wait(s, now_ms) : !is_full(a, now_ms);
}

static struct attempts *new_attempts(struct sip_attempts *a, const struct sa *block, int64_t now_ms)
{
    struct attempts *s = is_full(a, now_ms) ? NULL : mem_zalloc(sizeof *s, attempts_destructor);
    if (!s)
        return NULL;
    s->addr = *block;
    hash_append(a->by_source, sa_hash(block, SA_ADDR), &s->by_source, s);
    list_append(&a->all, &s->in_all, s);
    a->count++;
    return s;
}

bool sip_attempts_wrong(struct sip_attempts *a, const struct sa *src, int64_t now_ms)
{
    const struct sa block = sip_source_block(src);
    struct attempts *s = find_attempts(a, &block);
    if (!s)
        s = new_attempts(a, &block, now_ms);
    if (!s)
        return false;
    const bool before = must_wait(s, now_ms);
    s->until_ms = (s->until_ms > now_ms ? s->until_ms : now_ms) + SIP_ATTEMPT_MS;
    return !before && must_wait(s, now_ms);
}
