/* Inside the SIP user agent: its stop, and the last seconds of its calls. Until shortly before the end, calls go on as
 * always, and new ones are taken while any goes on. Then those who talk hear that the call will end, and no telephone
 * rings any more. After the last call, the agent says goodbye to its trunks. */
#pragma once
#include <re/re.h>
#include <stdbool.h>

#include "base/mailbox.h"

struct sip_agent;

enum sip_drain_stage {
    SIP_DRAIN_SERVES, /* or the agent does not stop */
    SIP_DRAIN_REFUSES,
    SIP_DRAIN_TELLS,
    SIP_DRAIN_ENDS
};

struct sip_drain {
    unsigned asking;   /* questions to the store or the recogniser whose answers the agent waits for */
    unsigned outgoing; /* libre's sessions for calls of ours: some outlive their leg until CANCEL or BYE is answered */
    bool stopping;
    enum sip_drain_stage stage;
    int64_t end_ms;                       /* of the last stage */
    void (*settled)(struct sip_agent *a); /* stopping, and no call or decision is left */
    bool leaving, left; /* after the last call: waiting for those and for the trunks; no longer waiting */
    struct tmr stage_timer, leave_timer;
    struct mail begin;
    int64_t wait_ms; /* until the last stage */
    bool asked;      /* sip_wind_down() was called; of the owner's thread */
};

/* Stopping: whether no new call is taken, and no telephone rings any more. */
static inline bool sip_drain_refuses(const struct sip_drain *d)
{
    return d->leaving || d->stage >= SIP_DRAIN_REFUSES;
}
static inline bool sip_drain_closes(const struct sip_drain *d)
{
    return d->stage >= SIP_DRAIN_TELLS;
}

/* After the loop has ended. */
void sip_drain_done(struct sip_drain *d);
