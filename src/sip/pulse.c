#include "sip/pulse.h"

#include "base/clock.h"
#include "call/story_task.h"
#include "sip/agent.h"

#define PULSE_MS 1000

static void on_pulse(void *arg)
{
    struct sip_agent *a = arg;
    atomic_store_explicit(&a->pulse.turned_us, clock_monotonic_us(), memory_order_relaxed);
    atomic_store_explicit(&a->pulse.calls, a->dialogs.count, memory_order_relaxed);
    sip_limits_tell(&a->limits);
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
