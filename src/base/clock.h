/* Time: one clock for the service's decisions, which the sandbox can move forward, and RFC 3339 text.
 * All instants are microseconds since the Unix epoch (at_us). Durations and deadlines of I/O use clock_monotonic_us. */
#pragma once
#include "base/err.h"
#include "base/str.h"

#define US_PER_S 1000000LL

/* The service's now: real time plus the sandbox's offset. Any thread. */
int64_t clock_now_us(void);
/* Real time, never moved (Service-Signature's t). */
int64_t clock_real_us(void);
int64_t clock_monotonic_us(void);
/* The sandbox's offset, in seconds, at least 0. Any thread; set before the reply that reports it. */
int64_t clock_offset_s(void);
void clock_set_offset_s(int64_t offset_s);

/* RFC 3339 UTC with milliseconds (cut, not rounded): 24 characters and a NUL. Instants outside the years 1970 to 9999
 * are written as the nearest within. */
#define TIME_TEXT_MAX 25
void time_format(int64_t at_us, char ret_text[static TIME_TEXT_MAX]);
/* Any RFC 3339 date-time with offset (`Z`, `z`, `+02:00`); between date and time stands `T` or `t`, no space. Fractions
 * beyond microseconds are cut; a leap second :60, which can only end a UTC day, counts as :59.999999. An instant before
 * 1970 is negative: as a bound, "0001-01-01T00:00:00Z" is as good as any. False if malformed or impossible. */
bool time_parse(struct str text, int64_t *ret_at_us);
