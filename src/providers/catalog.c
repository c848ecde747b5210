#include "providers/catalog.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/wait.h"

#define REPEAT_US     (15 * US_PER_S)
#define FIRST_WAIT_US (2 * US_PER_S)

struct catalog {
    struct billing *billing;
    int64_t good_for_us, again_us; /* until the next call, after an answer and after a failure */
    pthread_t fetcher;
    bool joinable; /* the fetcher runs, or has ended and was not joined */
    pthread_mutex_t lock;
    pthread_cond_t answered;
    bool fetching, known;
    int64_t stale_us; /* monotonic: fetch the prices again from then on */
    struct arena arena;
    struct billing_prices prices;
};

/* ---- fetching ---- */

static struct billing_prices copy_prices(const struct billing_prices *prices, struct arena *a)
{
    struct billing_prices r = *prices;
    for (size_t i = 0; i < r.count; i++) {
        r.items[i].plan = arena_str(a, r.items[i].plan);
        r.items[i].currency = arena_str(a, r.items[i].currency);
        r.items[i].interval = arena_str(a, r.items[i].interval);
    }
    return r;
}

static void *fetch_prices(void *context)
{
    struct catalog *c = context;
    struct billing_prices prices;
    struct arena arena, kept;
    arena_init(&arena, NULL, 0);
    arena_init(&kept, NULL, 0);
    enum outcome o = c->billing->ops->prices(c->billing, &arena, &prices);
    if (o == OUTCOME_DONE)
        prices = copy_prices(&prices, &kept);
    else
        log_warn("billing prices=unknown outcome=%s", o == OUTCOME_REFUSED ? "refused" : "no answer");
    arena_done(&arena);
    pthread_mutex_lock(&c->lock);
    if (o == OUTCOME_DONE) {
        arena_done(&c->arena);
        c->arena = kept;
        c->prices = prices;
        c->known = true;
    }
    c->stale_us = clock_monotonic_us() + (o == OUTCOME_DONE ? c->good_for_us : c->again_us);
    c->fetching = false;
    pthread_cond_broadcast(&c->answered);
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* Does not block if the thread is not fetching any more. */
static void join_fetcher(struct catalog *c)
{
    if (c->joinable)
        pthread_join(c->fetcher, NULL);
    c->joinable = false;
}

/* The caller must hold the lock. */
static void fetch_if_stale(struct catalog *c)
{
    if (c->fetching || clock_monotonic_us() < c->stale_us)
        return;
    join_fetcher(c);
    c->fetching = c->joinable = pthread_create(&c->fetcher, NULL, fetch_prices, c) == 0;
    if (!c->fetching)
        c->stale_us = clock_monotonic_us() + c->again_us;
}

bool catalog_get(struct catalog *c, struct arena *a, struct billing_prices *ret)
{
    pthread_mutex_lock(&c->lock);
    fetch_if_stale(c);
    bool known = c->known;
    if (known)
        *ret = copy_prices(&c->prices, a);
    pthread_mutex_unlock(&c->lock);
    return known;
}

/* ---- life ---- */

static void wait_for_first(struct catalog *c)
{
    int64_t until_us = clock_monotonic_us() + FIRST_WAIT_US;
    pthread_mutex_lock(&c->lock);
    fetch_if_stale(c);
    while (c->fetching && cond_wait_until(&c->answered, &c->lock, until_us))
        ;
    pthread_mutex_unlock(&c->lock);
}

struct catalog *catalog_new(struct billing *billing, int64_t good_for_s)
{
    struct catalog *c = mem_new(struct catalog);
    pthread_mutex_init(&c->lock, NULL);
    cond_init(&c->answered);
    arena_init(&c->arena, NULL, 0);
    c->billing = billing;
    c->good_for_us = good_for_s * US_PER_S;
    c->again_us = c->good_for_us < REPEAT_US ? c->good_for_us : REPEAT_US;
    wait_for_first(c);
    return c;
}

void catalog_free(struct catalog *c)
{
    if (!c)
        return;
    join_fetcher(c);
    arena_done(&c->arena);
    pthread_cond_destroy(&c->answered);
    pthread_mutex_destroy(&c->lock);
    free(c);
}
