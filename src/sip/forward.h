/* Inside the SIP user agent: a forwarded call. Performs the actions of the hunt group (call/hunt.h) between the
 * visitor's call and the legs to the resident's phones, and relays the audio packet for packet: no mixer and no buffer,
 * so that no delay is added. */
#pragma once
#include "sip/call.h"
#include "sip/part.h"

struct sip_forward;

/* Relays the visitor's packets. At the end of the call, ends the legs, and adds their minutes to the story. */
extern const struct sip_part sip_forward_part;

struct sip_forward_events {
    void (*answer)(struct sip_call *c);                           /* answer the visitor's call */
    void (*step)(struct sip_call *c, const struct call_event *e); /* CALL_FORWARD_…; may end the call */
};

/* Begins to ring the phones, or reports that they are busy if voice.forwards_per_building calls of the building do so
 * already. Of these places, two are kept for callers who have opened the door before, for whom the oldest stranger's
 * call ends. Sets c->forward; the caller derefs it, but not from within an event of media. `events` must outlive it. */
void sip_forward_start(struct sip_call *c, const struct call_ring *ring, const struct sip_forward_events *events);

/* The service will stop: a telephone that rings for the call is given up. May end the call. */
void sip_forward_give_up(struct sip_call *c);

/* A resident opens the door without a phone. */
void sip_forward_press(struct sip_forward *f);

/* Browsers (sip/listener.h). All take NULL. The last two may end the call. */

/* One listens; none does any more; the one that talks left. */
void sip_forward_attended(struct sip_forward *f);
void sip_forward_deserted(struct sip_forward *f);
void sip_forward_left(struct sip_forward *f);
/* One takes the call. False: a phone was faster. */
bool sip_forward_take(struct sip_forward *f);
/* Whether one and the visitor can talk. */
bool sip_forward_browser_talks(const struct sip_forward *f);

/* Plays the parts to the phone that talks to the visitor, if one does. */
void sip_forward_play(struct sip_forward *f, const struct sound *parts, size_t n);

/* The visitor's side. All take NULL, which does nothing. */

/* The visitor acknowledged the answer. */
void sip_forward_established(struct sip_forward *f);
/* A sound has been played to the visitor. */
void sip_forward_played(struct sip_forward *f);
/* The release tone has been sent to the visitor. */
void sip_forward_opened(struct sip_forward *f);
/* Arrival of the resident's last packet; 0: nobody talks to the visitor. */
int64_t sip_forward_heard_ms(const struct sip_forward *f);
