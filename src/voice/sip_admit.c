#include "voice/sip_admit.h"

#include "base/log.h"
#include "voice/sip_agent.h"
#include "voice/sip_call_end.h"
#include "voice/sip_guard.h"
#include "voice/sip_stack.h"

#define WAITING_SHARE  4     /* unacknowledged calls are at most voice.calls / WAITING_SHARE */
#define RINGING_SHARE  2     /* of the calls, those that are kept while they ring */
#define WAITING_SOURCE 50    /* and of one source, at most this many */
#define ASKING_FACTOR  10    /* pending decisions, evicted calls included, are at most voice.calls times this */
#define TELL_MS        10000 /* between two log lines about evicted calls */

/* The call to evict, of the source or of any (NULL): the oldest answered and unacknowledged one, else the oldest
 * unanswered one. NULL if there is no such call. */
static struct sip_call *oldest_waiting(const struct sip_agent *a, const struct sip_source *s)
{
    struct sip_call *oldest = NULL;
    for (struct le *le = a->waiting.head; le; le = le->next) {
        struct sip_call *c = le->data;
        if (s && c->source != s)
            continue;
        if (c->answer.reply)
            return c;
        if (!oldest)
            oldest = c;
    }
    return oldest;
}

static void tell_dropped(struct sip_agent *a)
{
    int64_t now_ms = tick_now_ms();
    a->dropped++;
    if (a->dropped_ms && now_ms - a->dropped_ms < TELL_MS)
        return;
    log_warn("unacknowledged sip calls dropped count=%u", a->dropped);
    a->dropped_ms = now_ms;
    a->dropped = 0;
}

/* Evicts a call whose caller may be forged: nothing more is sent, kept or decided for it. */
static bool evict(struct sip_call *c)
{
    if (!c)
        return false;
    c->evicted = true;
    tell_dropped(c->agent);
    decide_drop(&c->decide);
    if (c->transaction)
        (void)sip_reply(c->stack->sip, c->invite, 503, "Service Unavailable");
    c->transaction = mem_deref(c->transaction);
    sip_call_end(c);
    media_free(c->media); /* the decision may take long */
    c->media = NULL;
    return true;
}

static unsigned waiting_max(const struct sip_agent *a)
{
    unsigned n = (unsigned)a->config->voice_calls / WAITING_SHARE;
    return n ? n : 1;
}

/* Finds a place among all calls. Evicts unacknowledged calls first, so that forged calls shut nobody out. */
static bool find_place(struct sip_agent *a)
{
    if (sip_agent_refuses(a) || a->asking >= ASKING_FACTOR * (unsigned)a->config->voice_calls)
        return false;
    if (a->waiting_count >= waiting_max(a))
        (void)evict(oldest_waiting(a, NULL));
    return a->call_count < (unsigned)a->config->voice_calls || evict(oldest_waiting(a, NULL));
}

static unsigned source_max(const struct sip_agent *a, const struct sip_source *s)
{
    return (unsigned)(s->peer ? s->peer->calls : a->config->voice_calls_per_source);
}

/* Finds a place among the calls of the source, which stays alive. */
static bool find_source_place(struct sip_agent *a, struct sip_source *s)
{
    bool found = true, fresh = s->calls == 0;
    mem_ref(s);
    if (!s->peer && s->waiting >= WAITING_SOURCE) /* a configured peer may be many callers */
        (void)evict(oldest_waiting(a, s));
    if (s->calls >= source_max(a, s))
        found = evict(oldest_waiting(a, s));
    if (fresh || s->calls)
        mem_deref(s); /* without calls, this is its only reference */
    return found;
}

static bool has_contact(const struct sip_msg *msg)
{
    struct sip_dialog *dialog = NULL;
    bool fine = !sip_dialog_accept(&dialog, msg);
    mem_deref(dialog);
    return fine;
}

bool sip_admit(struct sip_agent *a, const struct sip_msg *msg, struct sip_source **ret)
{
    if (!sip_body_is_sdp(msg)) {
        sip_refuse(a, msg, 415, "Unsupported Media Type", "Accept: application/sdp\r\n");
        return false;
    }
    if (!has_contact(msg)) {
        sip_refuse(a, msg, 400, "Bad Contact", "");
        return false;
    }
    if (!find_place(a)) {
        sip_refuse(a, msg, 503, "Service Unavailable", SIP_RETRY_AFTER);
        return false;
    }
    struct sip_source *s = sip_source_find(a->sources, &msg->src, sip_peers_find(&a->peers, &msg->src));
    if (!s) {
        sip_refuse(a, msg, 500, "Server Internal Error", "");
        return false;
    }
    if (!find_source_place(a, s)) {
        sip_refuse(a, msg, 486, "Busy Here", "");
        return false;
    }
    *ret = s;
    return true;
}

void sip_admit_ringing(struct sip_call *c)
{
    struct sip_agent *a = c->agent;
    const bool forgeable = c->invite->tp == SIP_TRANSP_UDP;
    if (!c->waiting.list || (!c->signed_in && !sip_peers_listed(&a->peers, &c->invite->src)))
        return;
    if (forgeable && (a->ringing >= (unsigned)a->config->voice_calls / RINGING_SHARE ||
                      c->source->ringing >= source_max(a, c->source) / RINGING_SHARE))
        return;
    sip_call_leave_waiting(c);
    c->ringing = true;
    c->source->ringing++;
    a->ringing++;
}
