/* Keeps the session timer of a SIP session (RFC 4028): refreshes it with UPDATE, or with re-INVITE if the peer does not
 * allow UPDATE, or sees that the peer does; and answers UPDATE (RFC 3311). */
#pragma once
#include <re/re.h>

#include "sip/timer.h"

struct sip_stack;

struct sip_refresh_events {
    /* Makes our offer for a re-INVITE; the answer comes to the session's answer handler. Returns 0 or errno. */
    int (*offer)(struct mbuf **ret, void *arg);
    /* Takes the peer's offer in an UPDATE and makes the answer. Returns 0 or errno. */
    int (*update)(struct mbuf **ret, const struct sip_msg *msg, void *arg);
};

struct sip_refresh {
    const struct sip_refresh_events *events;
    void *arg;
    struct sip_timer timer;
    bool can_update;               /* the peer allows UPDATE */
    int64_t refresh_ms, expire_ms; /* when we refresh, and when the session has expired; 0: never */
    int64_t busy_ms;               /* until then, our re-INVITE may be pending; 0: it is not */
    bool gone;                     /* the peer does not know the session any more */
    uint32_t unconfirmed;          /* CSeq of the peer's last re-INVITE, until its ACK; 0: none */
    struct sip_request *request;   /* our UPDATE */
    const char *contact;           /* of the last refresh */
};

/* Begins with the INVITE of the peer. */
void sip_refresh_begin(struct sip_refresh *r, const struct sip_msg *invite, const struct sip_refresh_events *events,
                       void *arg);
/* Begins with the answer of the peer to our INVITE. */
void sip_refresh_begin_answered(struct sip_refresh *r, const struct sip_msg *answer,
                                const struct sip_refresh_events *events, void *arg);
/* The peer's re-INVITE is about to be answered with 200: adds the lines of the timer. */
void sip_refresh_on_offer(struct sip_refresh *r, struct sip_stack *s, const struct sip_msg *request);
/* An ACK of the peer. */
void sip_refresh_on_ack(struct sip_refresh *r, const struct sip_msg *ack);
/* In the session's close handler: the peer has sent BYE. Stops the repetition of a 200 that it did not acknowledge. */
void sip_refresh_on_bye(struct sip_refresh *r, struct sipsess *session);
/* Our re-INVITE was answered. */
void sip_refresh_on_answer(struct sip_refresh *r, const struct sip_msg *answer);
/* Answers an UPDATE of the peer. `offered`: an offer of ours waits for its answer. */
void sip_refresh_on_update(struct sip_refresh *r, struct sip_stack *s, struct sip_dialog *dialog, const char *contact,
                           bool offered, const struct sip_msg *msg);
/* Sends a refresh that is due, along the way of `target`, the peer's last INVITE or the answer to ours. False if the
 * session has expired: end it. */
bool sip_refresh_tick(struct sip_refresh *r, struct sip_stack *s, struct sipsess *session, const char *contact,
                      const struct sip_msg *target, int64_t now_ms);
void sip_refresh_end(struct sip_refresh *r);
