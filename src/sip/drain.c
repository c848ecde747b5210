#include "sip/drain.h"

#include "base/container_of.h"
#include "sip/agent.h"
#include "sip/forward.h"
#include "sip/listener.h"

#define LEAVE_MS 2000 /* at the end, for the answers to our last requests */

/* ---- stages ---- */

static void tell_calls(struct sip_agent *a)
{
    struct le *le = a->dialogs.calls.head;
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
    a->drain.stage++;
    await_stage(a);
    if (stages[a->drain.stage].run)
        stages[a->drain.stage].run(a);
}

static void await_stage(struct sip_agent *a)
{
    if (a->drain.stage == SIP_DRAIN_ENDS)
        return;
    const int64_t left_ms = a->drain.end_ms - stages[a->drain.stage + 1].before_ms - tick_now_ms();
    tmr_start(&a->drain.stage_timer, left_ms > 0 ? (uint64_t)left_ms : 0, on_stage, a);
}

/* ---- after the last call ---- */

static void on_leave_timer(void *arg)
{
    struct sip_agent *a = arg;
    a->drain.left = true;
    sip_agent_settled(a);
}

/* Says goodbye, and ends the loop when that was answered, or after LEAVE_MS. */
static void on_settled(struct sip_agent *a)
{
    struct sip_drain *d = &a->drain;
    if (!d->leaving) {
        d->leaving = true;
        tmr_start(&d->leave_timer, LEAVE_MS, on_leave_timer, a);
        sip_trunks_leave(a);
    }
    if (d->left || (!d->outgoing && !sip_trunks_leaving(a)))
        re_cancel();
}

/* ---- */

static void on_begin(struct mail *m)
{
    struct sip_agent *a = container_of(m, struct sip_agent, drain.begin);
    struct sip_drain *d = &a->drain;
    sip_codes_end(a, NULL);
    d->settled = on_settled;
    d->stopping = true;
    d->stage = d->wait_ms ? SIP_DRAIN_SERVES : SIP_DRAIN_TELLS; /* at once: without a word */
    d->end_ms = tick_now_ms() + d->wait_ms;
    await_stage(a);
    sip_agent_settled(a);
}

void sip_wind_down(struct sip_agent *a, int64_t wait_ms)
{
    struct sip_drain *d = &a->drain;
    if (d->asked)
        return;
    d->asked = true;
    d->wait_ms = wait_ms;
    d->begin.run = on_begin;
    mailbox_post(&a->box, &d->begin);
}

void sip_drain_done(struct sip_drain *d)
{
    tmr_cancel(&d->stage_timer);
    tmr_cancel(&d->leave_timer);
}
