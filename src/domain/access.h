/* Deciding at the door: what calls.md says in its steps 1 to 7, 9 and 10, as transactions.
 *
 * Each function runs inside one write transaction and leaves everything durable that its decision needs (use taken, log
 * entry, events, last buzz) before the caller acts on it. The call's own state (prompts, attempts) is voice/call.h. */
#pragma once
#include "domain/access_guard.h"
#include "domain/tx.h"

enum access_verdict {
    ACCESS_REJECT,    /* no such number */
    ACCESS_SELF_CALL, /* the owner's own phone: say that the line works */
    ACCESS_RELEASE,   /* open: send `tones` */
    ACCESS_COLLECT,   /* ask for a code */
    ACCESS_WRONG,     /* the code was wrong; recorded */
    ACCESS_FORWARD    /* forward to the resident */
};

/* Why. The names are part of the log and of the sandbox's answers. */
enum access_reason {
    ACCESS_UNDECIDED, /* the caller was gone before */
    ACCESS_FAILED,    /* the store did not answer */
    ACCESS_UNKNOWN_NUMBER,
    ACCESS_OWNER,
    ACCESS_NO_TONE, /* the building has no release tone yet */
    ACCESS_NO_SUBSCRIPTION,
    ACCESS_TIMER, /* these three released */
    ACCESS_ROUTINE,
    ACCESS_PASSCODE,
    ACCESS_NO_GRANT,      /* no grant may be used now */
    ACCESS_NO_CODE,       /* a code was asked for, and none was entered */
    ACCESS_WRONG_CODE,    /* none that was entered is right */
    ACCESS_KEYPAD_CLOSED, /* to callers of this group, after wrong codes */
    ACCESS_REASON_COUNT
};
extern const char *const access_reason_names[]; /* NULL-terminated */

/* Why a grant that was not revoked could not be used. */
enum access_why { NEAR_SWITCHED_OFF, NEAR_USED_UP, NEAR_EXPIRED, NEAR_NOT_BEGUN, NEAR_OUTSIDE_WINDOW };
extern const char *const access_why_names[]; /* NULL-terminated */

#define ACCESS_NEAR_MAX 5

/* A grant that might have been meant. */
struct access_near {
    struct id grant_id;
    enum access_why why;
    struct str label;
};

struct access_decision {
    enum access_verdict verdict;
    enum access_reason reason;
    struct id account_id, building_id;
    struct id grant_id; /* of a release */
    struct str grant_label;
    char tones[4]; /* the building's release tone, "" while not set */
    struct str greeting_welcome, greeting_granted, greeting_denied,
        greeting_forwarding; /* in tx's arena; "" says nothing */
    struct str forward_to;   /* the forwarding phone, STR_NONE without one */
    bool voice;              /* collecting: some usable passcode may be spoken */
    /* The code was wrong, and closed the keypad to this caller's group: collect no other one, forward. */
    struct guard_closing closing;
    struct access_near near[ACCESS_NEAR_MAX]; /* of access_forwarded(): the newest first */
    size_t near_count;
};

/* A call arrives (steps 1 to 5): REJECT, SELF_CALL, RELEASE, COLLECT or FORWARD. `to` and `from` are E.164 as far as
 * the network gave them. While the keypad is closed to the caller, a call is forwarded instead of collecting. */
enum err access_arrive(struct tx *tx, struct str to, struct str from, struct access_decision *ret) CHECKED;
/* A code was entered (steps 6 and 7): RELEASE or WRONG; FORWARD, with nothing recorded, if the keypad is closed or
 * nothing may be opened any more; REJECT if the building is gone. A `spoken` code counts for passcodes with voice
 * alone. */
enum err access_code(struct tx *tx, const struct id *building, struct str from, struct str digits, bool spoken,
                     struct access_decision *ret) CHECKED;
/* The call is forwarded (step 8): log entry of type call and the event. If the door is set up, *ret also names the
 * newest grants that were not usable, as nothing opened. ERR_BUILDING_NOT_FOUND. */
enum err access_forwarded(struct tx *tx, const struct id *building, struct access_decision *ret) CHECKED;
