#include "sip/call_end.h"

#include "base/metric.h"
#include "sip/admit.h"
#include "sip/agent.h"
#include "sip/forward.h"
#include "sip/guard.h"
#include "sip/listener.h"
#include "sip/stack.h"
#include "sip/story.h"
#include "sip/target.h"

#define REFUSALS_MAX 500           /* repeated until they are acknowledged, in REFUSALS_MS */
#define REFUSALS_MS  (64 * SIP_T1) /* libre keeps each for this long */

static void on_free(void *arg)
{
    mem_deref(arg);
}

/* Whether one more refusal may be repeated until it is acknowledged, as RFC 3261 requires. Each costs memory for 32 s,
 * and its source may be forged: in a flood the others are sent once. */
static bool may_repeat(struct sip_agent *a)
{
    int64_t now_ms = tick_now_ms();
    if (now_ms - a->refusals_ms >= REFUSALS_MS) {
        a->refusals_ms = now_ms;
        a->refusals = 0;
    }
    return a->refusals++ < REFUSALS_MAX;
}

void sip_call_refuse(struct sip_call *c, int status, const char *reason)
{
    static const char end[] = "%sContent-Length: 0\r\n\r\n";
    const char *header = status == 503 ? SIP_RETRY_AFTER : "";
    if (may_repeat(c->agent)) {
        (void)sip_treplyf(&c->transaction, NULL, c->stack->sip, c->invite, false, (uint16_t)status, reason, end,
                          header);
        return;
    }
    (void)sip_replyf(c->stack->sip, c->invite, (uint16_t)status, reason, end, header);
    c->transaction = mem_deref(c->transaction);
}

void sip_call_end(struct sip_call *c)
{
    if (c->ended)
        return;
    c->ended = true;
    struct call_actions unused;
    const struct call_action *at = sip_call_current(c);
    c->record.unfinished = c->machine.state == CALL_ENDING && !(at && at->kind == CALL_HANG_UP);
    call_step(&c->machine, &(struct call_event){.kind = CALL_HUNG_UP}, &unused);
    sip_message_end(c);
    c->story.end.minutes = sip_forward_minutes(c->forward);
    sip_story_end(c);
    tick_remove(&c->tick);
    sip_forward_end(c->forward);
    sip_listeners_end(c);
    if (c->media)
        media_stop(c->media);
    if (c->transaction)
        sip_call_refuse(c, 503, "Service Unavailable");
    sip_tones_stop(&c->tones);
    sip_refresh_end(&c->refresh);
    sip_answer_hang_up(&c->answer);
    sip_answer_done(&c->answer);
    if (c->session)
        sip_target_retry(sipsess_dialog(c->session), c->target);
    c->session = mem_deref(c->session); /* sends BYE, unless the peer hung up */
    sip_admit_end(c);
    hash_unlink(&c->dialog);
    list_unlink(&c->le);
    list_append(&c->agent->ended, &c->le, c);
    c->agent->call_count--;
    metric_set(metrics.calls_active, c->agent->call_count);
    tmr_start(&c->free_timer, 0, on_free, c);
    sip_agent_settled(c->agent);
}

void sip_call_end_all(struct sip_agent *a, const struct sip_stack *s)
{
    struct le *le = a->calls.head;
    while (le) {
        struct sip_call *c = le->data;
        le = le->next;
        if (s && c->stack != s)
            continue;
        story_ended_by(&c->story, CALL_ENDED_STOP);
        sip_call_end(c);
    }
}
