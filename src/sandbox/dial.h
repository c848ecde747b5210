/* A visitor's call without media: runs the call machine (voice/call.h) from start to end on the calling thread. No time
 * passes: timeouts are counted, not waited for. */
#pragma once
#include "voice/call.h"

#define DIAL_SAID_MAX 16

struct dial {
    /* input */
    struct str digits;   /* keys to press, one whenever the machine collects; silence afterwards */
    struct str speech;   /* spoken digits, said once if the machine listens for speech and no key was pressed */
    bool answer_forward; /* the resident answers; the caller hangs up afterwards */
    /* Answers a CALL_ASK_… action with the call's next event. */
    struct call_event (*ask)(void *arg, const struct call *c, const struct call_action *action);
    void *arg;
    /* result */
    struct call call;
    const char *said[DIAL_SAID_MAX]; /* valid as long as the dial */
    size_t said_count;
    char tones[4];      /* the release tone; "" if none was sent */
    bool forwarded;     /* the resident's phone rang: call.forward_to */
    int64_t silence_ms; /* waited for input that did not come */
};

/* Runs the call to its end. */
void dial_run(struct dial *d);
