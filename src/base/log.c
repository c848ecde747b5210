#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/metric.h"

#define RECORD_MAX 2000

_Static_assert(LOG_DEBUG == (int)METRIC_LEVEL_DEBUG, "a series for each level");

static _Atomic int threshold = LOG_INFO;

void log_set_level(enum log_level level)
{
    atomic_store_explicit(&threshold, (int)level, memory_order_relaxed);
}

/* Whether a byte could break the line or control a terminal: C0, DEL and, in UTF-8, C1 (0xc2 and the next byte). */
static bool is_control(const unsigned char *p)
{
    return p[0] < 0x20 || p[0] == 0x7f || (p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0);
}

/* Writes one byte of a message, escaped if needed. Needs room for 4; returns the number written. */
static size_t put_byte(char *to, const unsigned char *p)
{
    static const char hex[] = "0123456789abcdef";
    if (!is_control(p)) {
        *to = (char)*p;
        return 1;
    }
    memcpy(to, (char[]){'\\', 'x', hex[*p >> 4], hex[*p & 15]}, 4);
    return 4;
}

void log_line(enum log_level level, const char *fmt, ...)
{
    static const char *const names[] = {"error", "warn", "info", "debug"};
    char message[RECORD_MAX], record[RECORD_MAX];
    int saved = errno;
    if ((int)level > atomic_load_explicit(&threshold, memory_order_relaxed))
        return;
    metric_add(&metrics.log_records[level], 1);
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    if (n < 0)
        message[0] = '\0';

    time_format(clock_real_us(), record);
    size_t at = strlen(record);
    record[at++] = ' ';
    for (const char *p = names[level]; *p; p++)
        record[at++] = *p;
    record[at++] = ' ';
    for (const unsigned char *p = (const unsigned char *)message; *p && at + 5 <= sizeof record; p++)
        at += put_byte(record + at, p);
    record[at++] = '\n';
    while (write(STDERR_FILENO, record, at) < 0 && errno == EINTR)
        ;
    errno = saved;
}
