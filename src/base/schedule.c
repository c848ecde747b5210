#include "base/schedule.h"

#include <glib.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/mem.h"

#define ZONE_NAME_MAX 64
#define ZONE_PLACE    "/usr/share/zoneinfo"
#define LOOK_EVERY_US US_PER_S
#define DAY_S         86400
#define THURSDAY      4  /* 1970-01-01 */
#define CHANGES_MAX   16 /* changes of the clocks before a window that is looked for */

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

bool schedule_windows_parse(struct str text, struct schedule *ret)
{
    size_t count = 0;
    for (; text.n >= SCHEDULE_WINDOW_TEXT && count < SCHEDULE_WINDOWS_MAX; count++) {
        struct window *w = &ret->windows[count];
        w->days = 0;
        for (unsigned day = 0; day < 7; day++)
            w->days |= (unsigned)(text.p[day] == '1') << day;
        if (!schedule_minute_parse(str_n(text.p + 8, 5), &w->start_minute) ||
            !schedule_minute_parse(str_n(text.p + 14, 5), &w->end_minute))
            return false;
        text = str_from(text, text.n > SCHEDULE_WINDOW_TEXT ? SCHEDULE_WINDOW_TEXT + 1 : SCHEDULE_WINDOW_TEXT);
    }
    ret->count = count;
    return text.n == 0;
}

void schedule_windows_format(const struct schedule *s, char ret_text[static SCHEDULE_WINDOWS_TEXT_MAX])
{
    char *p = ret_text;
    for (const struct window *w = s->windows; w < s->windows + s->count; w++) {
        if (p > ret_text)
            *p++ = ';';
        for (unsigned day = 0; day < 7; day++)
            *p++ = (char)('0' + (w->days >> day & 1));
        *p++ = ' ';
        schedule_minute_format(w->start_minute, p);
        p[5] = '-';
        schedule_minute_format(w->end_minute, p + 6);
        p += 11;
    }
    *p = '\0';
}

/* ---- zones ---- */

/* The rules of a zone as its file had them. Governments change them, and a new file takes effect while the service
 * runs. */
struct zone {
    GTimeZone *rules;
    struct stat file;
    int64_t looked_us; /* at the file */
    unsigned times;    /* that the file was read */
};

/* name -> struct zone of each zone in use. Never freed; bounded by the number of zones in the database. */
static pthread_mutex_t zones_mutex = PTHREAD_MUTEX_INITIALIZER;
static GHashTable *zones;

/* GLib also accepts offsets and POSIX rules as a zone's identifier. A name of the database begins with a capital
 * letter, has no dot, and is a file in the database. */
static bool is_zone_name(const char *name)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/";
    return g_ascii_isupper(name[0]) && name[strspn(name, plain)] == '\0' && !strstr(name, "//");
}

/* GLib keeps the rules of an identifier while anyone uses them, so the file gets another path each time it is read. */
static char *zone_path(const char *name, unsigned times)
{
    const char *place = getenv("TZDIR");
    GString *path = g_string_new(place ? place : ZONE_PLACE);
    for (unsigned i = 0; i < times; i++)
        g_string_append(path, "/.");
    g_string_append_printf(path, "/%s", name);
    return g_string_free(path, FALSE);
}

