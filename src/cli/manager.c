#include "cli/manager.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "cli/lifecycle.h"
#include "cli/notify.h"

#define TURN_US      US_PER_S
#define EXTEND_US    (30 * US_PER_S)  /* the manager's patience, */
#define EXTEND_AT_US (5 * US_PER_S)   /* renewed so often, */
#define STOP_US      (120 * US_PER_S) /* and not after a stop has taken so long */
#define SILENT_US    (2 * US_PER_S)   /* a loop is not late before that: its own beat is a second */
#define TEXT_MAX     300

static struct {
    pthread_mutex_t lock; /* of everything, and held while a message is sent: the order counts */
    pthread_cond_t wake;
    pthread_t thread;
    bool running, end, failed;
    void (*reason)(char *ret, size_t size);
    const struct daemon *daemon; /* NULL: none, or it is about to be freed */
    char status[TEXT_MAX];       /* as last sent */
    int64_t watchdog_us;         /* 0: none */
    int64_t stopping_us, extended_us;
} manager = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void tell(const char *text)
{
    if (!notify_send(text) || manager.failed)
        return;
    manager.failed = true;
    log_warn("notify_failed state=\"%.*s\" reason=\"%s\"", (int)strcspn(text, "\n"), text, strerror(errno));
}

/* ---- the state ---- */

static void write_status(char ret[static TEXT_MAX])
{
    const unsigned calls = manager.daemon ? daemon_calls(manager.daemon) : 0;
    char reason[TEXT_MAX / 2];
    switch (lifecycle_get()) {
    case LIFECYCLE_STARTING:
        manager.reason(reason, sizeof reason);
        snprintf(ret, TEXT_MAX, "starting: %s", reason);
        break;
    case LIFECYCLE_READY:
        snprintf(ret, TEXT_MAX, "ready, calls %u", calls);
        break;
    case LIFECYCLE_STOPPING:
        if (calls)
            snprintf(ret, TEXT_MAX, "draining, calls %u", calls);
        else
            snprintf(ret, TEXT_MAX, "stopping");
    }
}

/* A start ends by itself, or waits for a store that a new process would wait for, too. */
static bool is_patience_due(int64_t now_us)
{
    const enum lifecycle state = lifecycle_get();
    if (state == LIFECYCLE_READY || (state == LIFECYCLE_STOPPING && now_us > manager.stopping_us + STOP_US))
        return false;
    return now_us >= manager.extended_us + EXTEND_AT_US;
}

/* A process that stops is watched by the time limit of the stop. */
static bool is_alive(int64_t now_us)
{
    if (lifecycle_get() != LIFECYCLE_READY || !manager.daemon)
        return true;
    const int64_t most_us = manager.watchdog_us / 2 > SILENT_US ? manager.watchdog_us / 2 : SILENT_US;
    return daemon_turned_us(manager.daemon) >= now_us - most_us;
}

/* `first`: lines before the others. */
static void tell_state(const char *first)
{
    char status[TEXT_MAX], text[2 * TEXT_MAX];
    const int64_t now_us = clock_monotonic_us();
    size_t n = (size_t)snprintf(text, sizeof text, "%s", first);
    write_status(status);
    if (strcmp(status, manager.status) != 0) {
        n += (size_t)snprintf(text + n, sizeof text - n, "STATUS=%s\n", status);
        memcpy(manager.status, status, sizeof status);
    }
    if (is_patience_due(now_us)) {
        n += (size_t)snprintf(text + n, sizeof text - n, "EXTEND_TIMEOUT_USEC=%lld\n", (long long)EXTEND_US);
        manager.extended_us = now_us;
    }
    if (manager.watchdog_us && is_alive(now_us))
        n += (size_t)snprintf(text + n, sizeof text - n, "WATCHDOG=1\n");
    if (n)
        tell(text);
}

/* ---- the thread ---- */

static void *manager_run(void *unused)
{
    (void)unused;
    const int64_t quarter_us = manager.watchdog_us / 4;
    const int64_t turn_us = quarter_us && quarter_us < TURN_US ? quarter_us : TURN_US;
    pthread_mutex_lock(&manager.lock);
    while (!manager.end) {
        tell_state("");
        const int64_t at_us = clock_monotonic_us() + turn_us;
        const struct timespec at = {at_us / US_PER_S, at_us % US_PER_S * 1000};
        (void)pthread_cond_timedwait(&manager.wake, &manager.lock, &at);
    }
    pthread_mutex_unlock(&manager.lock);
    return NULL;
}

/* $WATCHDOG_USEC, unless $WATCHDOG_PID says that it is for another process. */
static int64_t watchdog_us(void)
{
    const char *us = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
    if (!us || (pid && strtoll(pid, NULL, 10) != getpid()))
        return 0;
    const int64_t value = strtoll(us, NULL, 10);
    return value > 0 ? value : 0;
}

enum err manager_begin(void (*reason)(char *ret, size_t size))
{
    const char *path = getenv("NOTIFY_SOCKET");
    pthread_condattr_t monotonic;
    if (!path || !*path)
        return ERR_NONE;
    manager.reason = reason;
    manager.watchdog_us = watchdog_us();
    manager.extended_us = clock_monotonic_us() - EXTEND_AT_US;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&manager.wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    manager.running = pthread_create(&manager.thread, NULL, manager_run, NULL) == 0;
    return manager.running ? ERR_NONE : ERR_IO;
}

void manager_end(void)
{
    if (!manager.running)
        return;
    pthread_mutex_lock(&manager.lock);
    manager.end = true;
    pthread_cond_signal(&manager.wake);
    pthread_mutex_unlock(&manager.lock);
    pthread_join(manager.thread, NULL);
    manager.running = false;
}

/* ---- changes ---- */

static void change(const char *first, const struct daemon *d)
{
    if (!manager.running)
        return;
    pthread_mutex_lock(&manager.lock);
    manager.daemon = d;
    manager.extended_us = clock_monotonic_us() - EXTEND_AT_US;
    if (!manager.stopping_us && lifecycle_get() == LIFECYCLE_STOPPING)
        manager.stopping_us = clock_monotonic_us();
    tell_state(first);
    pthread_mutex_unlock(&manager.lock);
}

void manager_ready(struct daemon *d)
{
    change("READY=1\n", d);
}

void manager_reloading(void)
{
    char text[64];
    snprintf(text, sizeof text, "RELOADING=1\nMONOTONIC_USEC=%lld\n", (long long)clock_monotonic_us());
    change(text, manager.daemon);
}

void manager_stopping(void)
{
    change("STOPPING=1\n", manager.daemon);
}

void manager_forget(void)
{
    change("", NULL);
}
