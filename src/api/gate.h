/* The gate: every check between a request's arrival and its handler, in the order of decisions section 1. */
#pragma once
#include "api/route.h"

struct gate_cache;

/* What the gate keeps between requests. One limiter for the process, one cache for each thread that asks. */
struct gate {
    const struct config *config;
    struct limiter *limiter;
    _Atomic uint64_t keys_epoch; /* from 1: counts commits that may have changed what authentication reads */
};

/* A thread's cache of authentications, exact as long as keys_epoch is bumped after each commit that changes them and
 * before that commit's reply. */
struct gate_cache *gate_cache_new(void);
void gate_cache_free(struct gate_cache *cache);

/* The checks that need no body and no store, when the head has arrived: transport and place. */
enum err gate_head(struct request *q) CHECKED;
/* All others, with q->tx.db where the route has a key. `cache` may be NULL. Can run again after a retry; a limit is
 * taken only once. With an error q->tx.why may say more. */
enum err gate_check(struct gate *gate, struct gate_cache *cache, struct request *q) CHECKED;
/* The key alone, where the route has one; `cache` as above. Also for a transaction that came after the checks and is
 * not to be a revoked key's. */
enum err gate_check_key(struct gate_cache *cache, struct request *q) CHECKED;
