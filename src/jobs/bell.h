/* The signal from code that adds rows for later to the threads that look for them. A kick says that there may
 * be something to do, and a drain waits until all that was due at a kick is done. */
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"

#define BELL_SLEEP_ALONE_US  (30 * US_PER_S) /* one process has the store, and kicks for every row it adds */
#define BELL_SLEEP_SHARED_US (2 * US_PER_S)  /* another node may have added a row, or lost its lease */
#define BELL_PAUSE_US        US_PER_S        /* after a failure of the store */

struct bell {
    pthread_mutex_t lock;
    pthread_cond_t kicked, idle;
    uint64_t kicks;      /* counts reasons to look */
    uint64_t idle_since; /* the latest kick after which nothing was due and nothing in progress */
    bool stopping;
};

void bell_init(struct bell *b);
void bell_done(struct bell *b);

/* Any thread; never blocks for long. Wakes one thread in bell_wait. Returns the number of the kick. */
uint64_t bell_kick(struct bell *b);
/* The number of the last kick. Call it before looking. */
uint64_t bell_heard(struct bell *b);
/* Wakes one more thread in bell_wait, without a kick: there may be work for it, too. */
void bell_wake(struct bell *b);
/* Waits until there is a kick after `heard`, bell_wake or bell_stop is called, or at_us (monotonic) is reached. May
 * return early. */
void bell_wait(struct bell *b, uint64_t heard, int64_t at_us);

/* Nothing was due after the kick `heard`, and nothing is in progress. */
void bell_set_idle(struct bell *b, uint64_t heard);
/* Waits for bell_set_idle with that kick or a later one, until at_us (monotonic; INT64_MAX: for ever). Returns false if
 * at_us is reached or bell_stop is called before. */
bool bell_wait_idle(struct bell *b, uint64_t kick, int64_t at_us);

/* Ends all waits, now and later. */
void bell_stop(struct bell *b);
bool bell_is_stopping(struct bell *b);

/* How long to sleep without a kick after a look that failed (result) or found that the next row is due at next_us (the
 * service's clock; INT64_MAX: no row is known). */
int64_t bell_sleep_us(const struct store *store, enum err result, int64_t next_us);
