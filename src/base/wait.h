/* Waiting with a deadline on the monotonic clock (clock_monotonic_us), which setting the system's time does not move.
 */
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Initialises a condition variable for cond_wait_until. Destroy with pthread_cond_destroy. */
void cond_init(pthread_cond_t *cond);
/* Waits until the condition is signalled or at_us is reached; false if it was reached. The caller must hold `lock` and
 * check its condition again: a wake-up may be spurious. */
bool cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t at_us);
/* Blocks the calling thread; returns early on a signal. */
void sleep_for_us(int64_t us);
