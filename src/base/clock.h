/* Time: the clock of the service's decisions, which the sandbox can move forward, and RFC 3339 text.
 * Instants (at_us) are microseconds since the Unix epoch. Durations and I/O deadlines use clock_monotonic_us. */
#pragma once
#include "base/err.h"
#include "base/str.h"

#define US_PER_S 1000000LL

/* The service's time: real time plus the sandbox's offset. Any thread. */
int64_t clock_now_us(void);
/* Real time, without the offset (t of Service-Signature). */
int64_t clock_real_us(void);
int64_t clock_monotonic_us(void);
/* The sandbox's offset in seconds, at least 0. Any thread. */
int64_t clock_offset_s(void);
void clock_set_offset_s(int64_t offset_s);
/* Sets the offset unless that would set the clock back. Returns whether the clock has moved. */
bool clock_raise_offset_s(int64_t offset_s);

/* Writes RFC 3339 in UTC with truncated milliseconds: 24 characters and a NUL. Instants outside the years 1970 to 9999
 * are clamped. */
#define TIME_TEXT_MAX 25
void time_format(int64_t at_us, char ret_text[static TIME_TEXT_MAX]);
/* Parses an RFC 3339 date-time with an offset (`Z`, `z`, `+02:00`) and `T` or `t` before the time. Fractions beyond
 * microseconds are truncated. A leap second (:60, only at the end of a UTC day) is read as :59.999999. Instants before
 * 1970 are negative. False if malformed or impossible. */
bool time_parse(struct str text, int64_t *ret_at_us);
