#include "base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log_json.h"
#include "base/metric.h"

#define RECORD_MAX 2000
#define JSON_MAX   4096 /* PIPE_BUF: a write of so much is not mixed with others */

_Static_assert(LOG_DEBUG == (int)METRIC_LEVEL_DEBUG, "a series for each level");

static _Atomic int threshold = LOG_INFO, format = LOG_TEXT;

/* Whether standard error is the journal. */
static bool to_journal;
static pthread_once_t looked = PTHREAD_ONCE_INIT;

void log_set_level(enum log_level level)
{
    atomic_store_explicit(&threshold, (int)level, memory_order_relaxed);
}

void log_set_format(enum log_format chosen)
{
    atomic_store_explicit(&format, (int)chosen, memory_order_relaxed);
}

/* systemd.exec(5): $JOURNAL_STREAM has the device and the inode of the descriptor that is connected to the journal. */
static void look_for_journal(void)
{
    const char *stream = getenv("JOURNAL_STREAM");
    char own[64];
    struct stat st;
    if (!stream || fstat(STDERR_FILENO, &st) != 0)
        return;
    snprintf(own, sizeof own, "%llu:%llu", (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
    to_journal = strcmp(own, stream) == 0;
}

const char *log_prefix(enum log_level level)
{
    static const char *const priorities[] = {"<3>", "<4>", "<6>", "<7>"}; /* sd-daemon(3) */
    pthread_once(&looked, look_for_journal);
    return to_journal ? priorities[level] : "";
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

/* Returns the length. */
static size_t write_text(char ret[static RECORD_MAX], const char *time, const char *level, const char *message)
{
    size_t at = (size_t)snprintf(ret, RECORD_MAX, "%s%s%s ", time ? time : "", time ? " " : "", level);
    for (const unsigned char *p = (const unsigned char *)message; *p && at + 5 <= RECORD_MAX; p++)
        at += put_byte(ret + at, p);
    ret[at++] = '\n';
    return at;
}

void log_line(enum log_level level, const char *fmt, ...)
{
    static const char *const names[] = {"error", "warn", "info", "debug"};
    char message[RECORD_MAX], record[JSON_MAX], time[32];
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

    const char *prefix = log_prefix(level), *at = NULL; /* the journal has a time of its own */
    size_t used = strlen(prefix);
    memcpy(record, prefix, used);
    if (!used) {
        time_format(clock_real_us(), time);
        at = time;
    }
    if (atomic_load_explicit(&format, memory_order_relaxed) == LOG_JSON)
        used += log_json(record + used, sizeof record - used, at, names[level], message);
    else
        used += write_text(record + used, at, names[level], message);
    while (write(STDERR_FILENO, record, used) < 0 && errno == EINTR)
        ;
    errno = saved;
}
