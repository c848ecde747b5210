#include "base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/unix.h"

#define S_PER_DAY  86400
#define LATEST_US  (253402300799LL * US_PER_S + 999999) /* 9999-12-31T23:59:59.999999Z */
#define KNOWN_DAYS 64
#define DATE_CHARS 11 /* "2026-11-20T" */

static _Atomic int64_t offset_s;

static int64_t read_us(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (int64_t)t.tv_sec * US_PER_S + t.tv_nsec / 1000;
}

int64_t clock_real_us(void)
{
    return read_us(CLOCK_REALTIME);
}

int64_t clock_monotonic_us(void)
{
    return read_us(CLOCK_MONOTONIC);
}

int64_t clock_now_us(void)
{
    return clock_real_us() + clock_offset_s() * US_PER_S;
}

int64_t clock_offset_s(void)
{
    return atomic_load_explicit(&offset_s, memory_order_relaxed);
}

void clock_set_offset_s(int64_t s)
{
    atomic_store_explicit(&offset_s, s, memory_order_relaxed);
}

bool clock_raise_offset_s(int64_t s)
{
    int64_t now_s = clock_offset_s();
    while (now_s < s)
        if (atomic_compare_exchange_weak(&offset_s, &now_s, s))
            return true;
    return false;
}

/* ---- two clocks ---- */

static pthread_mutex_t watch_lock = PTHREAD_MUTEX_INITIALIZER;
static struct clock_watch watch; /* the process's own */

bool clock_watch_look(struct clock_watch *w, int64_t real_us, int64_t monotonic_us)
{
    const int64_t apart_us = real_us - monotonic_us, step_us = apart_us - w->apart_us;
    const bool parted = w->begun && llabs(step_us) > CLOCK_PARTED_US;
    if (w->begun && !parted)
        return false;
    w->begun = true;
    w->apart_us = apart_us;
    if (parted) {
        w->steps++;
        w->step_us = step_us;
        w->settles_us = monotonic_us + CLOCK_SETTLED_US;
    }
    return parted;
}

struct clock_watch clock_look(void)
{
    pthread_mutex_lock(&watch_lock);
    clock_watch_look(&watch, clock_real_us(), clock_monotonic_us());
    const struct clock_watch copy = watch;
    pthread_mutex_unlock(&watch_lock);
    return copy;
}

void clock_doubt(void)
{
    pthread_mutex_lock(&watch_lock);
    watch.settles_us = clock_monotonic_us() + CLOCK_SETTLED_US;
    pthread_mutex_unlock(&watch_lock);
}

bool clock_settled(void)
{
    return clock_look().settles_us <= clock_monotonic_us();
}

/* ---- text ---- */

/* Two decimal digits of v, below 100. */
static inline void put_pair(char *to, unsigned v)
{
    to[0] = (char)('0' + v / 10);
    to[1] = (char)('0' + v % 10);
}

struct date {
    int64_t day;           /* since the epoch */
    char text[DATE_CHARS]; /* empty at first */
};

__attribute__((noinline)) static void write_date(int64_t day, struct date *ret)
{
    time_t at = (time_t)(day * S_PER_DAY);
    struct tm tm;
    gmtime_r(&at, &tm);
    unsigned year = (unsigned)tm.tm_year + 1900;
    ret->day = day;
    memcpy(ret->text, "0000-00-00T", DATE_CHARS);
    put_pair(ret->text, year / 100);
    put_pair(ret->text + 2, year % 100);
    put_pair(ret->text + 5, (unsigned)tm.tm_mon + 1);
    put_pair(ret->text + 8, (unsigned)tm.tm_mday);
}

/* A cache per thread: almost all times of a reply fall on a few days. */
static const char *date_text(int64_t day)
{
    static _Thread_local struct date known[KNOWN_DAYS];
    struct date *d = &known[(uint64_t)day % KNOWN_DAYS];
    if (d->day != day || !d->text[0])
        write_date(day, d);
    return d->text;
}

