#include "sip/pulse.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "call/story_task.h"
#include "sip/agent.h"
#include "sip/filter.h"

#define PULSE_MS 1000

/* libre says nothing when a connection gets no descriptor, or closes one whose descriptor is above its limit. The next
 * connection will get the lowest free one. */
static void look_for_descriptor(struct sip_agent *a)
{
    static const char *const limits[] = {"descriptors"};
    const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    a->limits.full.counts[0] += fd < 0 || fd >= a->descriptors;
    if (fd >= 0)
        close(fd);
    refusals_tell(&a->limits.full, "sip connections", limits, 1, clock_monotonic_us());
}

static void on_pulse(void *arg)
{
    struct sip_agent *a = arg;
    atomic_store_explicit(&a->pulse.turned_us, clock_monotonic_us(), memory_order_relaxed);
    atomic_store_explicit(&a->pulse.calls, a->dialogs.count, memory_order_relaxed);
    sip_limits_tell(&a->limits);
    look_for_descriptor(a);
    for (struct le *le = a->stacks.head; le; le = le->next)
        sip_filter_count(le->data);
    story_repeat(false);
    tmr_start(&a->pulse.timer, PULSE_MS, on_pulse, a);
}

void sip_pulse_start(struct sip_agent *a)
{
    on_pulse(a);
}

void sip_pulse_stop(struct sip_agent *a)
{
    tmr_cancel(&a->pulse.timer);
    atomic_store(&a->pulse.calls, 0);
}

unsigned sip_pulse(const struct sip_agent *a, int64_t *ret_turned_us)
{
    *ret_turned_us = atomic_load_explicit(&a->pulse.turned_us, memory_order_relaxed);
    return atomic_load_explicit(&a->pulse.calls, memory_order_relaxed);
}
