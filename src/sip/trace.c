#include "sip/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metric.h"
#include "sip/agent.h"
#include "sip/mask.h"
#include "sip/stack.h"

#define TRACE_FILE_MAX (16 * 1024 * 1024) /* bytes */
#define WAITING_MAX    (1024 * 1024)      /* bytes that wait for the thread */
#define LINE_MAX_SIZE  256

struct sip_trace {
    char *path;
    int fd;
    off_t size;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t news;
    char *waiting, *writing; /* WAITING_MAX each */
    size_t waiting_n;
    unsigned dropped; /* messages, since the last that was added */
    bool ending;
};

/* ---- the file ---- */

static int open_file(struct sip_trace *t)
{
    struct stat at;
    t->fd = open(t->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (t->fd < 0)
        return -1;
    if (fchmod(t->fd, 0600) || fstat(t->fd, &at)) {
        close(t->fd);
        t->fd = -1;
        return -1;
    }
    t->size = at.st_size;
    return 0;
}

static void rotate(struct sip_trace *t)
{
    char *old = mem_printf("%s.1", t->path);
    close(t->fd);
    if (rename(t->path, old) || open_file(t)) {
        log_warn("sip trace ended errno=%d", errno);
        t->fd = -1;
    }
    free(old);
}

static void write_out(struct sip_trace *t, const char *p, size_t n)
{
    if (t->fd >= 0 && t->size + (off_t)n > TRACE_FILE_MAX)
        rotate(t);
    while (t->fd >= 0 && n) {
        const ssize_t done = write(t->fd, p, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0) {
            log_warn("sip trace not written errno=%d", errno);
            return;
        }
        p += done;
        n -= (size_t)done;
        t->size += done;
    }
}

static void *trace_thread(void *arg)
{
    struct sip_trace *t = arg;
    bool ending = false;
    while (!ending) {
        pthread_mutex_lock(&t->lock);
        while (!t->waiting_n && !t->ending)
            pthread_cond_wait(&t->news, &t->lock);
        char *full = t->waiting;
        const size_t n = t->waiting_n;
        t->waiting = t->writing;
        t->writing = full;
        t->waiting_n = 0;
        ending = t->ending;
        pthread_mutex_unlock(&t->lock);
        write_out(t, full, n);
    }
    return NULL;
}

/* ---- messages ---- */

static void append(struct sip_trace *t, const char *head, const char *message, size_t n)
{
    char *at = mempcpy(t->waiting + t->waiting_n, head, strlen(head));
    memcpy(at, message, n);
    sip_mask(at, n);
    at += n;
    *at++ = '\n';
    *at++ = '\n';
    t->waiting_n = (size_t)(at - t->waiting);
}

void sip_trace_add(struct sip_trace *t, bool out, enum sip_transp tp, const struct sa *from, const struct sa *to,
                   const uint8_t *message, size_t n)
{
    char head[LINE_MAX_SIZE], time[TIME_TEXT_MAX], lost[64] = "";
    time_format(clock_real_us(), time);
    pthread_mutex_lock(&t->lock);
    if (t->dropped)
        (void)snprintf(lost, sizeof lost, "(%u messages left out)\n\n", t->dropped);
    (void)re_snprintf(head, sizeof head, "%s%s %s %s %J > %J %zu bytes\n", lost, time, out ? "out" : "in",
                      sip_transp_name(tp), from, to, n);
    if (t->waiting_n + strlen(head) + n + 2 > WAITING_MAX) {
        t->dropped++;
    } else {
        append(t, head, (const char *)message, n);
        t->dropped = 0;
        pthread_cond_signal(&t->news);
    }
    pthread_mutex_unlock(&t->lock);
}

/* The method that a response names in its CSeq. */
static enum metric_label_METHOD method_of(const char *p, size_t n)
{
    const char *line = memmem(p, n, "\r\nCSeq:", 7);
    const char *end = line ? memchr(line + 2, '\r', n - (size_t)(line + 2 - p)) : NULL;
    const char *word = end ? memrchr(line, ' ', (size_t)(end - line)) : NULL;
    for (size_t i = 0; word && i < METRIC_SIP_OTHER; i++) {
        const struct str name = str_z(metric_values_METHOD[i]);
        if (str_eq(str_n(word + 1, (size_t)(end - word) - 1), name))
            return (enum metric_label_METHOD)i;
    }
    return METRIC_SIP_OTHER;
}

static void count_response(const char *p, size_t n)
{
    if (n < sizeof "SIP/2.0 200" || memcmp(p, "SIP/2.0 ", 8) != 0 || p[8] < '2' || p[8] > '6')
        return;
    metric_add(&metrics.sip_responses[method_of(p, n) * METRIC_SIP_CLASS_VALUES + (unsigned)(p[8] - '2')], 1);
}

static void on_trace(bool out, enum sip_transp tp, const struct sa *from, const struct sa *to, const uint8_t *message,
                     size_t n, void *arg)
{
    struct sip_stack *s = arg;
    if (sa_cmp(from, to, SA_ALL)) /* the filter's probe */
        return;
    if (out)
        count_response((const char *)message, n);
    if (s->agent->trace)
        sip_trace_add(s->agent->trace, out, tp, from, to, message, n);
}

void sip_trace_watch(struct sip_stack *s, bool on)
{
    sip_set_trace_handler(s->sip, on ? on_trace : NULL);
}

/* ---- life ---- */

static void trace_free(struct sip_trace *t)
{
    if (t->fd >= 0)
        close(t->fd);
    pthread_cond_destroy(&t->news);
    pthread_mutex_destroy(&t->lock);
    free(t->waiting);
    free(t->writing);
    free(t->path);
    free(t);
}

enum err sip_trace_open(const char *path, struct sip_trace **ret)
{
    struct sip_trace *t = mem_new(struct sip_trace);
    t->path = mem_strdup(path);
    t->waiting = mem_array(char, WAITING_MAX);
    t->writing = mem_array(char, WAITING_MAX);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->news, NULL);
    int e = open_file(t) ? errno : pthread_create(&t->thread, NULL, trace_thread, t);
    if (e) {
        trace_free(t);
        errno = e;
        return ERR_IO;
    }
    pthread_setname_np(t->thread, "sip-trace");
    *ret = t;
    return ERR_NONE;
}

void sip_trace_close(struct sip_trace *t)
{
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    t->ending = true;
    pthread_cond_signal(&t->news);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->thread, NULL);
    trace_free(t);
}
