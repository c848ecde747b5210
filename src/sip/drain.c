#include "sip/drain.h"

#include "sip/forward.h"
#include "sip/listener.h"

static void tell_calls(struct sip_agent *a)
{
    struct le *le = a->calls.head;
    while (le) {
        struct sip_call *c = le->data;
        le = le->next; /* a call that is given up may end */
        if (c->machine.state == CALL_BRIDGED)
            sip_listeners_closing(c);
        else
            sip_forward_give_up(c);
    }
}

static void end_calls(struct sip_agent *a)
{
    sip_call_end_all(a, NULL);
    sip_agent_settled(a);
}

/* In their order. A visitor who is taken last has time for a code, and a resident who is told for a key. */
static const struct {
    int64_t before_ms; /* the end */
    void (*run)(struct sip_agent *a);
} stages[] = {
    [SIP_DRAIN_REFUSES] = {10000, NULL}, [SIP_DRAIN_TELLS] = {8000, tell_calls}, [SIP_DRAIN_ENDS] = {0, end_calls}};

static void await_stage(struct sip_agent *a);

static void on_stage(void *arg)
{
    struct sip_agent *a = arg;
    a->drain++;
    await_stage(a);
    if (stages[a->drain].run)
        stages[a->drain].run(a);
}

static void await_stage(struct sip_agent *a)
{
    if (a->drain == SIP_DRAIN_ENDS)
        return;
    const int64_t left_ms = a->drain_ms - stages[a->drain + 1].before_ms - tick_now_ms();
    tmr_start(&a->stop_timer, left_ms > 0 ? (uint64_t)left_ms : 0, on_stage, a);
}

void sip_drain_begin(struct sip_agent *a, int64_t wait_ms)
{
    a->stopping = true;
    a->drain = wait_ms ? SIP_DRAIN_SERVES : SIP_DRAIN_TELLS; /* at once: without a word */
    a->drain_ms = tick_now_ms() + wait_ms;
    await_stage(a);
    sip_agent_settled(a);
}
