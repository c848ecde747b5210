#include "domain/schedule.h"

#include <glib.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"

#define ZONE_NAME_MAX   64
#define DAYS_AHEAD      8    /* at least one of them is a day of the schedule, whatever the clocks do */
#define SKIPPED_MINUTES 1440 /* the most that a change of the clocks has skipped */
#define ZONE_PLACE      "/usr/share/zoneinfo"

const char *const schedule_day_names[] = {"sunday",   "monday", "tuesday",  "wednesday",
                                          "thursday", "friday", "saturday", NULL};

unsigned schedule_day(struct str name)
{
    for (unsigned i = 0; schedule_day_names[i]; i++)
        if (str_eqi(name, str_z(schedule_day_names[i])))
            return 1u << i;
    return 0;
}

bool schedule_days_supported(unsigned days)
{
    return days == SCHEDULE_WEEKDAYS || days == SCHEDULE_WEEKEND || days == SCHEDULE_EVERY_DAY ||
           (days <= SCHEDULE_EVERY_DAY && __builtin_popcount(days) == 1);
}

bool schedule_minute_parse(struct str text, int *ret_minute)
{
    uint64_t hour, minute;
    if (text.n != 5 || text.p[2] != ':' || !str_to_u64(str_n(text.p, 2), 23, &hour) ||
        !str_to_u64(str_n(text.p + 3, 2), 59, &minute))
        return false;
    *ret_minute = (int)(hour * 60 + minute);
    return true;
}

void schedule_minute_format(int minute, char ret_text[static SCHEDULE_MINUTE_TEXT_MAX])
{
    const int hour = minute / 60 % 24, rest = minute % 60;
    ret_text[0] = (char)('0' + hour / 10);
    ret_text[1] = (char)('0' + hour % 10);
    ret_text[2] = ':';
    ret_text[3] = (char)('0' + rest / 10);
    ret_text[4] = (char)('0' + rest % 10);
    ret_text[5] = '\0';
}

/* ---- zones ---- */

/* name -> GTimeZone of each zone in use. Never freed; bounded by the number of zones in the database. */
static pthread_mutex_t zones_mutex = PTHREAD_MUTEX_INITIALIZER;
static GHashTable *zones;

/* GLib also accepts offsets, POSIX rules and paths as a zone's identifier. A name of the database begins with a capital
 * letter, has no dot, and is a file in the database. */
static bool is_zone_file(const char *name)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/";
    if (!g_ascii_isupper(name[0]) || name[strspn(name, plain)] != '\0' || strstr(name, "//"))
        return false;
    const char *place = getenv("TZDIR");
    char *path = g_build_filename(place ? place : ZONE_PLACE, name, NULL);
    bool found = g_file_test(path, G_FILE_TEST_IS_REGULAR);
    g_free(path);
    return found;
}

static GTimeZone *zone_load(const char *name)
{
    GTimeZone *zone = is_zone_file(name) ? g_time_zone_new_identifier(name) : NULL;
    if (zone)
        g_hash_table_insert(zones, g_strdup(name), zone);
    return zone;
}

/* Returns NULL for an unknown zone. */
static GTimeZone *zone_of(struct str name)
{
    char text[ZONE_NAME_MAX];
    if (name.n == 0 || name.n >= sizeof text || memchr(name.p, '\0', name.n))
        return NULL;
    memcpy(text, name.p, name.n);
    text[name.n] = '\0';
    pthread_mutex_lock(&zones_mutex);
    if (!zones)
        zones = g_hash_table_new(g_str_hash, g_str_equal);
    GTimeZone *zone = g_hash_table_lookup(zones, text);
    if (!zone)
        zone = zone_load(text);
    pthread_mutex_unlock(&zones_mutex);
    return zone;
}

bool schedule_zone_known(struct str name)
{
    return zone_of(name) != NULL;
}

/* NULL outside the years 1 to 9999. */
static GDateTime *local_time(GTimeZone *zone, int64_t at_us)
{
    GDateTime *utc = g_date_time_new_from_unix_utc(at_us / US_PER_S);
    GDateTime *there = utc ? g_date_time_to_timezone(utc, zone) : NULL;
    if (utc)
        g_date_time_unref(utc);
    return there;
}

bool schedule_local(struct str name, int64_t at_us, struct schedule_time *ret)
{
    GTimeZone *zone = zone_of(name);
    GDateTime *there = zone ? local_time(zone, at_us) : NULL;
    if (!there)
        return false;
    *ret = (struct schedule_time){
        .year = g_date_time_get_year(there),
        .month = g_date_time_get_month(there),
        .day = g_date_time_get_day_of_month(there),
        .weekday = g_date_time_get_day_of_week(there) % 7,
        .minute = g_date_time_get_hour(there) * 60 + g_date_time_get_minute(there),
    };
    g_date_time_unref(there);
    return true;
}

bool schedule_contains(const struct schedule *s, int64_t now_us)
{
    GTimeZone *zone = zone_of(s->timezone);
    GDateTime *there = zone ? local_time(zone, now_us) : NULL;
    if (!there)
        return false;
    const unsigned day = 1u << (g_date_time_get_day_of_week(there) % 7); /* GLib's sunday is 7 */
    const int minute = g_date_time_get_hour(there) * 60 + g_date_time_get_minute(there);
    g_date_time_unref(there);
    return (s->days & day) != 0 && minute >= s->start_minute && minute < s->end_minute;
}

/* The beginning of the window on the day `days` after that of `there`, or 0. A beginning that a change of the clocks
 * skips is moved to the first minute that exists. */
static int64_t window_begin(const struct schedule *s, GTimeZone *zone, GDateTime *there, int days)
{
    GDateTime *date = g_date_time_add_days(there, days), *begin = NULL;
    if (date && (s->days & 1u << (g_date_time_get_day_of_week(date) % 7)))
        begin = g_date_time_new(zone, g_date_time_get_year(date), g_date_time_get_month(date),
                                g_date_time_get_day_of_month(date), s->start_minute / 60, s->start_minute % 60, 0);
    int64_t at_us = begin ? g_date_time_to_unix(begin) * US_PER_S : 0;
    for (int i = 0; begin && i < SKIPPED_MINUTES && !schedule_contains(s, at_us); i++)
        at_us += 60 * US_PER_S;
    const bool found = begin && schedule_contains(s, at_us);
    if (begin)
        g_date_time_unref(begin);
    if (date)
        g_date_time_unref(date);
    return found ? at_us : 0;
}

bool schedule_next(const struct schedule *s, int64_t now_us, int64_t *ret_us)
{
    GTimeZone *zone = zone_of(s->timezone);
    GDateTime *there = zone ? local_time(zone, now_us) : NULL;
    int64_t at_us = 0;
    for (int i = 0; there && i <= DAYS_AHEAD && at_us <= now_us; i++)
        at_us = window_begin(s, zone, there, i);
    if (there)
        g_date_time_unref(there);
    if (!there || at_us <= now_us)
        return false;
    *ret_us = at_us;
    return true;
}
