/* Inside the SIP user agent: a call, for those who take it up and drop it. */
#pragma once
#include "voice/call_log.h"
#include "voice/decide.h"
#include "voice/media.h"
#include "voice/sip_answer.h"
#include "voice/sip_source.h"

struct sip_call {
    struct le le;      /* in agent->calls, then in agent->ended */
    struct le waiting; /* in agent->waiting, until its caller is heard from again */
    struct le dialog;  /* in agent->dialogs */
    struct sip_agent *agent;
    struct sip_source *source;
    unsigned serial;

    struct call machine;
    struct call_actions actions;
    size_t at; /* the action in progress */
    struct decide decide;
    struct call_record record;
    int64_t arrived_ms;

    const struct sip_msg *invite;
    struct sip_strans *transaction; /* until answered */
    struct sip_answer answer;       /* from then on */
    struct sipsess *session;        /* from the caller's next message on */
    struct media *media;
    bool offered; /* the INVITE came without SDP: ours is the offer */
    bool ended, evicted;

    struct tick_entry tick;
    int64_t answered_ms, signalled_ms;
    int64_t due_ms; /* when the action in progress times out or is done; 0: not by time */
    struct tmr free_timer;
};

/* Ends the call as far as anybody outside can tell. Its memory goes a moment later, when nothing of it is running, and
 * not before the decision it asked for came. */
void sip_call_end(struct sip_call *c);
