/* Waiting with a deadline on the monotonic clock (clock_monotonic_us), which setting the system's time does not move.
 */
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Initialises a condition variable for cond_wait_until. Destroy with pthread_cond_destroy. */
void cond_init(pthread_cond_t *cond);
/* Waits until the condition is signalled or at_us is reached; false if it was reached. The caller must hold `lock` and
 * check its condition again: a wake-up may be spurious. */
bool cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t at_us);
/* Blocks the calling thread; returns early on a signal. */
void sleep_for_us(int64_t us);

/* A thread that does its work from time to time. */
struct rhythm {
    pthread_t thread;
    pthread_mutex_t lock; /* of stopping */
    pthread_cond_t wake;
    bool stopping;
};
/* Starts the thread, whose name is at most 15 characters. ERR_IO: there is none, and nothing to stop. */
enum err rhythm_start(struct rhythm *r, const char *name, void *(*run)(void *arg), void *arg) CHECKED;
/* For the thread: waits until then. False at once if it must end. */
bool rhythm_pause(struct rhythm *r, int64_t until_us);
/* Tells the thread to end. */
void rhythm_end(struct rhythm *r);
/* The same, and waits for it. */
void rhythm_stop(struct rhythm *r);
