#include "api/gate_auth.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "api/door.h"
#include "base/mem.h"
#include "domain/key.h"

#define CACHE_SETS 8192 /* a power of two */
#define CACHE_WAYS 4

#define US_PER_MINUTE (60 * US_PER_S)

#define EPOCH_SHARED 1 /* of entries that the store confirms at each use */

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

static struct entry *cache_find(struct gate_cache *cache, uint64_t epoch, const unsigned char *hash)
{
    struct entry *set = set_of(cache, hash);
    for (size_t i = 0; i < CACHE_WAYS; i++)
        if (set[i].epoch == epoch && memcmp(set[i].hash, hash, SHA256_LEN) == 0)
            return &set[i];
    return NULL;
}

/* Skips expired entries: a browser's hash can have another key by now. */
static struct entry *cache_find_valid(struct gate_cache *cache, const struct request *q, uint64_t epoch,
                                      const unsigned char *hash)
{
    struct entry *entry = cache_find(cache, epoch, hash);
    return entry && entry->who.expires_at_us > q->tx.now_us ? entry : NULL;
}

static struct principal *cache_put(struct gate_cache *cache, uint64_t epoch, const unsigned char *hash,
                                   const struct principal *who)
{
    struct entry *set = set_of(cache, hash), *old = cache_find(cache, epoch, hash);
    memmove(set + 1, set, sizeof *set * (old ? (size_t)(old - set) : CACHE_WAYS - 1));
    set[0].epoch = epoch;
    memcpy(set[0].hash, hash, SHA256_LEN);
    set[0].who = *who;
    return &set[0].who;
}

static bool first_in_minute(const struct request *q, const struct principal *who)
{
    return who->last_used_us / US_PER_MINUTE < q->tx.now_us / US_PER_MINUTE;
}

static enum err accept_principal(struct request *q, const struct principal *who)
{
    if (who->expires_at_us <= q->tx.now_us)
        return ERR_INVALID_KEY;
    q->key.used = first_in_minute(q, who);
    if (who != &q->who)
        q->who = *who;
    return ERR_NONE;
}

/* ---- a store that this process alone uses ---- */

static enum err authenticate_cached(struct gate_cache *cache, struct request *q)
{
    unsigned char hash[SHA256_LEN];
    enum err e = q->door->key_hash(q, hash);
    if (e)
        return e;
    struct entry *entry = cache_find_valid(cache, q, q->key.epoch, hash);
    struct principal *known = entry ? &entry->who : NULL;
    if (!known) {
        e = key_authenticate(&q->tx, hash, &q->who);
        if (e)
            return e;
        known = cache_put(cache, q->key.epoch, hash, &q->who);
    }
    e = accept_principal(q, known);
    if (!e && q->key.used)
        known->last_used_us = q->tx.now_us;
    return e;
}

/* ---- a shared store ---- */

void gate_recall(struct gate_cache *cache, struct request *q)
{
    struct key_assumption *a = arena_new(q->tx.arena, struct key_assumption);
    if (q->door->key_hash(q, a->hash))
        return;
    const struct entry *entry = cache_find_valid(cache, q, EPOCH_SHARED, a->hash);
    a->given = entry;
    if (entry)
        a->who = entry->who;
    q->key.recalled = a;
}

void gate_remember(struct gate_cache *cache, struct request *q)
{
    if (!q->key.recalled)
        return;
    const unsigned char *hash = q->key.recalled->hash;
    struct entry *entry = cache_find(cache, EPOCH_SHARED, hash);
    const bool whole = q->who.building_number != 0; /* that is assigned later, and changes nothing that is confirmed */
    if ((q->key.confirmed && whole) || (q->key.recalled->given && q->key.used)) {
        struct principal *who = cache_put(cache, EPOCH_SHARED, hash, &q->who);
        if (q->key.used)
            who->last_used_us = q->tx.now_us;
    } else if (entry && !q->key.recalled->given) {
        entry->epoch = 0;
    }
}

/* An earlier run served a principal that has changed. Its limits were taken from the wrong one, too. */
static void forget_assumed_run(struct request *q)
{
    q->key.assumed = q->limits.taken = q->building_linked = false;
    q->who = (struct principal){0};
    q->building_id = (struct id){0};
    q->building_number = 0;
    q->limits.tightest = (struct limit_state){0};
    q->reply = (struct reply){0};
    q->tx.why = STR_NONE;
    q->tx.retry_after_s = 0;
}

static enum err authenticate_in_store(struct request *q)
{
    unsigned char hash[SHA256_LEN];
    q->key.confirmed = q->key.used = false;
    if (q->key.recalled && q->key.recalled->given) {
        q->key.assumed = true;
        key_assume(&q->tx, q->key.recalled);
        return accept_principal(q, &q->key.recalled->who);
    }
    if (q->key.assumed)
        forget_assumed_run(q);
    enum err e = q->key.recalled ? ERR_NONE : q->door->key_hash(q, hash);
    if (!e)
        e = key_authenticate(&q->tx, q->key.recalled ? q->key.recalled->hash : hash, &q->who);
    q->key.confirmed = !e;
    return e ? e : accept_principal(q, &q->who);
}

enum err gate_authenticate(struct gate_cache *cache, struct request *q)
{
    enum err e = cache ? authenticate_cached(cache, q) : authenticate_in_store(q);
    return e == ERR_INVALID_KEY && q->door->refused ? q->door->refused(q) : e;
}

/* ---- after a wait ---- */

static enum err check_again(struct tx *tx, void *arg)
{
    struct request *q = arg;
    unsigned char hash[SHA256_LEN];
    struct tx at_checks = *tx;
    struct principal who;
    at_checks.now_us = q->tx.now_us;
    enum err e = q->door->key_hash(q, hash);
    if (!e)
        e = key_authenticate(&at_checks, hash, &who);
    return e == ERR_INVALID_KEY ? tx_fail(tx, e, "The key was ended while its request ran.") : e;
}

struct keyed {
    struct request *q;
    enum err (*body)(struct tx *tx, void *arg);
    void *arg;
};

static enum err run_keyed(struct tx *tx, void *arg)
{
    const struct keyed *k = arg;
    enum err e = check_again(tx, k->q);
    return e ? e : k->body(tx, k->arg);
}

enum err gate_recheck(struct request *q)
{
    if (!id_given(&q->who.key_id))
        return ERR_NONE;
    enum err e = work_read(&q->work, check_again, q);
    q->tx.why = q->work.why;
    return e;
}

enum err gate_write(struct request *q, enum err (*body)(struct tx *tx, void *arg), void *arg)
{
    return id_given(&q->who.key_id) ? work_write(&q->work, run_keyed, &(struct keyed){q, body, arg})
                                    : work_write(&q->work, body, arg);
}
