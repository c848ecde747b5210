#include "media/tick.h"

#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/container_of.h"
#include "base/mem.h"

/* Missed ticks that a delayed thread makes up for. Beyond that the stream has a gap. */
#define CATCH_UP_MAX 5

struct tick {
    struct list entries;
    struct le *next; /* in the current round; removing this entry advances it */
    int fd;
    bool armed;
};

int64_t tick_now_ms(void)
{
    return clock_monotonic_us() / 1000;
}

static void arm(struct tick *t, bool on)
{
    struct itimerspec when = {0};
    if (on) {
        when.it_interval.tv_nsec = TICK_MS * 1000000L;
        when.it_value = when.it_interval;
    }
    t->armed = !timerfd_settime(t->fd, 0, &when, NULL) && on;
}

static void run_all(struct tick *t)
{
    int64_t now_ms = tick_now_ms();
    t->next = t->entries.head;
    while (t->next) {
        struct tick_entry *e = t->next->data;
        t->next = t->next->next;
        e->run(e->arg, now_ms);
    }
}

static void tick_on_timer(int flags, void *arg)
{
    (void)flags;
    struct tick *t = arg;
    uint64_t passed;
    if (read(t->fd, &passed, sizeof passed) != sizeof passed)
        return;
    if (passed > CATCH_UP_MAX)
        passed = CATCH_UP_MAX;
    while (passed--)
        run_all(t);
    if (list_isempty(&t->entries))
        arm(t, false);
}

enum err tick_new(struct tick **ret)
{
    struct tick *t = mem_new(struct tick);
    t->fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (t->fd < 0)
        goto free;
    if (fd_listen(t->fd, FD_READ, tick_on_timer, t))
        goto close;
    *ret = t;
    return ERR_NONE;
close:
    close(t->fd);
free:
    free(t);
    return ERR_IO;
}

void tick_free(struct tick *t)
{
    if (!t)
        return;
    list_clear(&t->entries);
    fd_close(t->fd);
    close(t->fd);
    free(t);
}

void tick_add(struct tick *t, struct tick_entry *e, void (*run)(void *arg, int64_t now_ms), void *arg)
{
    e->run = run;
    e->arg = arg;
    list_append(&t->entries, &e->le, e);
    if (!t->armed)
        arm(t, true);
}

void tick_remove(struct tick_entry *e)
{
    if (!e->le.list)
        return;
    struct list *list = e->le.list;
    struct tick *t = container_of(list, struct tick, entries);
    if (t->next == &e->le)
        t->next = e->le.next;
    list_unlink(&e->le);
}
