#include "sip/call_within.h"

#include "sip/admit.h"
#include "sip/agent.h"
#include "sip/call_begin.h"
#include "sip/call_perform.h"
#include "sip/guard.h"
#include "sip/offer.h"
#include "sip/stack.h"
#include "sip/target.h"

#define TAG_MAX 17 /* our tag: 64 bits in hexadecimal, as libre writes it */

/* Whether the request is of this call's dialog. Our tag is a secret of the 200, or of a response before it: a request
 * with it comes from the receiver of that. */
static bool is_dialog(struct le *le, void *arg)
{
    const struct sip_call *c = le->data;
    const struct sip_msg *msg = arg, *invite = c->invite;
    char tag[TAG_MAX];
    (void)re_snprintf(tag, sizeof tag, "%016llx", (unsigned long long)invite->tag);
    return (c->early.sent_ms || c->answer.reply || c->session) && !pl_cmp(&msg->callid, &invite->callid) &&
           !pl_cmp(&msg->from.tag, &invite->from.tag) && !pl_strcmp(&msg->to.tag, tag);
}

/* Our requests go where the peer's last INVITE or UPDATE came from. */
static void aim(struct sip_call *c, const struct sip_msg *msg)
{
    sip_target_fix(c->invite, msg);
    mem_deref((void *)c->target);
    c->target = mem_ref((void *)msg);
}

static struct sip_call *find_call(const struct sip_agent *a, const struct sip_msg *msg)
{
    return list_ledata(hash_lookup(a->dialogs.by_id, hash_joaat_pl(&msg->callid), is_dialog, (void *)msg));
}

/* ---- before the ACK ---- */

/* No second offer while there is one, and none before the final response (RFC 3261, 14.1 and 14.2; RFC 3311, 5.2). Not
 * in a transaction, which libre would keep for 32 s. */
static void refuse_offer(struct sip_call *c, const struct sip_msg *msg)
{
    if (c->answer.reply)
        (void)sip_replyf(c->stack->sip, msg, 491, "Request Pending", "Content-Length: 0\r\n\r\n");
    else
        (void)sip_replyf(c->stack->sip, msg, 500, "Server Internal Error", SIP_RETRY_AFTER "Content-Length: 0\r\n\r\n");
}

static void take_info(struct sip_call *c, const struct sip_msg *msg)
{
    if (c->answer.reply)
        sip_call_info(c->stack->sip, msg, c);
    else
        (void)sip_reply(c->stack->sip, msg, 481, "Call/Transaction Does Not Exist");
}

static void take_bye(struct sip_call *c, const struct sip_msg *msg)
{
    (void)sip_treply(NULL, c->stack->sip, msg, 200, "OK");
    if (!c->answer.reply) {
        sip_call_cancel(c);
        return;
    }
    sip_answer_done(&c->answer);
    sip_call_end(c);
}

static void take_update(struct sip_call *c, const struct sip_msg *msg)
{
    struct sip_dialog *dialog = NULL;
    char contact[EXTERNAL_CONTACT_MAX];
    if (!c->answer.reply && mbuf_get_left(msg->mb)) {
        refuse_offer(c, msg);
    } else if (sip_dialog_accept(&dialog, c->invite)) {
        (void)sip_reply(c->stack->sip, msg, 500, "Server Internal Error");
    } else {
        if (sip_msg_hdr(msg, SIP_HDR_CONTACT))
            aim(c, msg);
        external_contact(c->agent->config, c->invite, contact);
        sip_offer_update(c, dialog, contact, msg);
    }
    mem_deref(dialog);
}

/* Not through a session: libre would repeat the 200 until its ACK, also after a BYE. */
bool sip_call_take_early(struct sip_stack *s, const struct sip_msg *msg)
{
    static const struct {
        const char *method;
        void (*take)(struct sip_call *c, const struct sip_msg *msg);
    } methods[] = {{"INFO", take_info}, {"BYE", take_bye}, {"UPDATE", take_update}, {"INVITE", refuse_offer}};
    struct sip_call *c = pl_isset(&msg->to.tag) ? find_call(s->agent, msg) : NULL;
    if (!c || c->session)
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
        if (!pl_strcmp(&msg->met, methods[i].method)) {
            sip_admit_prove(c);
            methods[i].take(c, msg);
            return true;
        }
    }
    return false;
}

/* ---- the session ---- */

/* Not the ACK of a re-INVITE that was refused. */
static bool acknowledges(const struct sip_call *c, const struct sip_msg *msg)
{
    return c->answer.reply && !pl_strcmp(&msg->met, "ACK") && msg->cseq.num == c->invite->cseq.num;
}

bool sip_call_knows(struct sip_agent *a, const struct sip_msg *msg)
{
    struct sip_call *c = find_call(a, msg);
    if (c && !pl_strcmp(&msg->met, "ACK"))
        sip_refresh_on_ack(&c->refresh, msg);
    if (c && !c->session && acknowledges(c, msg))
        sip_call_confirm(c);
    if (c &&
        (!pl_strcmp(&msg->met, "INVITE") || (!pl_strcmp(&msg->met, "UPDATE") && sip_msg_hdr(msg, SIP_HDR_CONTACT))))
        aim(c, msg);
    return c;
}

void sip_call_update(struct sip_stack *s, const struct sip_msg *msg)
{
    struct sip_call *c = pl_isset(&msg->to.tag) ? find_call(s->agent, msg) : NULL;
    if (!c || !c->session) {
        (void)sip_reply(s->sip, msg, 481, "Call/Transaction Does Not Exist");
        return;
    }
    sip_offer_update(c, sipsess_dialog(c->session), c->answer.contact, msg);
}
