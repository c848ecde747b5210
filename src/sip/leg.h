/* Inside the SIP user agent: the call of one of the resident's phones, over the trunks that are up, one after the other
 * until one of them takes it. */
#pragma once
#include "call/hunt.h"
#include "media/media.h"
#include "sip/agent.h"
#include "sip/greeting.h"
#include "sip/refresh.h"

struct sip_leg {
    struct le dialog; /* in agent->dialogs.legs, while there is a session */
    struct sip_agent *agent;
    const struct sip_leg_events *events;
    void *arg;
    size_t n; /* which leg */

    const char *number, *as, *original; /* as for sip_trunk_route() */
    unsigned route;                     /* the next one */
    struct sip_trunk *trunk;            /* counts this call; NULL: none */
    struct sip_stack *stack;            /* of the session */
    struct sipsess *session;            /* NULL: not called, or over */
    struct sip_refresh refresh;         /* once answered */
    const struct sip_msg *target;       /* then: the phone's answer, or its last request with a Contact */
    char contact[SIP_ROUTE_URI];        /* ours, as libre takes it */
    uint32_t least_s;                   /* the session interval that the phone or a proxy asked for; 0: none did */
    unsigned lengthened;                /* how often one did */
    struct media *media;                /* lives as long as the leg */
    struct saying saying;               /* the prompt, */
    bool asking, pausing;               /* which is being said, or was: the pause after it */
    int64_t dialled_ms;
    bool responded; /* to the last INVITE */
    bool described; /* its SDP was taken */
    bool started;   /* its media */
    bool answered;
    bool offering; /* our offer waits for the answer in an ACK */
};

/* Both may drop the leg. */
struct sip_leg_events {
    void (*report)(const struct hunt_event *e, void *arg); /* an event of the leg */
    void (*packet)(struct sip_leg *l, const struct media_packet *p, void *arg);
};

/* Calls `number`, or reports HUNT_FAILED. Strings and events must outlive the leg, which is all zero before and at a
 * constant address. */
void sip_leg_dial(struct sip_leg *l, struct sip_agent *a, size_t n, const char *number, const char *as,
                  const char *original, const struct sip_leg_events *events, void *arg);
/* Asks an answered phone to accept the call: says the prompt, then HUNT_PROMPTED is reported. */
void sip_leg_ask(struct sip_leg *l, const char *text);
/* Plays the parts to an answered phone, then HUNT_PROMPTED is reported. As for media_play(). */
void sip_leg_play(struct sip_leg *l, const struct sound *parts, size_t n);
/* Stops the prompt. */
void sip_leg_quiet(struct sip_leg *l);
/* Every tick: a trunk that does not respond at all is left for the next one. */
void sip_leg_tick(struct sip_leg *l, int64_t now_ms);
/* Cancels the call, or hangs up. Reports nothing. May be called from within an event of the leg. */
void sip_leg_drop(struct sip_leg *l);
/* Frees the contents of the leg, but not from within an event of it. An all-zero leg is fine. */
void sip_leg_done(struct sip_leg *l);
/* Whether the request belongs to a leg of the agent. */
bool sip_leg_knows(struct sip_agent *a, const struct sip_msg *msg);
/* Answers an UPDATE. False if it belongs to no leg. */
bool sip_leg_update(struct sip_agent *a, const struct sip_msg *msg);
