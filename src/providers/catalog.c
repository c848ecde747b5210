#include "providers/catalog.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/wait.h"

#define ASK_AGAIN_US  (15 * US_PER_S)
#define FIRST_WAIT_US (2 * US_PER_S)

struct catalog {
    struct billing *billing;
    int64_t good_for_us, again_us; /* after an answer, after none */
    pthread_t asker;
    bool joinable; /* a thread is asking, or has asked */
    pthread_mutex_t lock;
    pthread_cond_t answered;
    bool asking, known;
    int64_t stale_us; /* monotonic: from then on the prices are asked for anew */
    struct arena arena;
    struct billing_prices prices;
};

/* ---- asking ---- */

static struct billing_prices copy(const struct billing_prices *prices, struct arena *a)
{
    struct billing_prices r = *prices;
    for (size_t i = 0; i < r.count; i++) {
        r.items[i].plan = arena_str(a, r.items[i].plan);
        r.items[i].currency = arena_str(a, r.items[i].currency);
        r.items[i].interval = arena_str(a, r.items[i].interval);
    }
    return r;
}

static void *ask(void *context)
{
    struct catalog *c = context;
    struct billing_prices prices;
    struct arena arena, kept;
    arena_init(&arena, NULL, 0);
    arena_init(&kept, NULL, 0);
    enum outcome o = c->billing->ops->prices(c->billing, &arena, &prices);
    if (o == OUTCOME_DONE)
        prices = copy(&prices, &kept);
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
    c->asking = false;
    pthread_cond_broadcast(&c->answered);
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* One that is not asking any more has only to return. */
static void join(struct catalog *c)
{
    if (c->joinable)
        pthread_join(c->asker, NULL);
    c->joinable = false;
}

/* With the lock. */
static void ask_if_stale(struct catalog *c)
{
    if (c->asking || clock_monotonic_us() < c->stale_us)
        return;
    join(c);
    c->asking = c->joinable = pthread_create(&c->asker, NULL, ask, c) == 0;
    if (!c->asking)
        c->stale_us = clock_monotonic_us() + c->again_us;
}

bool catalog_get(struct catalog *c, struct arena *a, struct billing_prices *ret)
{
    pthread_mutex_lock(&c->lock);
    ask_if_stale(c);
    bool known = c->known;
    if (known)
        *ret = copy(&c->prices, a);
    pthread_mutex_unlock(&c->lock);
    return known;
}

/* ---- life ---- */

static void wait_for_first(struct catalog *c)
{
    int64_t until_us = clock_monotonic_us() + FIRST_WAIT_US;
    pthread_mutex_lock(&c->lock);
    ask_if_stale(c);
    while (c->asking && cond_wait_until(&c->answered, &c->lock, until_us))
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
    c->again_us = c->good_for_us < ASK_AGAIN_US ? c->good_for_us : ASK_AGAIN_US;
    wait_for_first(c);
    return c;
}

void catalog_free(struct catalog *c)
{
    if (!c)
        return;
    join(c);
    arena_done(&c->arena);
    pthread_cond_destroy(&c->answered);
    pthread_mutex_destroy(&c->lock);
    free(c);
}
