#include "api/limit.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/mem.h"
#include "base/metric.h"
#include "net/address.h"

#define WINDOW_US (15 * 60 * US_PER_S)
#define KINDS     (LIMIT_PER_ADDRESS_OAUTH + 1)
#define WAYS      12
#define SETS      (LIMIT_SUBJECTS / WAYS) /* of each kind */
#define LOCKS     64                      /* of each kind; a power of two */

/* One subject's window. */
struct window {
    char subject[LIMIT_SUBJECT_MAX]; /* padded with NULs; empty: unused */
    int64_t start_us;
    int64_t taken;
};

/* Subjects with the same hash, in no order. */
struct set {
    struct window windows[WAYS];
    int64_t forgotten;          /* the highest count of an evicted subject */
    int64_t forgotten_start_us; /* start of the newest evicted window */
} __attribute__((aligned(64)));
static_assert((int)METRIC_RATE_VALUES == KINDS, "a series for each kind");
static_assert(sizeof(struct set) * SETS * KINDS < 64 * 1000 * 1000, "64 MB in all");

struct limiter {
    struct set *sets[KINDS]; /* the kernel provides the pages when they are first used */
    pthread_mutex_t locks[KINDS][LOCKS];
    uint64_t seeds[3]; /* secret, so that clients cannot choose subjects that collide */
};

struct limiter *limiter_new(void)
{
    struct limiter *l = mem_new(struct limiter);
    crypto_random(l->seeds, sizeof l->seeds);
    for (size_t kind = 0; kind < KINDS; kind++) {
        l->sets[kind] = mem_array(struct set, SETS);
        for (size_t i = 0; i < LOCKS; i++)
            pthread_mutex_init(&l->locks[kind][i], NULL);
    }
    return l;
}

void limiter_free(struct limiter *l)
{
    if (!l)
        return;
    for (size_t kind = 0; kind < KINDS; kind++) {
        free(l->sets[kind]);
        for (size_t i = 0; i < LOCKS; i++)
            pthread_mutex_destroy(&l->locks[kind][i]);
    }
    free(l);
}

struct str limit_address_block(struct arena *a, const char *peer)
{
    struct net_address address;
    if (!net_address_parse(str_z(peer), &address))
        return str_z(peer);
    char *block = arena_alloc(a, NET_ADDRESS_TEXT);
    address = net_address_block(&address);
    net_address_text(&address, block);
    return str_z(block);
}

/* Hashes the padded subject as three words, each mixed with a secret one. */
static uint32_t find_set(const struct limiter *l, const char *subject)
{
    uint64_t words[LIMIT_SUBJECT_MAX / 8], h = 0;
    static_assert(sizeof words == sizeof l->seeds, "a seed a word");
    memcpy(words, subject, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        h = (h ^ words[i] ^ l->seeds[i]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    return (uint32_t)((h >> 32) * SETS >> 32);
}

static bool is_running(const struct window *w, int64_t now_us)
{
    return w->subject[0] && clock_within(w->start_us, WINDOW_US, now_us);
}

/* Evicts the window with the lowest count. */
static void evict_window(struct set *s, const struct window *w)
{
    if (w->taken > s->forgotten)
        s->forgotten = w->taken;
    if (w->start_us > s->forgotten_start_us)
        s->forgotten_start_us = w->start_us;
}

/* The subject's current window; starts one if needed. */
static struct window *window_of(struct set *s, const char *subject, int64_t now_us)
{
    struct window *place = &s->windows[0];
    for (struct window *w = s->windows; w < s->windows + WAYS; w++) {
        if (is_running(w, now_us)) {
            if (memcmp(w->subject, subject, LIMIT_SUBJECT_MAX) == 0)
                return w;
            if (is_running(place, now_us) && w->taken < place->taken)
                place = w;
        } else {
            place = w;
        }
    }
    if (!clock_within(s->forgotten_start_us, WINDOW_US, now_us))
        s->forgotten = s->forgotten_start_us = 0;
    if (is_running(place, now_us))
        evict_window(s, place);
    memcpy(place->subject, subject, LIMIT_SUBJECT_MAX);
    place->taken = s->forgotten;
    place->start_us = s->forgotten ? s->forgotten_start_us : now_us;
    return place;
}

struct limit_state limit_take(struct limiter *l, enum limit_kind kind, struct str subject, int64_t limit,
                              int64_t now_us)
{
    assert(kind < KINDS && subject.n > 0 && subject.n <= LIMIT_SUBJECT_MAX);
    char padded[LIMIT_SUBJECT_MAX] = {0};
    memcpy(padded, subject.p, subject.n);
    const uint32_t set = find_set(l, padded);
    pthread_mutex_t *lock = &l->locks[kind][set & (LOCKS - 1)];

    pthread_mutex_lock(lock);
    struct window *w = window_of(&l->sets[kind][set], padded, now_us);
    struct limit_state state = {.limit = limit, .exceeded = w->taken >= limit};
    if (!state.exceeded)
        w->taken++;
    else
        metric_add(&metrics.rate_limited[kind], 1);
    state.remaining = limit > w->taken ? limit - w->taken : 0;
    int64_t left_us = w->start_us + WINDOW_US - now_us;
    pthread_mutex_unlock(lock);

    int64_t left_s = (left_us + US_PER_S - 1) / US_PER_S;
    state.reset_s = left_s < 1 ? 1 : left_s > WINDOW_US / US_PER_S ? WINDOW_US / US_PER_S : left_s;
    return state;
}
