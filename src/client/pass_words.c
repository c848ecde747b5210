#include "client/pass_words.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "base/unix.h"
#include "client/day_words.h"

#define DAY_S        86400
#define WEEK         7
#define THURSDAY     4 /* 1970-01-01 */
#define DATE_ROOM    16
#define MOMENT_ROOM  24
#define CLOCK_ROOM   6
#define SENTENCE_MAX 2048
#define MIDNIGHT     "00:00"
#define EVERY_DAY    "daily"

const struct field pass_words_fields[] = {
    {.name = "days", .type = T_STRINGS, .values = day_words_names, .doc = "days on which it opens"},
    {.name = "hours",
     .type = T_STRING,
     .doc = "09:00-12:00; 22:00-06:00 ends on the next day. Also --from 09:00 --to 12:00"},
    {.name = "to", .type = T_STRING, .doc = "end of the hours that begin at --from"},
    {.name = "on", .type = T_STRING, .doc = "a single day: today, tomorrow, saturday, 2026-12-01"},
    {.name = NULL},
};

bool pass_words_fit(const struct operation_row *row)
{
    for (size_t i = 0; row->body && i < row->body->field_count; i++)
        if (!strcmp(row->body->fields[i].name, "windows"))
            return true;
    return false;
}

/* ---- dates ---- */

/* The number of `n` digits at a place of a text that is long enough; -1: it is none. */
static int number_at(const char *text, size_t at, size_t n)
{
    uint64_t value;
    return str_to_u64(str_n(text + at, n), 9999, &value) ? (int)value : -1;
}

/* The day of a date and its time of day. Values out of range count on, as timegm has it. */
static time_t seconds_of(int year, int month, int day, int hour, int minute)
{
    return timegm(
        &(struct tm){.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day, .tm_hour = hour, .tm_min = minute});
}

long pass_words_today(void)
{
    const time_t now = time(NULL);
    struct tm local;
    localtime_r(&now, &local);
    return seconds_of(local.tm_year + 1900, local.tm_mon + 1, local.tm_mday, 0, 0) / DAY_S;
}

static void format_day(long day, char ret[static DATE_ROOM])
{
    const time_t at = day * DAY_S;
    struct tm tm;
    gmtime_r(&at, &tm);
    strftime(ret, DATE_ROOM, "%Y-%m-%d", &tm);
}

/* "today", "tomorrow", the next day of a name, or a date. False for anything else. */
static bool read_day(const char *text, long today, long *ret)
{
    char again[DATE_ROOM];
    if (!strcmp(text, "today") || !strcmp(text, "tomorrow")) {
        *ret = today + (text[2] == 'm');
        return true;
    }
    for (long next = 1; next <= WEEK; next++)
        if (!strcmp(text, day_words_names[(today + next + THURSDAY) % WEEK])) {
            *ret = today + next;
            return true;
        }
    if (strlen(text) != strlen("2026-12-01"))
        return false;
    const long day = seconds_of(number_at(text, 0, 4), number_at(text, 5, 2), number_at(text, 8, 2), 0, 0) / DAY_S;
    format_day(day, again);
    if (strcmp(text, again) != 0)
        return false;
    *ret = day;
    return true;
}

static bool is_clock(const char *text)
{
    if (!text || strlen(text) != strlen(MIDNIGHT) || text[2] != ':')
        return false;
    const int hour = number_at(text, 0, 2), minute = number_at(text, 3, 2);
    return hour >= 0 && hour < 24 && minute >= 0 && minute < 60;
}

/* ---- typed ---- */

struct words {
    json_t *body;
    long today;
    char start[CLOCK_ROOM], end[CLOCK_ROOM]; /* "": no hours */
    json_t *days;                            /* borrowed; NULL: not given */
    const char *on;
};

static const char *text_of(const struct words *w, const char *name)
{
    return json_string_value(json_object_get(w->body, name));
}

static bool set_hours(struct words *w, const char *start, const char *end)
{
    if (!is_clock(start) || !is_clock(end))
        return false;
    memcpy(w->start, start, CLOCK_ROOM);
    memcpy(w->end, end, CLOCK_ROOM);
    return true;
}

static const char *read_hours(struct words *w)
{
    const char *hours = text_of(w, "hours"), *from = text_of(w, "from"), *to = text_of(w, "to");
    char start[CLOCK_ROOM] = "";
    if (hours) {
        memcpy(start, hours, strnlen(hours, CLOCK_ROOM - 1));
        return strlen(hours) == strlen("09:00-12:00") && hours[5] == '-' && set_hours(w, start, hours + CLOCK_ROOM)
                   ? NULL
                   : "--hours must be two times, such as 09:00-12:00";
    }
    if (!to && !is_clock(from))
        return NULL;
    if (!set_hours(w, from, to))
        return "--from and --to must both be times, such as 09:00 and 12:00; --hours leaves --from to a date";
    json_object_del(w->body, "from");
    return NULL;
}

static bool is_night(const struct words *w)
{
    return *w->start && strcmp(w->end, w->start) <= 0 && strcmp(w->start, MIDNIGHT) != 0;
}

static void set_moment(struct words *w, const char *name, long day, const char *clock)
{
    char date[DATE_ROOM], moment[MOMENT_ROOM];
    format_day(day, date);
    snprintf(moment, sizeof moment, "%.10sT%.5s", date, clock);
    json_object_set_new(w->body, name, json_string(moment));
}