/* GLib complains of other files on stderr. */
static bool has_rules(const char *path)
{
    char magic[4] = "";
    FILE *file = fopen(path, "re");
    const size_t n = file ? fread(magic, 1, sizeof magic, file) : 0;
    if (file)
        fclose(file);
    return n == sizeof magic && memcmp(magic, "TZif", sizeof magic) == 0;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Reads the file if it is another one. A file that is gone or cannot be read changes nothing. */
static void zone_read(struct zone *z, const char *name)
{
    struct stat file;
    char *path = zone_path(name, z->times);
    z->looked_us = clock_monotonic_us();
    if (stat(path, &file) == 0 && S_ISREG(file.st_mode) && !(z->rules && is_same_file(&file, &z->file))) {
        GTimeZone *rules = has_rules(path) ? g_time_zone_new_identifier(path) : NULL;
        z->times++;
        z->file = file;
        if (rules && z->rules)
            g_time_zone_unref(z->rules);
        if (rules)
            z->rules = rules;
    }
    g_free(path);
}

static struct zone *zone_add(const char *name)
{
    struct zone *z = mem_new(struct zone);
    zone_read(z, name);
    if (z->rules) {
        g_hash_table_insert(zones, g_strdup(name), z);
        return z;
    }
    free(z);
    return NULL;
}

/* A reference to the rules, or NULL for an unknown zone. */
static GTimeZone *zone_of(struct str name)
{
    char text[ZONE_NAME_MAX];
    if (name.n == 0 || name.n >= sizeof text || memchr(name.p, '\0', name.n))
        return NULL;
    memcpy(text, name.p, name.n);
    text[name.n] = '\0';
    if (!is_zone_name(text))
        return NULL;
    pthread_mutex_lock(&zones_mutex);
    if (!zones)
        zones = g_hash_table_new(g_str_hash, g_str_equal);
    struct zone *z = g_hash_table_lookup(zones, text);
    if (!z)
        z = zone_add(text);
    else if (clock_monotonic_us() - z->looked_us >= LOOK_EVERY_US)
        zone_read(z, text);
    GTimeZone *rules = z ? g_time_zone_ref(z->rules) : NULL;
    pthread_mutex_unlock(&zones_mutex);
    return rules;
}

bool schedule_zone_known(struct str name)
{
    GTimeZone *zone = zone_of(name);
    if (zone)
        g_time_zone_unref(zone);
    return zone;
}

/* NULL for an unknown zone, and outside the years 1 to 9999. */
static GDateTime *local_time(struct str name, int64_t at_us)
{
    GTimeZone *zone = zone_of(name);
    GDateTime *utc = zone ? g_date_time_new_from_unix_utc(at_us / US_PER_S) : NULL;
    GDateTime *there = utc ? g_date_time_to_timezone(utc, zone) : NULL;
    if (utc)
        g_date_time_unref(utc);
    if (zone)
        g_time_zone_unref(zone);
    return there;
}

bool schedule_local(struct str name, int64_t at_us, struct schedule_time *ret)
{
    GDateTime *there = local_time(name, at_us);
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

void schedule_time_format(struct str zone, int64_t at_us, char ret_text[static SCHEDULE_TIME_TEXT_MAX])
{
    const int64_t up_us = at_us + (US_PER_S - at_us % US_PER_S) % US_PER_S;
    GDateTime *there = local_time(zone, up_us);
    if (!there)
        there = g_date_time_new_from_unix_utc(up_us / US_PER_S);
    char *text = there ? g_date_time_format(there, "%Y-%m-%dT%H:%M:%S%:z") : NULL;
    snprintf(ret_text, SCHEDULE_TIME_TEXT_MAX, "%s", text ? text : "");
    g_free(text);
    if (there)
        g_date_time_unref(there);
}

bool schedule_time_parse(struct str zone, struct str text, int64_t *ret_us)
{
    GTimeZone *rules = zone_of(zone);
    if (!rules)
        return false;
    char copy[40];
    snprintf(copy, sizeof copy, "%.*s%s", STR_ARG(text), text.n == strlen("2026-12-01T08:00") ? ":00" : "");
    GDateTime *at = g_date_time_new_from_iso8601(copy, rules);
    g_time_zone_unref(rules);
    if (!at)
        return false;
    *ret_us = g_date_time_to_unix(at) * US_PER_S + g_date_time_get_microsecond(at);
    g_date_time_unref(at);
    return true;
}

/* ---- windows ---- */

/* In an interval of a zone's rules the clocks are `offset` ahead of UTC. Local seconds count as if the clocks never
 * changed. */
static int zone_interval(GTimeZone *zone, int64_t at_s, int64_t *ret_offset)
{
    const int interval = g_time_zone_find_interval(zone, G_TIME_TYPE_UNIVERSAL, at_s);
    *ret_offset = g_time_zone_get_offset(zone, interval);
    return interval;
}

static int64_t day_of(int64_t local_s)
{
    return local_s / DAY_S - (local_s % DAY_S < 0);
}

static unsigned day_bit(int64_t day)
{
    return 1u << ((day % 7 + 7 + THURSDAY) % 7);
}

static bool window_has(const struct window *w, int64_t day, int minute)
{
    const bool over_midnight = w->end_minute <= w->start_minute;
    if (w->days & day_bit(day) && minute >= w->start_minute && (over_midnight || minute < w->end_minute))
        return true;
    return over_midnight && w->days & day_bit(day - 1) && minute < w->end_minute;
}

static bool has_local(const struct schedule *s, int64_t local_s)
{
    const int64_t day = day_of(local_s);
    const int minute = (int)((local_s - day * DAY_S) / 60);
    bool has = s->count == 0;
    for (size_t i = 0; i < s->count && !has; i++)
        has = window_has(&s->windows[i], day, minute);
    return has;
}

bool schedule_contains(const struct schedule *s, int64_t now_us)
{
    int64_t offset;
    if (s->count == 0)
        return true;
    GTimeZone *zone = zone_of(s->timezone);
    if (!zone)
        return false;
    zone_interval(zone, now_us / US_PER_S, &offset);
    g_time_zone_unref(zone);
    return has_local(s, now_us / US_PER_S + offset);
}

/* The next beginning of a window, in local seconds; INT64_MAX without a day. */
static int64_t next_begin(const struct schedule *s, int64_t local_s)
{
    int64_t next = INT64_MAX;
    for (int64_t day = day_of(local_s); next == INT64_MAX && day <= day_of(local_s) + 7; day++)
        for (size_t i = 0; i < s->count; i++) {
            const int64_t begin = day * DAY_S + s->windows[i].start_minute * 60;
            if (s->windows[i].days & day_bit(day) && begin > local_s && begin < next)
                next = begin;
        }
    return next;
}

/* The first second of another interval, after at_s and not after until_s, which is in another one. */
static int64_t interval_end(GTimeZone *zone, int64_t at_s, int64_t until_s)
{
    int64_t offset;
    const int interval = zone_interval(zone, at_s, &offset);
    while (until_s - at_s > 1) {
        const int64_t middle = at_s + (until_s - at_s) / 2;
        if (zone_interval(zone, middle, &offset) == interval)
            at_s = middle;
        else
            until_s = middle;
    }
    return until_s;
}

/* Goes from one change of the clocks to the next, as far as the next beginning lies behind it. */
static bool find_next(const struct schedule *s, GTimeZone *zone, int64_t at_s, int64_t *ret_s)
{
    int64_t offset, unused;
    for (int i = 0; i < CHANGES_MAX; i++) {
        const int interval = zone_interval(zone, at_s, &offset);
        if (has_local(s, at_s + offset)) {
            *ret_s = at_s;
            return true;
        }
        const int64_t begin = next_begin(s, at_s + offset);
        if (begin == INT64_MAX)
            return false;
        at_s = zone_interval(zone, begin - offset, &unused) == interval ? begin - offset
                                                                        : interval_end(zone, at_s, begin - offset);
    }
    return false;
}

bool schedule_next(const struct schedule *s, int64_t from_us, int64_t *ret_us)
{
    int64_t at_s = from_us / US_PER_S;
    GTimeZone *zone = s->count ? zone_of(s->timezone) : NULL;
    const bool found = s->count == 0 || (zone && find_next(s, zone, at_s, &at_s));
    if (zone)
        g_time_zone_unref(zone);
    if (found)
        *ret_us = at_s == from_us / US_PER_S ? from_us : at_s * US_PER_S;
    return found;
}
