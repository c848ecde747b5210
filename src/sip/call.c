#include "sip/call.h"

#include "sip/agent.h"
#include "sip/guard.h"
#include "sip/stack.h"
#include "sip/target.h"

/* ---- the beginning ---- */

static void sip_call_destructor(void *arg)
{
    struct sip_call *c = arg;
    list_unlink(&c->le);
    hash_unlink(&c->dialog);
    tmr_cancel(&c->free_timer);
    tmr_cancel(&c->hold_timer);
    mem_deref(c->forward);
    mem_deref(c->early.sdp);
    media_free(c->media);
    greeting_done(&c->saying);
    decide_done(&c->decide);
    mem_deref((void *)c->invite);
    mem_deref((void *)c->target);
}

struct sip_call *sip_call_new(struct sip_stack *stack, const struct sip_msg *msg, const char *signed_in)
{
    struct sip_agent *a = stack->agent;
    const struct config_peer *peer = sip_peers_find(&a->peers, &msg->src);
    char to[CALL_NUMBER_MAX], from[CALL_NUMBER_MAX];
    struct sip_call *c = mem_zalloc(sizeof *c, sip_call_destructor);
    struct sip_source *s = c ? sip_source_enter(&a->sources, &msg->src, peer) : NULL;
    if (!s)
        return mem_deref(c);
    struct uri dialled = sip_dialled(msg, peer);
    (void)sip_number(&dialled, peer, to);
    struct uri caller = sip_caller(msg, peer);
    (void)sip_number(&caller, peer, from);
    call_init(&c->machine);
    c->signed_in = signed_in != NULL;
    decide_init(&c->decide, a->config, to, signed_in && *signed_in ? signed_in : from);
    c->decide.known = a->known;
    c->arrived_ms = tick_now_ms();
    sip_agent_record(&c->record, msg, &dialled);
    memcpy(c->record.number, to, sizeof to);
    c->agent = a;
    c->stack = stack;
    c->source = s;
    c->invite = mem_ref((void *)msg);
    c->target = mem_ref((void *)msg);
    sip_dialogs_enter(&a->dialogs, c);
    sip_parts_begin(c);
    return c;
}

/* ---- the end ---- */

void sip_call_refuse(struct sip_call *c, int status, const char *reason)
{
    static const char end[] = "%sContent-Length: 0\r\n\r\n";
    const char *header = status == 503 ? SIP_RETRY_AFTER : "";
    if (sip_limits_may_repeat(&c->agent->limits)) {
        (void)sip_treplyf(&c->transaction, NULL, c->stack->sip, c->invite, false, (uint16_t)status, reason, end,
                          header);
        return;
    }
    (void)sip_replyf(c->stack->sip, c->invite, (uint16_t)status, reason, end, header);
    c->transaction = mem_deref(c->transaction);
}

/* Ends the line to the visitor: with a refusal, or with a BYE unless the peer hung up. */
static void end_line(struct sip_call *c)
{
    if (c->media)
        media_stop(c->media);
    if (c->transaction)
        sip_call_refuse(c, 503, "Service Unavailable");
    sip_answer_hang_up(&c->answer);
    sip_answer_done(&c->answer);
    if (c->session)
        sip_target_retry(sipsess_dialog(c->session), c->target);
    c->session = mem_deref(c->session);
}

static void on_free(void *arg)
{
    mem_deref(arg);
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
    tick_remove(&c->tick);
    sip_parts_end(c);
    end_line(c);
    sip_source_leave(&c->agent->sources, c->source);
    sip_dialogs_leave(&c->agent->dialogs, c);
    tmr_start(&c->free_timer, 0, on_free, c);
    sip_agent_settled(c->agent);
}

void sip_call_end_all(struct sip_agent *a, const struct sip_stack *s)
{
    struct le *le = a->dialogs.calls.head;
    while (le) {
        struct sip_call *c = le->data;
        le = le->next;
        if (s && c->stack != s)
            continue;
        story_ended_by(&c->story, CALL_ENDED_STOP);
        sip_call_end(c);
    }
}