/* All of a day, or its hours. */
static const char *set_day(struct words *w)
{
    long day;
    if (w->days || text_of(w, "from") || text_of(w, "until"))
        return "--on is a day alone: without --days, a date in --from, and --until";
    if (!read_day(w->on, w->today, &day))
        return "--on must be a day: today, tomorrow, saturday, 2026-12-01";
    set_moment(w, "from", day, *w->start ? w->start : MIDNIGHT);
    set_moment(w, "until", day + (!*w->start || strcmp(w->end, w->start) <= 0), *w->start ? w->end : MIDNIGHT);
    return NULL;
}

/* A date is the whole day; of nights, the one that begins on it. */
static void set_span(struct words *w)
{
    const bool night = is_night(w);
    const char *from = text_of(w, "from"), *until = text_of(w, "until");
    long first, last;
    const bool has_first = from && read_day(from, w->today, &first),
               has_last = until && read_day(until, w->today, &last);
    if (has_first)
        set_moment(w, "from", first, night ? w->start : MIDNIGHT);
    if (has_last)
        set_moment(w, "until", last + 1, night ? w->end : MIDNIGHT);
}

static void set_window(struct words *w)
{
    json_t *days = w->days ? json_incref(w->days) : day_words_read(STR(EVERY_DAY));
    json_object_set_new(w->body, "windows",
                        json_pack("[{s:o, s:s, s:s}]", "days", days, "start", *w->start ? w->start : MIDNIGHT, "end",
                                  *w->start ? w->end : MIDNIGHT));
}

const char *pass_words_read(json_t *body, long today)
{
    struct words w = {.body = body, .today = today, .days = json_object_get(body, "days")};
    const char *why = read_hours(&w);
    w.on = text_of(&w, "on");
    if (!why && json_object_get(body, "windows") && (w.days || w.on || *w.start))
        why = "--windows has days and hours already";
    if (!why && w.on)
        why = set_day(&w);
    else if (!why) {
        set_span(&w);
        if (w.days || *w.start)
            set_window(&w);
    }
    for (const struct field *f = pass_words_fields; f->name; f++)
        json_object_del(body, f->name);
    return why;
}

/* ---- read ---- */

static const char *text_in_pass(const json_t *pass, const char *name)
{
    return json_string_value(json_object_get(pass, name));
}

static void put_days(const json_t *days, struct buf *out)
{
    const size_t count = json_array_size(days);
    if (count == WEEK)
        buf_lit(out, "every day");
    for (size_t i = 0; count < WEEK && i < count; i++) {
        const char *name = json_string_value(json_array_get(days, i));
        buf_str(out, i == 0 ? STR("on ") : i + 1 == count ? STR(" and ") : STR(", "));
        if (name && *name)
            buf_printf(out, "%c%ss", *name - 'a' + 'A', name + 1);
    }
}

static void put_windows(const json_t *windows, struct buf *out)
{
    const json_t *window;
    size_t i;
    json_array_foreach (windows, i, window) {
        const char *start = text_in_pass(window, "start"), *end = text_in_pass(window, "end");
        buf_str(out, i ? STR("; ") : STR(" "));
        put_days(json_object_get(window, "days"), out);
        if (start && end && (strcmp(start, MIDNIGHT) != 0 || strcmp(end, MIDNIGHT) != 0))
            buf_printf(out, " from %s to %s%s", start, end, strcmp(end, start) <= 0 ? " the next day" : "");
    }
}

/* " until 2026-12-31 12:00", in the zone that TZ names. */
static void put_moment(const char *word, const char *at, struct buf *out)
{
    struct tm local;
    char text[MOMENT_ROOM];
    if (!at || strlen(at) < strlen("2026-12-01T08:00"))
        return;
    const time_t time = seconds_of(number_at(at, 0, 4), number_at(at, 5, 2), number_at(at, 8, 2), number_at(at, 11, 2),
                                   number_at(at, 14, 2));
    localtime_r(&time, &local);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local);
    buf_printf(out, ", %s %s", word, text);
}

static json_t *sentence(const json_t *row, const json_t *pass)
{
    struct buf out = BUF(SENTENCE_MAX);
    const json_t *windows = json_object_get(pass, "windows"), *uses = json_object_get(row, "remaining_uses");
    const char *type = text_in_pass(row, "type"), *zone = text_in_pass(pass, "timezone");
    buf_str(&out, type && !strcmp(type, "passcode") ? STR("with the code") : STR("to anyone who buzzes"));
    put_windows(windows, &out);
    if (!json_array_size(windows))
        buf_lit(&out, " at any time");
    setenv("TZ", zone ? zone : "UTC", 1);
    tzset();
    put_moment("from", text_in_pass(pass, "from"), &out);
    put_moment("until", text_in_pass(pass, "until"), &out);
    if (json_is_integer(uses))
        buf_printf(&out, ", at most %lld times", (long long)json_integer_value(uses));
    buf_printf(&out, " (%s)", zone ? zone : "UTC");
    json_t *text = json_stringn(out.p, out.n);
    buf_done(&out);
    return text ? text : json_string("");
}

void pass_words_tell(json_t *rows)
{
    static const char *const told[] = {"pass",      "days",    "start",          "end", "timezone",
                                       "starts_at", "ends_at", "remaining_uses", NULL};
    json_t *row;
    size_t i;
    json_array_foreach (rows, i, row) {
        const json_t *pass = json_object_get(row, "pass");
        json_t *text = json_is_object(pass) ? sentence(row, pass) : NULL;
        for (size_t k = 0; text && told[k]; k++)
            json_object_del(row, told[k]);
        if (text)
            json_object_set_new(row, "opens", text);
    }
}
