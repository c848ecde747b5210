#include "api/gate_auth.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "domain/key.h"

#define CACHE_SETS 8192 /* a power of two */
#define CACHE_WAYS 4
#define KEY_MAX    128 /* a longer key is refused without hashing */

#define US_PER_MINUTE (60 * US_PER_S)

struct entry {
    uint64_t epoch; /* 0: unused */
    unsigned char hash[SHA256_LEN];
    struct principal who;
};

struct gate_cache {
    struct entry entries[CACHE_SETS][CACHE_WAYS]; /* newest first */
};

struct gate_cache *gate_cache_new(void)
{
    return mem_new(struct gate_cache);
}

void gate_cache_free(struct gate_cache *cache)
{
    free(cache);
}

/* The hash is uniform, so any of its bytes can choose the set. */
static struct entry *set_of(struct gate_cache *cache, const unsigned char *hash)
{
    uint32_t index;
    memcpy(&index, hash, sizeof index);
    return cache->entries[index & (CACHE_SETS - 1)];
}

static struct principal *cache_find(struct gate_cache *cache, uint64_t epoch, const unsigned char *hash)
{
    struct entry *set = set_of(cache, hash);
    for (size_t i = 0; i < CACHE_WAYS; i++)
        if (set[i].epoch == epoch && memcmp(set[i].hash, hash, SHA256_LEN) == 0)
            return &set[i].who;
    return NULL;
}

static struct principal *cache_put(struct gate_cache *cache, uint64_t epoch, const unsigned char *hash,
                                   const struct principal *who)
{
    struct entry *set = set_of(cache, hash);
    memmove(set + 1, set, sizeof *set * (CACHE_WAYS - 1));
    set[0].epoch = epoch;
    memcpy(set[0].hash, hash, SHA256_LEN);
    set[0].who = *who;
    return &set[0].who;
}

/* RFC 6750 section 2.1: the scheme in any case, one or more spaces, the token. */
static bool bearer(const struct http_request *r, struct str *ret)
{
    size_t count;
    struct str rest, value = http_header(r, STR("Authorization"), &count);
    struct str scheme = str_cut(value, ' ', &rest);
    if (count != 1 || !rest.p || !str_eqi(scheme, STR("Bearer")))
        return false;
    *ret = str_trim(rest);
    return ret->n > 0 && !memchr(ret->p, ' ', ret->n);
}

enum err gate_authenticate(struct gate_cache *cache, struct request *q)
{
    struct str key;
    if (!bearer(q->http, &key))
        return ERR_AUTH_REQUIRED;
    if (key.n > KEY_MAX)
        return ERR_INVALID_KEY;
    unsigned char hash[SHA256_LEN];
    key_hash(key, hash);
    struct principal *known = cache ? cache_find(cache, q->keys_epoch, hash) : NULL;
    if (!known) {
        enum err e = key_authenticate(&q->tx, hash, &q->who);
        if (e)
            return e;
        known = cache ? cache_put(cache, q->keys_epoch, hash, &q->who) : &q->who;
    }
    if (known->expires_at_us <= q->tx.now_us)
        return ERR_INVALID_KEY;
    q->key_used = known->last_used_us / US_PER_MINUTE < q->tx.now_us / US_PER_MINUTE;
    if (q->key_used)
        known->last_used_us = q->tx.now_us;
    if (known != &q->who)
        q->who = *known;
    return ERR_NONE;
}
