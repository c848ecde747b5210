/* A visitor's call without media: runs the call machine (call/call.h) from start to end on the calling thread. No time
 * passes: timeouts are counted, not waited for. */
#pragma once
#include "call/story.h"

#define DIAL_SAID_MAX 16

/* The resident's part in a forwarded call. The caller hangs up when it is over. */
enum dial_resident {
    DIAL_ANSWERED, /* talks */
    DIAL_OPENED,   /* opens the door: after answering or, where the ring group asks to accept, instead */
    DIAL_NO_ANSWER,
    DIAL_BUSY,
    DIAL_DECLINED,
    DIAL_UNREACHABLE,
    DIAL_RESIDENT_COUNT
};
extern const char *const dial_resident_names[]; /* NULL-terminated */

struct dial {
    /* input */
    struct str digits; /* keys to press, one whenever the machine collects; silence afterwards */
    bool hears;        /* speech is understood */
    struct str speech; /* spoken digits, said once if the machine listens for speech and no key was pressed */
    enum dial_resident resident;
    int64_t speaks_s; /* the length of the message that the visitor leaves, if asked to; 0: none */
    /* Answers a CALL_ASK_… action with the call's next event. */
    struct call_event (*ask)(void *arg, const struct call *c, const struct call_action *action);
    void *arg;
    struct story story; /* begun by the owner */
    /* result */
    struct call call;
    const char *said[DIAL_SAID_MAX];            /* valid as long as the dial */
    const struct id *recordings[DIAL_SAID_MAX]; /* that were played in place of these texts; NULL: none */
    size_t said_count;
    int64_t message_s;  /* the length of the message that was left; 0: none */
    char tones[4];      /* the release tone; "" if none was sent */
    bool forwarded;     /* the resident's phones rang: call.ring */
    int64_t silence_ms; /* waited for input that did not come */
    int64_t began_us;   /* monotonic */
};

/* Runs the call to its end. */
void dial_run(struct dial *d);
/* The time since its start, with the silences that were not waited for. */
int64_t dial_now_ms(const struct dial *d);
