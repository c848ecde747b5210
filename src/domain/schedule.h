/* Routine schedules: days of the week, a window of the day, and the time zone both are meant in (contract, Access
 * grant; decisions section 6). */
#pragma once
#include <stdint.h>

#include "base/str.h"

#define SCHEDULE_MINUTE_TEXT_MAX 6 /* "HH:MM" and a NUL */

struct schedule {
    unsigned days;                /* bit 0 is sunday */
    int start_minute, end_minute; /* of the day, end exclusive */
    struct str timezone;          /* IANA name */
};

/* Lower-case names from sunday to saturday, NULL-terminated. */
extern const char *const schedule_day_names[];

/* The bit of a day's name in any case; 0 for anything else. */
unsigned schedule_day(struct str name);
/* One day, the five weekdays, both weekend days, or all seven. */
bool schedule_days_supported(unsigned days);

/* "HH:MM", 24 hours. */
bool schedule_minute_parse(struct str text, int *ret_minute);
void schedule_minute_format(int minute, char ret_text[static SCHEDULE_MINUTE_TEXT_MAX]);

/* Is it the name of a zone in the IANA database, as installed? Any thread. */
bool schedule_zone_known(struct str name);
/* Is `now_us` inside the window, on one of the days, by the zone's clock at that moment? A zone that is no longer known
 * has no such moment. Any thread. */
bool schedule_contains(const struct schedule *s, int64_t now_us);
