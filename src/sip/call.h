/* Inside the SIP user agent: one call: the state that its parts share (sip/part.h), its beginning and its end. */
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
    struct le le;     /* in agent->dialogs.calls, then in .ended */
    struct le dialog; /* in agent->dialogs.by_id */
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
    struct sipsess *session; /* from the caller's ACK on */
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
    bool late;             /* the call goes on without the decision */
};

/* The action in progress; NULL: all are done. */
static inline const struct call_action *sip_call_current(const struct sip_call *c)
{
    return c->at < c->actions.n ? &c->actions.v[c->at] : NULL;
}

/* A call of this INVITE, with all its parts, or NULL if memory is short. `signed_in` as in sip_call_invite(). */
struct sip_call *sip_call_new(struct sip_stack *stack, const struct sip_msg *msg, const char *signed_in);
/* Sends the final response of a call that is not answered. */
void sip_call_refuse(struct sip_call *c, int status, const char *reason);
/* Ends the call for its peer at once. Frees it later, from the loop, and not before its pending decision has come. */
void sip_call_end(struct sip_call *c);
/* Ends the calls of a stack at once; NULL: all of them. */
void sip_call_end_all(struct sip_agent *a, const struct sip_stack *s);
