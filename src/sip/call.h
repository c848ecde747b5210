/* Inside the SIP user agent: one call. */
#pragma once
#include "call/decide.h"
#include "call/log.h"
#include "call/story.h"
#include "media/media.h"
#include "sip/answer.h"
#include "sip/greeting.h"
#include "sip/hearing.h"
#include "sip/message.h"
#include "sip/refresh.h"
#include "sip/source.h"
#include "sip/tones.h"

struct sip_forward;
struct listener;

struct sip_call {
    struct le le;     /* in agent->calls, then in agent->ended */
    struct le dialog; /* in agent->dialogs */
    struct sip_agent *agent;
    struct sip_stack *stack; /* it came to */
    struct sip_source *source;
    unsigned serial;

    struct call machine;
    struct call_actions actions;
    size_t at; /* the action in progress */
    struct decide decide;
    struct call_record record;
    struct story story;
    int64_t ended_ms; /* since arrived_ms */
    bool told;        /* the log line was written */
    bool asking;      /* a decision is pending */
    int64_t arrived_ms;
    int64_t key_ms; /* the last key; 0: none since the release tone */

    const struct sip_msg *invite;
    const struct sip_msg *target;   /* the last INVITE of the dialog, which says where our requests go */
    struct sip_strans *transaction; /* until answered */
    struct sip_answer answer;       /* from then on */
    struct sip_refresh refresh;
    struct sipsess *session; /* from the caller's next message on */
    struct media *media;
    struct saying saying;
    struct sip_hearing hearing;
    struct sip_tones tones;
    struct sip_message message;
    struct sip_forward *forward; /* from CALL_FORWARD on */
    struct list listeners;       /* browsers (sip/listener.h), */
    struct listener *talker;     /* and the one that took the call; NULL: none */
    bool owes_tone;              /* someone joined the conversation while the release tone was sent, */
    bool owes_prompt;            /* or the service began its last seconds */
    struct {                     /* provisional responses but the first (sip/early.h) */
        struct mbuf *sdp;        /* ours, if the call has early media */
        int64_t sent_ms;         /* 0: none */
    } early;
    bool signed_in; /* the caller proved its password */
    bool offered;   /* the INVITE had no SDP: ours is the offer */
    bool offering;  /* our offer waits for the answer in an ACK */
    bool unproven;  /* sip/admit.h */
    bool ended;

    struct tick_entry tick;
    int64_t answered_ms, signalled_ms;
    int64_t due_ms; /* when the action in progress times out or is done; 0: no deadline */
    struct tmr free_timer;
    struct tmr hold_timer; /* the visitor waits for a decision, */
    bool held;             /* and hears ring-back meanwhile */
};

/* The action in progress; NULL: all are done. */
static inline const struct call_action *sip_call_current(const struct sip_call *c)
{
    return c->at < c->actions.n ? &c->actions.v[c->at] : NULL;
}

/* A resident opens the door by a request, as with key 9. While the tone is sent, a second request has no effect. Fails
 * with ERR_CALL_NOT_FORWARDED, ERR_CALL_ENDED or ERR_SETUP_REQUIRED. May end the call. */
enum err sip_call_open(struct sip_call *c) CHECKED;
/* Answers the visitor's call if nobody did, so that the visitor is heard. May end the call. */
void sip_call_pick_up(struct sip_call *c);
/* Answers an INFO, which may have a key. `arg` is the call. */
void sip_call_info(struct sip *sip, const struct sip_msg *msg, void *arg);
/* A message with our tag came, so the caller's address is not forged: makes the session. */
void sip_call_confirm(struct sip_call *c);
