/* The gate: all checks between a request's arrival and its handler, in the order of HTTP-1. */
#pragma once
#include "api/route.h"

struct gate_cache;

/* State of the gate between requests. There is one limiter per process and one cache per loop thread. */
struct gate {
    const struct config *config;
    struct limiter *limiter;
    const struct jobs *jobs; /* knows the number of nodes; may be NULL */
    _Atomic uint64_t
        keys_epoch; /* starts at 1; counts commits that may have changed the tables that authentication reads */
};

/* A loop thread's cache of authentications. If this process alone uses the store, it is exact: keys_epoch is raised
 * after each commit that changes those tables and before that commit's reply.
 *
 * If the store is shared by nodes (PostgreSQL), an entry is only a guess. The request takes it for granted, and the
 * statement that authenticates is sent with the first statement of the request's transaction. If the answer differs
 * from the entry, nothing of that run counts, and the request runs again without the entry. So no key is accepted that
 * was revoked, on any node, before the request began. */
struct gate_cache *gate_cache_new(void);
void gate_cache_free(struct gate_cache *cache);
/* For requests whose checks run in the store, on the loop thread: before them, sets q->key.recalled; after them, keeps
 * what the store has read. */
void gate_recall(struct gate_cache *cache, struct request *q);
void gate_remember(struct gate_cache *cache, struct request *q);

/* Runs the checks that need neither body nor store, as soon as the head has arrived: transport and path. */
enum err gate_head(struct request *q) CHECKED;
/* Runs all other checks; q->tx.db must be set if the route needs a key. `cache` may be NULL. May run again after a
 * retry: a limit is taken only once. On an error q->tx.why may hold a message. */
enum err gate_check(struct gate *gate, struct gate_cache *cache, struct request *q) CHECKED;
/* The checks of a GET that is part of a page: all but authentication and limits, which the page's request has passed.
 */
enum err gate_check_part(struct request *q) CHECKED;
/* The bits of the scopes that the request needs. */
uint32_t gate_scopes(const struct request *q);

/* Whether a key of that kind and with these scopes may ask for a row that needs a key. */
bool gate_admits(const struct route *route, const struct principal *who);
/* Selects a building of the account. BUILDING_NOT_FOUND. */
enum err gate_select_building(struct request *q, const struct id *wanted) CHECKED;
/* Authenticates only, if the route needs a key; `cache` as above. A write transaction that must not run for a key
 * revoked since the checks calls it again. */
enum err gate_check_key(struct gate_cache *cache, struct request *q) CHECKED;
/* For a blocking handler, whose key may be ended while it waits: fails with ERR_INVALID_KEY if it was. A key that only
 * expired since the checks is good. */
enum err gate_recheck(struct request *q) CHECKED;
/* As work_write, after the same check in the transaction. A handler uses work_write itself only for results that it
 * has already. */
enum err gate_write(struct request *q, enum err (*body)(struct tx *tx, void *arg), void *arg) CHECKED;
/* Whether the request has one Content-Type, of this media type; parameters are ignored. */
bool gate_has_media(const struct request *q, struct str media);
