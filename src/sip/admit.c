#include "sip/admit.h"

#include "sip/agent.h"
#include "sip/call.h"
#include "sip/guard.h"
#include "sip/stack.h"

#define ASKING_FACTOR 10 /* pending decisions, ended calls' included, are at most voice.calls times this */

static bool has_contact(const struct sip_msg *msg)
{
    struct sip_dialog *dialog = NULL;
    bool fine = !sip_dialog_accept(&dialog, msg);
    mem_deref(dialog);
    return fine;
}

static bool is_proven(const struct sip_msg *msg, const struct sip_source *s, bool signed_in)
{
    return msg->tp != SIP_TRANSP_UDP || signed_in || (s && s->proven);
}

/* A limit of the settings; 0: this many quarters of another one. */
static unsigned limit_of(int64_t setting, int quarters, int64_t other)
{
    const int64_t share = other * quarters / 4;
    return (unsigned)(setting ? setting : share ? share : 1);
}

/* The limit that has no place for the call; METRIC_REFUSAL_VALUES: all have. */
static enum metric_label_REFUSAL find_limit(const struct sip_agent *a, const struct sip_msg *msg, bool signed_in)
{
    const struct config *c = a->config;
    const struct config_peer *peer = sip_peers_find(&a->peers, &msg->src);
    const struct sip_source *s = sip_source_find(&a->sources, &msg->src, peer);
    const unsigned calls = (unsigned)c->voice_calls, own = (unsigned)(peer ? peer->calls : c->voice_calls_per_source);
    const bool unproven = !is_proven(msg, s, signed_in), listed = sip_peers_listed(&a->peers, &msg->src);
    const struct {
        enum metric_label_REFUSAL limit;
        bool holds; /* for this call */
        unsigned count, most;
    } limits[] = {
        {METRIC_REFUSED_STOPPING, true, sip_drain_refuses(&a->drain), 1},
        {METRIC_REFUSED_DECISIONS, true, a->drain.asking, ASKING_FACTOR * calls},
        {METRIC_REFUSED_CALLS, true, a->dialogs.count, calls},
        {METRIC_REFUSED_SOURCE, true, s ? s->calls : 0, own},
        {METRIC_REFUSED_UNACKNOWLEDGED_SOURCE, unproven && !listed, s ? s->unproven : 0,
         limit_of(c->voice_calls_unacknowledged_per_source, 3, own)},
        {METRIC_REFUSED_UNACKNOWLEDGED, unproven && !listed, a->dialogs.unproven,
         limit_of(c->voice_calls_unacknowledged, 2, calls)},
        {METRIC_REFUSED_UNACKNOWLEDGED_LISTED, unproven && listed, a->dialogs.unproven,
         limit_of(c->voice_calls_unacknowledged_listed, 3, calls)},
    };
    for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
        if (limits[i].holds && limits[i].count >= limits[i].most)
            return limits[i].limit;
    return METRIC_REFUSAL_VALUES;
}

bool sip_admit(struct sip_agent *a, const struct sip_msg *msg, bool signed_in)
{
    if (!sip_body_is_sdp(msg)) {
        sip_refuse(a, msg, 415, "Unsupported Media Type", "Accept: application/sdp\r\n");
        return false;
    }
    if (!has_contact(msg)) {
        sip_refuse(a, msg, 400, "Bad Contact", "");
        return false;
    }
    const enum metric_label_REFUSAL limit = find_limit(a, msg, signed_in);
    if (limit == METRIC_REFUSAL_VALUES)
        return true;
    sip_limits_refused(&a->limits, limit);
    if (limit == METRIC_REFUSED_SOURCE)
        sip_refuse(a, msg, 486, "Busy Here", SIP_RETRY_AFTER);
    else
        sip_refuse(a, msg, 503, "Service Unavailable", SIP_RETRY_AFTER);
    return false;
}

static void admit_begin(struct sip_call *c)
{
    c->unproven = !is_proven(c->invite, c->source, c->signed_in);
    c->agent->dialogs.unproven += c->unproven;
    c->source->unproven += c->unproven;
}

static void no_longer_unproven(struct sip_call *c)
{
    c->agent->dialogs.unproven -= c->unproven;
    c->source->unproven -= c->unproven;
    c->unproven = false;
}

void sip_admit_prove(struct sip_call *c)
{
    c->source->proven = true;
    no_longer_unproven(c);
}

const struct sip_part sip_admit_part = {.begin = admit_begin, .end = no_longer_unproven};
