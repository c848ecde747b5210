/* Schedules of grants: windows of days of the week and times of day, and their time zone (contract, Access grant;
 * GRANT-23 to GRANT-25). A zone's rules come from its file in the IANA database (TZDIR, or /usr/share/zoneinfo), a
 * second after it was replaced. */
#pragma once
#include <stdint.h>

#include "base/str.h"

#define SCHEDULE_MINUTE_TEXT_MAX 6 /* "HH:MM" and a NUL */
#define SCHEDULE_WINDOWS_MAX     14

#define SCHEDULE_WINDOW_TEXT      19 /* "0010010 09:00-12:00": the days from sunday */
#define SCHEDULE_WINDOWS_TEXT_MAX (SCHEDULE_WINDOWS_MAX * (SCHEDULE_WINDOW_TEXT + 1) + 1)

#define SCHEDULE_WEEKDAYS  0x3eu
#define SCHEDULE_WEEKEND   0x41u
#define SCHEDULE_EVERY_DAY 0x7fu

struct window {
    unsigned days;                /* on which it begins; bit 0 is sunday */
    int start_minute, end_minute; /* of the day, end exclusive; an end at or before the start is on the next day */
};

/* A routine has one window. */
struct schedule {
    struct str timezone; /* IANA name */
    size_t count;        /* 0: always */
    struct window windows[SCHEDULE_WINDOWS_MAX];
};

/* Lower-case names from sunday to saturday, NULL-terminated. */
extern const char *const schedule_day_names[];

/* The bit of a day's name, ignoring case; 0 for any other text. */
unsigned schedule_day(struct str name);
/* True for one day, the five weekdays, both weekend days, and all seven days. */
bool schedule_days_supported(unsigned days);

/* "HH:MM", 24 hours. */
bool schedule_minute_parse(struct str text, int *ret_minute);
void schedule_minute_format(int minute, char ret_text[static SCHEDULE_MINUTE_TEXT_MAX]);

/* Windows as they are stored: with ; between them, "" for none. False for another text. */
bool schedule_windows_parse(struct str text, struct schedule *ret);
void schedule_windows_format(const struct schedule *s, char ret_text[static SCHEDULE_WINDOWS_TEXT_MAX]);

struct schedule_time {
    int year, month, day, weekday; /* month from 1; weekday from sunday, 0 */
    int minute;                    /* of the day */
};
/* The time in a zone. False for an unknown zone, and outside the years 1 to 9999. Any thread. */
bool schedule_local(struct str zone, int64_t at_us, struct schedule_time *ret);

/* Writes a moment as the zone's time with its offset, "2026-12-01T09:00:00+01:00": the next full second. In UTC if the
 * zone is not known; "" outside the years 1 to 9999. */
#define SCHEDULE_TIME_TEXT_MAX 26
void schedule_time_format(struct str zone, int64_t at_us, char ret_text[static SCHEDULE_TIME_TEXT_MAX]);

/* Reads an ISO 8601 date and time, as "2026-12-01T08:00", with an offset or in the zone's time. The zone must be known.
 * Of a time that the clocks show twice the first is meant; one that they skip is read as if they had not changed yet.
 */
bool schedule_time_parse(struct str zone, struct str text, int64_t *ret_us);

/* True for the name of a zone in the installed IANA database. Any thread. */
bool schedule_zone_known(struct str name);
/* True if now_us is in a window, by weekday and time of the zone; false if the zone is no longer known. A night that
 * the clocks change has the hours that they show: an hour that they skip is in no window, one that they show twice is
 * in it twice. Any thread. */
bool schedule_contains(const struct schedule *s, int64_t now_us);
/* The first moment in a window, at or after from_us. False if the zone is no longer known, or if there is none within
 * weeks. */
bool schedule_next(const struct schedule *s, int64_t from_us, int64_t *ret_us);
