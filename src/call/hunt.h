/* One forwarded call: rings the resident's phones as a hunt group, one after the other or all at once (calls.md,
 * step 8). A pure state machine like call/call.h: no I/O, no clock, no thread.
 *
 * A front end reports each event with hunt_step() and performs the actions it gets back in order. A leg is the call of
 * one phone, `leg` its place in call_ring.phones. HUNT_BROWSER is the leg of the resident's browsers, which nobody
 * dials: one of them may take the call while phones ring or are asked. The call waits for browsers alone where no
 * phone is set, and while a browser listens, until a phone's time is over.
 *
 *   HUNT_DIAL     call the phone of the leg
 *   HUNT_RING     let the visitor hear that a phone rings
 *   HUNT_LISTEN   let the visitor hear the leg's early media
 *   HUNT_PROMPT   ask the phone to accept the call; reports HUNT_PROMPTED when that was played
 *   HUNT_QUIET    stop that prompt
 *   HUNT_CONNECT  let the leg and the visitor talk
 *   HUNT_DROP     cancel the call of the leg, or hang up; no further event of it is expected
 *   HUNT_OPEN     the resident opens the door; report HUNT_OPENED when that is done and another key may open it again
 *   HUNT_FAIL     nobody talks to the visitor: `failure`
 *   HUNT_END      the conversation has ended
 *
 * The machine itself asks for the time: report HUNT_TIME when due_ms has come. */
#pragma once
#include "call/call.h"

#define HUNT_ACCEPT_MS   20000 /* an answered phone has this long to accept the call */
#define HUNT_KEY_MS      2000  /* between two keys of a release tone */
#define HUNT_ACTIONS_MAX (2 * CALL_PHONES_MAX + 4)
#define HUNT_BROWSER     CALL_PHONES_MAX
#define HUNT_LEGS        (CALL_PHONES_MAX + 1)

enum hunt_event_kind {
    HUNT_BEGIN,
    HUNT_TIME,
    HUNT_RINGING,  /* the phone of the leg rings */
    HUNT_EARLY,    /* the leg has early media */
    HUNT_ANSWERED, /* somebody or something answered */
    HUNT_FAILED,   /* the phone did not answer: `status` of SIP, 0 without a response */
    HUNT_KEY,      /* `key`, at an answered phone */
    HUNT_PROMPTED,
    HUNT_OPENED,
    HUNT_HUNG_UP,  /* an answered phone hung up; HUNT_BROWSER: the browser that talks left */
    HUNT_ATTENDED, /* a browser listens */
    HUNT_DESERTED, /* no browser listens any more */
    HUNT_TAKEN,    /* a browser takes the call */
    HUNT_PRESSED   /* a resident opens the door without a phone */
};

struct hunt_event {
    enum hunt_event_kind kind;
    size_t leg;
    int status;
    char key;
};

enum hunt_action_kind {
    HUNT_DIAL,
    HUNT_RING,
    HUNT_LISTEN,
    HUNT_PROMPT,
    HUNT_QUIET,
    HUNT_CONNECT,
    HUNT_DROP,
    HUNT_OPEN,
    HUNT_FAIL,
    HUNT_END
};

struct hunt_action {
    enum hunt_action_kind kind;
    size_t leg;
    bool failed; /* HUNT_DROP: the leg failed; else another one took the call, or the call ended */
    enum call_forward_failure failure; /* if so, and of HUNT_FAIL */
};

struct hunt_actions {
    struct hunt_action v[HUNT_ACTIONS_MAX];
    size_t n;
};

enum hunt_leg_state {
    HUNT_IDLE, /* not called yet */
    HUNT_CALLING,
    HUNT_ASKED,     /* answered; asked to accept the call */
    HUNT_CONNECTED, /* or opened the door without accepting the call */
    HUNT_GONE
};

enum hunt_state {
    HUNT_NEW,
    HUNT_SEARCHING, /* phones ring or are asked */
    HUNT_OPENING,   /* a resident opened the door without talking: the last thing this call does */
    HUNT_TALKING,
    HUNT_OVER
};

/* Front ends may read the members and must not write them. */
struct hunt {
    enum hunt_state state;
    const struct call_ring *ring;
    char tones[4]; /* the release tone; "": the door cannot be opened */
    struct {
        enum hunt_leg_state state;
        bool heard;     /* HUNT_LISTEN was given */
        int64_t due_ms; /* it stops ringing, or must have accepted */
        char typed[4];  /* the last keys, for the release tone */
        int64_t typed_ms;
    } legs[HUNT_LEGS];
    int64_t begun_ms;
    bool rings;                        /* the visitor hears ring-back */
    bool opening;                      /* HUNT_OPEN was given and HUNT_OPENED not reported */
    bool failed;                       /* `failure` is set */
    enum call_forward_failure failure; /* so far */
    int64_t due_ms;                    /* 0: none */
};

/* `ring` must outlive the machine and have a phone, or browsers. */
void hunt_init(struct hunt *h, const struct call_ring *ring, const char tones[static 4]);
/* Takes one event at now_ms (monotonic). An event that the state does not expect leads to no action. */
void hunt_step(struct hunt *h, int64_t now_ms, const struct hunt_event *e, struct hunt_actions *ret);
/* The failure that a SIP status means; 0: no response. */
enum call_forward_failure hunt_failure(int status);
/* The leg of the conversation, or of the resident who opened the door. False if there is none. */
bool hunt_winner(const struct hunt *h, size_t *ret);
