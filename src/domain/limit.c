#include "domain/limit.h"

#include <assert.h>
#include <glib.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/crypto.h"

#define WINDOW_US   (15 * 60 * US_PER_S)
#define KINDS       (LIMIT_PER_ADDRESS_OTP + 1)
#define SHARDS      16   /* of each kind; a power of two */
#define WINDOWS     4096 /* of each shard: 65,536 subjects of a kind at once */
#define SUBJECT_MAX 46   /* an IPv6 address as text, or an ID */

/* One subject's running window. */
struct window {
    int64_t start_us;
    uint32_t hash;
    int32_t taken;
    unsigned char length; /* 0: never used */
    char subject[SUBJECT_MAX];
};
static_assert(sizeof(struct window) == 64, "all shards together are 16 MiB");

/* Windows all last equally long, so that the order in which they start is the order in which they end: the ring's next
 * place always holds the window that ends first. */
struct shard {
    pthread_mutex_t lock;
    GHashTable *table; /* of the ring's windows, by subject */
    struct window *ring;
    unsigned next;
} __attribute__((aligned(64)));

struct limiter {
    struct shard shards[KINDS][SHARDS];
    uint32_t seed; /* nobody outside can choose subjects that fall together */
};

static guint window_hash(gconstpointer p)
{
    return ((const struct window *)p)->hash;
}

static gboolean window_equal(gconstpointer a, gconstpointer b)
{
    const struct window *x = a, *y = b;
    return x->hash == y->hash && x->length == y->length && memcmp(x->subject, y->subject, x->length) == 0;
}

struct limiter *limiter_new(void)
{
    struct limiter *l = aligned_alloc(64, sizeof *l);
    if (!l)
        abort();
    crypto_random(&l->seed, sizeof l->seed);
    for (size_t i = 0; i < (size_t)KINDS * SHARDS; i++) {
        struct shard *s = &l->shards[i / SHARDS][i % SHARDS];
        pthread_mutex_init(&s->lock, NULL);
        s->table = g_hash_table_new(window_hash, window_equal);
        s->ring = calloc(WINDOWS, sizeof *s->ring); /* the system gives the pages when they are first used */
        s->next = 0;
        if (!s->ring)
            abort();
    }
    return l;
}

void limiter_free(struct limiter *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < (size_t)KINDS * SHARDS; i++) {
        struct shard *s = &l->shards[i / SHARDS][i % SHARDS];
        g_hash_table_destroy(s->table);
        free(s->ring);
        pthread_mutex_destroy(&s->lock);
    }
    free(l);
}

/* FNV-1a from a random start; subjects are short. */
static uint32_t subject_hash(uint32_t seed, const char *p, size_t n)
{
    uint32_t h = 2166136261u ^ seed;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)p[i]) * 16777619u;
    return h ^ h >> 15;
}

static struct window *window_start(struct shard *s, const struct window *key, int64_t now_us)
{
    struct window *w = &s->ring[s->next];
    s->next = (s->next + 1) % WINDOWS;
    if (w->length && g_hash_table_lookup(s->table, w) == w)
        g_hash_table_remove(s->table, w);
    *w = *key;
    w->start_us = now_us;
    g_hash_table_add(s->table, w);
    return w;
}

/* The subject's running window. An ended one is left in the ring as a hole, and a new one takes the next place. */
static struct window *window_of(struct shard *s, const struct window *key, int64_t now_us)
{
    struct window *w = g_hash_table_lookup(s->table, key);
    if (w && now_us - w->start_us < WINDOW_US)
        return w;
    if (w)
        g_hash_table_remove(s->table, w);
    return window_start(s, key, now_us);
}

struct limit_state limit_take(struct limiter *l, enum limit_kind kind, struct str subject, int64_t limit,
                              int64_t now_us)
{
    assert(kind < KINDS && subject.n > 0 && subject.n <= SUBJECT_MAX);
    struct window key = {.length = (unsigned char)subject.n};
    memcpy(key.subject, subject.p, subject.n);
    key.hash = subject_hash(l->seed, key.subject, subject.n);

    struct shard *s = &l->shards[kind][key.hash % SHARDS];
    pthread_mutex_lock(&s->lock);
    struct window *w = window_of(s, &key, now_us);
    struct limit_state state = {.limit = limit, .exceeded = w->taken >= limit};
    if (!state.exceeded)
        w->taken++;
    state.remaining = limit > w->taken ? limit - w->taken : 0;
    int64_t left_us = w->start_us + WINDOW_US - now_us;
    pthread_mutex_unlock(&s->lock);

    int64_t left_s = (left_us + US_PER_S - 1) / US_PER_S;
    state.reset_s = left_s < 1 ? 1 : left_s > WINDOW_US / US_PER_S ? WINDOW_US / US_PER_S : left_s;
    return state;
}
