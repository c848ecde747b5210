#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

#define RECORD_MAX 2000

static _Atomic int threshold = LOG_INFO;

void log_set_level(enum log_level level)
{
    atomic_store_explicit(&threshold, (int)level, memory_order_relaxed);
}

/* Appends one byte of a message, escaped if it could break the line or drive a terminal. Needs room for 4. */
static size_t put_escaped(char *to, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    if (c >= 0x20 && c != 0x7f) {
        *to = (char)c;
        return 1;
    }
    to[0] = '\\';
    if (c == '\n' || c == '\r' || c == '\t') {
        to[1] = c == '\n' ? 'n' : c == '\r' ? 'r' : 't';
        return 2;
    }
    to[1] = 'x';
    to[2] = hex[c >> 4];
    to[3] = hex[c & 15];
    return 4;
}

void log_line(enum log_level level, const char *fmt, ...)
{
    static const char *const names[] = {"error", "warn", "info", "debug"};
    char message[RECORD_MAX], record[RECORD_MAX];
    int saved = errno;
    if ((int)level > atomic_load_explicit(&threshold, memory_order_relaxed))
        return;
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
    for (const char *p = message; *p && at + 5 <= sizeof record; p++)
        at += put_escaped(record + at, (unsigned char)*p);
    record[at++] = '\n';
    while (write(STDERR_FILENO, record, at) < 0 && errno == EINTR)
        ;
    errno = saved;
}
