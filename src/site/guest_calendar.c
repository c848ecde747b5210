#include "site/guest_calendar.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#define DAY_US       (86400 * US_PER_S)
#define SHOWN_DAYS   366 /* of a grant without end */
#define KEPT_DAYS    8   /* before now: the first event of a window may have begun */
#define LINE_MAX_LEN 75  /* octets of a line, RFC 5545 section 3.1 */
#define TEXT_MAX_LEN 4096
#define STAMP_ROOM   20 /* "20261201T080000Z" and a NUL */
#define MINUTE_US    (60 * US_PER_S)
#define THURSDAY     4 /* 1970-01-01 */

struct guest_calendar {
    struct tx *tx;
    const struct guest_view *view;
    struct str zone;
    int64_t from_us, until_us; /* the grant's own, or bounds of what is shown */
    bool begins, ends;         /* the bound is the grant's own: an event is cut there */
    int events;
    struct buf *out;
};

/* ---- lines ---- */

static bool is_first_octet(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

/* Folds the line between characters. */
static void put_folded(struct buf *out, struct str line)
{
    size_t length = 0;
    for (size_t i = 0; i < line.n; i++) {
        size_t character = 1;
        while (i + character < line.n && !is_first_octet(line.p[i + character]))
            character++;
        if (is_first_octet(line.p[i]) && length + character > LINE_MAX_LEN) {
            buf_lit(out, "\r\n ");
            length = 1;
        }
        buf_char(out, line.p[i]);
        length++;
    }
    buf_lit(out, "\r\n");
}

__attribute__((format(printf, 2, 3))) static void put_line(struct guest_calendar *c, const char *format, ...)
{
    char text[TEXT_MAX_LEN];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    put_folded(c->out, str_z(text));
}

/* A text as a value (section 3.3.11). Control characters have no form there. */
static struct str escaped(struct arena *a, struct str text)
{
    struct buf b = BUF(TEXT_MAX_LEN / 2);
    for (size_t i = 0; i < text.n; i++) {
        const char ch = text.p[i];
        if (ch == '\n')
            buf_lit(&b, "\\n");
        else if ((unsigned char)ch >= ' ' && ch != 0x7f) {
            if (ch == '\\' || ch == ';' || ch == ',')
                buf_char(&b, '\\');
            buf_char(&b, ch);
        }
    }
    const struct str copy = arena_str(a, buf_view(&b));
    buf_done(&b);
    return copy;
}

/* ---- times ---- */

static void stamp(int64_t at_us, char ret[static STAMP_ROOM])
{
    const time_t at = at_us / US_PER_S;
    struct tm tm;
    gmtime_r(&at, &tm);
    strftime(ret, STAMP_ROOM, "%Y%m%dT%H%M%SZ", &tm);
}

/* The local time of the zone, as if it were UTC. */
static int64_t shown_us(const struct guest_calendar *c, int64_t at_us)
{
    struct schedule_time t;
    if (!schedule_local(c->zone, at_us, &t))
        return at_us;
    struct tm tm = {.tm_year = t.year - 1900, .tm_mon = t.month - 1, .tm_mday = t.day, .tm_min = t.minute};
    return timegm(&tm) * US_PER_S;
}

static int64_t offset_us(const struct guest_calendar *c, int64_t at_us)
{
    const int64_t minute_us = at_us - at_us % MINUTE_US;
    return shown_us(c, minute_us) - minute_us;
}

/* The moment of a time of day, on a day since 1970-01-01, or on the days after it. */
static int64_t moment_us(const struct guest_calendar *c, int64_t day, int minute)
{
    char text[STAMP_ROOM];
    int64_t at_us = 0;
    const time_t at = (time_t)(day * 86400 + (int64_t)minute * 60);
    struct tm tm;
    gmtime_r(&at, &tm);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M", &tm);
    return schedule_time_parse(c->zone, str_z(text), &at_us) ? at_us : 0;
}

/* ---- the zone (section 3.6.5) ---- */

static void put_offset(struct guest_calendar *c, const char *name, int64_t us)
{
    const int64_t minutes = us / MINUTE_US;
    const int64_t size = minutes < 0 ? -minutes : minutes;
    put_line(c, "%s:%c%02d%02d", name, minutes < 0 ? '-' : '+', (int)(size / 60), (int)(size % 60));
}

/* From a moment on, the clocks show other times. */
static void put_observance(struct guest_calendar *c, int64_t at_us, int64_t before_us, int64_t after_us)
{
    char text[STAMP_ROOM];
    const char *kind = after_us > before_us ? "DAYLIGHT" : "STANDARD";
    stamp(at_us + before_us, text);
    put_line(c, "BEGIN:%s", kind);
    put_line(c, "DTSTART:%.15s", text);
    put_offset(c, "TZOFFSETFROM", before_us);
    put_offset(c, "TZOFFSETTO", after_us);
    put_line(c, "END:%s", kind);
}

/* The minute of the change between two moments. */
static int64_t change_us(const struct guest_calendar *c, int64_t low_us, int64_t high_us)
{
    const int64_t before_us = offset_us(c, low_us);
    while (high_us - low_us > MINUTE_US) {
        int64_t middle_us = low_us + (high_us - low_us) / 2;
        middle_us -= middle_us % MINUTE_US;
        if (offset_us(c, middle_us) == before_us)
            low_us = middle_us;
        else
            high_us = middle_us;
    }
    return high_us;
}

static void put_zone(struct guest_calendar *c)
{
    int64_t at_us = c->from_us - 2 * DAY_US;
    at_us -= at_us % DAY_US;
    put_line(c, "BEGIN:VTIMEZONE");
    put_line(c, "TZID:%.*s", STR_ARG(c->zone));
    put_observance(c, at_us, offset_us(c, at_us), offset_us(c, at_us));
    for (; at_us < c->until_us + 2 * DAY_US; at_us += DAY_US) {
        const int64_t before_us = offset_us(c, at_us), after_us = offset_us(c, at_us + DAY_US);
        if (before_us != after_us)
            put_observance(c, change_us(c, at_us, at_us + DAY_US), before_us, after_us);
    }
    put_line(c, "END:VTIMEZONE");
}

/* ---- events ---- */

static void begin_event(struct guest_calendar *c)
{
    char now[STAMP_ROOM];
    const struct str building = escaped(c->tx->arena, c->view->building);
    stamp(c->tx->now_us, now);
    put_line(c, "BEGIN:VEVENT");
    put_line(c, "UID:%.*s-%d@portero", STR_ARG(id_str(&c->view->grant.id)), c->events++);
    put_line(c, "DTSTAMP:%s", now);
    put_line(c, "SUMMARY:%.*s", STR_ARG(building));
    put_line(c, "TRANSP:TRANSPARENT");
}

static void put_single(struct guest_calendar *c, int64_t from_us, int64_t until_us)
{
    char from[STAMP_ROOM], until[STAMP_ROOM];
    stamp(from_us, from);
    stamp(until_us, until);
    begin_event(c);
    put_line(c, "DTSTART:%s", from);
    put_line(c, "DTEND:%s", until);
    put_line(c, "END:VEVENT");
}

static void put_days(const struct window *w, struct buf *out)
{
    static const char *const names[] = {"SU", "MO", "TU", "WE", "TH", "FR", "SA"};
    for (int day = 0; day < 7; day++)
        if (w->days >> day & 1)
            buf_printf(out, "%s%s", out->n ? "," : "", names[day]);
}

static void put_weekly(struct guest_calendar *c, const struct window *w, int64_t first_day, int64_t last_day)
{
    char start[STAMP_ROOM], end[STAMP_ROOM], until[STAMP_ROOM];
    struct buf days = BUF(32);
    const int end_minute = w->end_minute > w->start_minute ? w->end_minute : w->end_minute + 1440;
    stamp((first_day * 86400 + (int64_t)w->start_minute * 60) * US_PER_S, start);
    stamp((first_day * 86400 + (int64_t)end_minute * 60) * US_PER_S, end);
    stamp(moment_us(c, last_day, w->start_minute), until);
    put_days(w, &days);
    begin_event(c);
    put_line(c, "DTSTART;TZID=%.*s:%.15s", STR_ARG(c->zone), start);
    put_line(c, "DTEND;TZID=%.*s:%.15s", STR_ARG(c->zone), end);
    put_line(c, "RRULE:FREQ=WEEKLY;UNTIL=%s;BYDAY=%.*s", until, STR_ARG(buf_view(&days)));
    put_line(c, "END:VEVENT");
    buf_done(&days);
}

/* The whole events of a window repeat; one that the grant's start or end cuts is single. */
static void put_window(struct guest_calendar *c, const struct window *w)
{
    const int end_minute = w->end_minute > w->start_minute ? w->end_minute : w->end_minute + 1440;
    int64_t first_day = -1, last_day = -1;
    for (int64_t day = c->from_us / DAY_US - 2; day <= c->until_us / DAY_US + 1; day++) {
        if (!(w->days >> ((day + THURSDAY) % 7) & 1))
            continue;
        const int64_t start_us = moment_us(c, day, w->start_minute), end_us = moment_us(c, day, end_minute);
        if (end_us <= c->from_us || start_us >= c->until_us)
            continue;
        const bool cut = (start_us < c->from_us && c->begins) || (end_us > c->until_us && c->ends);
        if (cut)
            put_single(c, start_us < c->from_us ? c->from_us : start_us, end_us > c->until_us ? c->until_us : end_us);
        else if (start_us >= c->from_us || !c->begins) {
            first_day = first_day < 0 ? day : first_day;
            last_day = day;
        }
    }
    if (first_day >= 0)
        put_weekly(c, w, first_day, last_day);
}

/* ---- the file ---- */

static void find_bounds(struct guest_calendar *c)
{
    const struct grant *g = &c->view->grant;
    const int64_t own_us = g->starts_us > g->created_us ? g->starts_us : g->created_us;
    const int64_t kept_us = c->tx->now_us - KEPT_DAYS * DAY_US, shown_until_us = c->tx->now_us + SHOWN_DAYS * DAY_US;
    c->begins = own_us >= kept_us;
    c->from_us = c->begins ? own_us : kept_us;
    c->ends = g->ends_us <= shown_until_us;
    c->until_us = c->ends ? g->ends_us : shown_until_us;
}

bool guest_calendar_fits(const struct guest_view *v)
{
    return v->grant.schedule.count || v->grant.ends_us != GRANT_NO_END;
}

void guest_calendar_put(struct tx *tx, const struct guest_view *v, struct buf *out)
{
    const struct schedule *s = &v->grant.schedule;
    struct guest_calendar c = {.tx = tx, .view = v, .zone = s->timezone, .out = out};
    find_bounds(&c);
    put_line(&c, "BEGIN:VCALENDAR");
    put_line(&c, "VERSION:2.0");
    put_line(&c, "PRODID:-//Portero//Guest//EN");
    if (s->count)
        put_zone(&c);
    else
        put_single(&c, c.from_us, c.until_us);
    for (const struct window *w = s->windows; w < s->windows + s->count; w++)
        put_window(&c, w);
    put_line(&c, "END:VCALENDAR");
}
