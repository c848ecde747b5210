#include "sip/call_within.h"

#include "sip/admit.h"
#include "sip/agent.h"
#include "sip/call_perform.h"
#include "sip/guard.h"
#include "sip/offer.h"
#include "sip/stack.h"
#include "sip/target.h"

#define TAG_MAX 17 /* our tag: 64 bits in hexadecimal, as libre writes it */

/* Whether the request is of this call's dialog. Our tag is a secret of the 200: a request with it comes from the
 * receiver of the 200. */
static bool is_dialog(struct le *le, void *arg)
{
    const struct sip_call *c = le->data;
    const struct sip_msg *msg = arg, *invite = c->invite;
    char tag[TAG_MAX];
    (void)re_snprintf(tag, sizeof tag, "%016llx", (unsigned long long)invite->tag);
    return (c->answer.reply || c->session) && !pl_cmp(&msg->callid, &invite->callid) &&
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

/* Not through a session: libre would repeat the 200 until its ACK, also after a BYE. */
bool sip_call_take_early(struct sip_stack *s, const struct sip_msg *msg)
{
    struct sip_call *c = pl_isset(&msg->to.tag) ? find_call(s->agent, msg) : NULL;
    if (!c || c->session)
        return false;
    if (!pl_strcmp(&msg->met, "INFO")) {
        sip_admit_prove(c);
        sip_call_info(s->sip, msg, c);
        return true;
    }
    if (pl_strcmp(&msg->met, "BYE"))
        return false;
    (void)sip_treply(NULL, s->sip, msg, 200, "OK");
    sip_answer_done(&c->answer);
    sip_admit_prove(c);
    sip_call_end(c);
    return true;
}

bool sip_call_knows(struct sip_agent *a, const struct sip_msg *msg)
{
    struct sip_call *c = find_call(a, msg);
    if (c && !c->session)
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
    c->signalled_ms = tick_now_ms();
    sip_offer_update(c, msg);
}
