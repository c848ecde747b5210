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

/* Whether the wall clock (clock_real_us) can be trusted. It and the monotonic clock part when the system's clock is
 * set. Things that cannot be undone, such as a deletion because of age, wait until both have
 * agreed for an hour. */
#define CLOCK_PARTED_US  (60 * US_PER_S)
#define CLOCK_SETTLED_US (3600 * US_PER_S)
struct clock_watch {
    bool begun;
    int64_t apart_us;   /* wall clock less monotonic one, before the first step or after the last one */
    int64_t steps;      /* how often they have parted by more than CLOCK_PARTED_US */
    int64_t step_us;    /* the last time; positive: the wall clock went ahead */
    int64_t settles_us; /* monotonic: they have agreed for an hour then */
};
/* Compares them at one moment. The first look begins. Returns whether they have parted since the last one. */
bool clock_watch_look(struct clock_watch *w, int64_t real_us, int64_t monotonic_us);
/* The process's own watch, after a look at this moment. Any thread. */
struct clock_watch clock_look(void);
/* The clock may have been wrong since before the process: the hour begins now. Any thread. */
void clock_doubt(void);
/* Looks, and returns whether the hour is over. Any thread. */
bool clock_settled(void);

/* Whether less than length_us has passed since since_us. Not if that lies in the future, by the clock of then; a minute
 * is allowed for threads that took the time in another order. */
static inline bool clock_within(int64_t since_us, int64_t length_us, int64_t now_us)
{
    return now_us - since_us < length_us && since_us - now_us <= CLOCK_PARTED_US;
}

/* Writes RFC 3339 in UTC with truncated milliseconds: 24 characters and a NUL. Instants outside the years 1970 to 9999
 * are clamped. */
#define TIME_TEXT_MAX 25
void time_format(int64_t at_us, char ret_text[static TIME_TEXT_MAX]);
/* Parses an RFC 3339 date-time with an offset (`Z`, `z`, `+02:00`) and `T` or `t` before the time. Fractions beyond
 * microseconds are truncated. A leap second (:60, only at the end of a UTC day) is read as :59.999999. Instants before
 * 1970 are negative. False if malformed or impossible. */
bool time_parse(struct str text, int64_t *ret_at_us);
