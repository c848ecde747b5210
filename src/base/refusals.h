/* Refusals for lack of a place, which anybody can cause: counted by limit, and logged as numbers. Of one thread. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#define REFUSALS_MAX 16 /* limits */

/* Zero at first. */
struct refusals {
    unsigned counts[REFUSALS_MAX]; /* since the last line about the limit; the caller adds to them */
    int64_t told_us;               /* when that was */
};

/* Logs "WHAT refused limit=NAME count=N" for each of the `n` limits that has refused, at most once in ten seconds.
 * `now_us` is monotonic. To be called about once a second. */
void refusals_tell(struct refusals *r, const char *what, const char *const *limits, size_t n, int64_t now_us);