void time_format(int64_t at_us, char ret_text[static TIME_TEXT_MAX])
{
    int64_t us = at_us < 0 ? 0 : at_us > LATEST_US ? LATEST_US : at_us;
    int64_t s = us / US_PER_S;
    unsigned in_day = (unsigned)(s % S_PER_DAY), ms = (unsigned)(us % US_PER_S) / 1000;
    memcpy(ret_text, date_text(s / S_PER_DAY), DATE_CHARS);
    char *p = ret_text + DATE_CHARS;
    memcpy(p, "00:00:00.000Z", 14);
    put_pair(p, in_day / 3600);
    put_pair(p + 3, in_day / 60 % 60);
    put_pair(p + 6, in_day % 60);
    p[9] = (char)('0' + ms / 100);
    put_pair(p + 10, ms % 100);
}

/* Removes exactly n digits from the front of *s. */
static bool take_digits(struct str *s, size_t n, int *ret)
{
    int v = 0;
    if (s->n < n)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (s->p[i] < '0' || s->p[i] > '9')
            return false;
        v = v * 10 + (s->p[i] - '0');
    }
    *s = str_from(*s, n);
    *ret = v;
    return true;
}

static bool take_char(struct str *s, char c)
{
    if (s->n == 0 || s->p[0] != c)
        return false;
    *s = str_from(*s, 1);
    return true;
}

/* An optional fraction of a second, truncated to microseconds. */
static bool take_fraction(struct str *s, int64_t *ret_us)
{
    int64_t unit = US_PER_S, us = 0;
    int digit;
    if (!take_char(s, '.'))
        return true;
    if (!take_digits(s, 1, &digit))
        return false;
    do {
        unit /= 10;
        us += unit * digit;
    } while (take_digits(s, 1, &digit));
    *ret_us = us;
    return true;
}

/* The offset at the end of the text, in seconds east of UTC. */
static bool take_offset(struct str *s, int64_t *ret_s)
{
    int h, m;
    if (take_char(s, 'Z') || take_char(s, 'z')) {
        *ret_s = 0;
        return s->n == 0;
    }
    bool west = take_char(s, '-');
    if (!west && !take_char(s, '+'))
        return false;
    if (!take_digits(s, 2, &h) || !take_char(s, ':') || !take_digits(s, 2, &m) || s->n || h > 23 || m > 59)
        return false;
    *ret_s = (h * 60 + m) * 60 * (west ? -1 : 1);
    return true;
}

/* "2026-11-20T09:30:00" as a struct tm. Checks the ranges of hour and minute only. */
static bool take_fields(struct str *s, struct tm *ret)
{
    struct tm t = {0};
    if (!take_digits(s, 4, &t.tm_year) || !take_char(s, '-') || !take_digits(s, 2, &t.tm_mon) || !take_char(s, '-') ||
        !take_digits(s, 2, &t.tm_mday) || !(take_char(s, 'T') || take_char(s, 't')) || !take_digits(s, 2, &t.tm_hour) ||
        !take_char(s, ':') || !take_digits(s, 2, &t.tm_min) || !take_char(s, ':') || !take_digits(s, 2, &t.tm_sec))
        return false;
    t.tm_year -= 1900;
    t.tm_mon -= 1;
    *ret = t;
    return t.tm_hour <= 23 && t.tm_min <= 59 && t.tm_sec <= 60;
}

bool time_parse(struct str text, int64_t *ret_at_us)
{
    struct tm t;
    int64_t fraction_us = 0, east_s;
    if (!take_fields(&text, &t) || !take_fraction(&text, &fraction_us) || !take_offset(&text, &east_s))
        return false;
    bool leap = t.tm_sec == 60;
    if (leap) {
        t.tm_sec = 59;
        fraction_us = US_PER_S - 1;
    }
    struct tm normal = t;
    int64_t s = timegm(&normal);
    if (normal.tm_mday != t.tm_mday || normal.tm_mon != t.tm_mon)
        return false; /* no such day in the month */
    s -= east_s;
    if (leap && (s + 1) % S_PER_DAY != 0)
        return false; /* leap seconds end a UTC day */
    *ret_at_us = s * US_PER_S + fraction_us;
    return true;
}
