/* A visitor's call without media: drives the call machine (voice/call.h) from start to end on the calling thread.
 * Nothing takes time: a silence the machine waits for is counted, not waited. */
#pragma once
#include "voice/call.h"

#define DIAL_SAID_MAX 16

struct dial {
    /* given */
    struct str digits;   /* the keys the visitor presses, one whenever the machine collects; then silence */
    struct str speech;   /* spoken digits, said once, where the machine listens for speech and no key was pressed */
    bool answer_forward; /* the resident answers, and the caller hangs up after it */
    /* Answers a CALL_ASK_… action with the call's next event. */
    struct call_event (*ask)(void *arg, const struct call *c, const struct call_action *action);
    void *arg;
    /* found */
    struct call call;
    const char *said[DIAL_SAID_MAX]; /* live as long as the dial */
    size_t said_count;
    char tones[4];      /* the release tone; "" if none was sent */
    bool forwarded;     /* the resident's phone rang: call.forward_to */
    int64_t silence_ms; /* that the machine waited for in vain */
};

/* Runs the call to its end. */
void dial_run(struct dial *d);
