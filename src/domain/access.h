/* Decisions at the door: steps 1 to 7, 9 and 10 of docs/calls.md, as transactions.
 *
 * Each function but access_look() runs in a write transaction and writes everything that belongs to its decision: the
 * use, the log entry, the events and the last buzz. The caller acts on a decision only after the commit. call/call.h
 * has the state of the call itself (prompts, attempts). */
#pragma once
#include "domain/access_guard.h"
#include "domain/door_settings.h"
#include "domain/tx.h"

enum access_verdict {
    ACCESS_REJECT,     /* no such number; or the caller is not listed, and the building wants no such calls */
    ACCESS_SELF_CALL,  /* from the owner's own phone: say that the line works */
    ACCESS_RELEASE,    /* open the door: send `tones` */
    ACCESS_COLLECT,    /* ask for a code */
    ACCESS_WRONG,      /* the code is wrong, or outside its window, and was recorded */
    ACCESS_FORWARD,    /* forward to the resident */
    ACCESS_INCOMPLETE, /* fewer digits than any usable code has: no guess, and not recorded */
    ACCESS_ANSWER      /* a grant would open: answer the call, and ask again with the audio that is known then */
};

/* The reason of a decision. Its name is part of the log and of the sandbox's answers. */
enum access_reason {
    ACCESS_UNDECIDED, /* the caller hung up before the decision */
    ACCESS_FAILED,    /* the store failed */
    ACCESS_UNKNOWN_NUMBER,
    ACCESS_OWNER,
    ACCESS_NO_TONE, /* the building has no release tone yet */
    ACCESS_NO_SUBSCRIPTION,
    ACCESS_TIMER, /* released, as the next two */
    ACCESS_ROUTINE,
    ACCESS_PASSCODE,
    ACCESS_NO_GRANT,       /* no grant is usable now */
    ACCESS_NO_CODE,        /* no code was entered */
    ACCESS_WRONG_CODE,     /* every code that was entered is wrong */
    ACCESS_KEYPAD_CLOSED,  /* the guard refuses codes from this caller's group */
    ACCESS_NOT_LISTED,     /* the building lists the callers that may use grants, and not this one */
    ACCESS_ONE_WAY,        /* the call box takes no audio, and the tone would be audio */
    ACCESS_OUTSIDE_WINDOW, /* the code is right, at another time */
    ACCESS_REASON_COUNT
};
extern const char *const access_reason_names[]; /* NULL-terminated */

/* Whether the call box takes audio, which the release tone may be. */
enum access_audio {
    AUDIO_TAKEN,
    AUDIO_REFUSED,
    AUDIO_UNKNOWN /* until the call is answered */
};

/* How a code came. */
enum access_way {
    ACCESS_KEYS,
    ACCESS_SPOKEN, /* it matches only passcodes that may be spoken */
    ACCESS_UNCLEAR /* as many digits as such a passcode has were said, but not clearly: it matches no passcode */
};

/* Why a grant is not usable. */
enum access_why {
    NEAR_SWITCHED_OFF,
    NEAR_USED_UP,
    NEAR_EXPIRED,
    NEAR_NOT_BEGUN,
    NEAR_OUTSIDE_WINDOW,
    NEAR_REVOKED /* only of a grant whose code was entered */
};
extern const char *const access_why_names[]; /* NULL-terminated */

#define ACCESS_NEAR_MAX 5

/* A grant that the visitor may have meant. */
struct access_near {
    struct id grant_id;
    enum access_why why;
    struct str label;
    int64_t opens_us;    /* the next time that it opens, without a change; 0: there is none */
    struct str timezone; /* of its windows; STR_NONE: it has none */
};

enum access_barred { BARRED_NONE, BARRED_DESTINATION };
/* NULL, "destination": for the record. */
extern const char *const access_barred_names[];

struct access_decision {
    enum access_verdict verdict;
    enum access_reason reason;
    struct id account_id, building_id;
    struct id grant_id; /* of a release; of a code outside its window */
    struct str grant_label;
    int remaining_uses; /* of the grant, after this one; or GRANT_UNLIMITED */
    char tones[4];      /* the building's release tone, "" while not set */
    struct release release;
    struct str greeting_welcome, greeting_granted, greeting_denied, greeting_forwarding,
        greeting_message;                 /* in the arena; "": nothing is said */
    struct id recordings[GREETING_COUNT]; /* played in place of the text; empty: none */
    struct str forward_to;                /* the forwarding phone; STR_NONE: not set, or left out */
    struct ring ring;                     /* the other phones; numbers in the arena */
    bool known_caller;                    /* listed, or has released this door before */
    enum access_barred barred;            /* why some of these are left out */
    int64_t minutes;                      /* of access_forwarded(): the phones may take; 0: no limit */
    bool spent;                           /* only so many phones may ring: the account has no more minutes */
    bool browsers;                        /* some browser is told that the visitor is there */
    bool voice;                           /* of COLLECT and WRONG: codes may be spoken */
    int lengths;                          /* of COLLECT, WRONG, INCOMPLETE: bit n: a usable code has n digits */
    /* Of WRONG: if the code closed the keypad to this caller's group, forward the call. */
    struct guard_closing closing;
    /* Of access_forwarded(), newest first; of WRONG the one with this code, if there is one. */
    struct access_near near[ACCESS_NEAR_MAX];
    size_t near_count;
    struct str opening; /* of WRONG: the sentence that tells when the code opens; STR_NONE: it is not told */
};

/* Decides about a call that arrives (steps 1 to 5): REJECT, SELF_CALL, RELEASE, COLLECT or FORWARD. `to` and `from` are
 * E.164 numbers, as far as the network sends such; `to` may also be an extension, with or without a `+`. FORWARD
 * replaces COLLECT while the keypad is closed to the caller, and RELEASE too if the call box takes no audio and the
 * release tone would be audio. While that is unknown, ANSWER replaces RELEASE: nothing is written or told. */
enum err access_arrive(struct tx *tx, struct str to, struct str from, enum access_audio audio,
                       struct access_decision *ret) CHECKED;
/* Reads what a call needs whose decision cannot be written: FORWARD, but REJECT and SELF_CALL as access_arrive() does.
 * Without a caller (STR_NONE) only the number is looked at. Writes nothing. */
enum err access_look(struct tx *tx, struct str to, struct str from, struct access_decision *ret) CHECKED;
/* Decides about a code (steps 6 and 7): RELEASE, WRONG or INCOMPLETE. Without a record: COLLECT if speech does not
 * count (any more), so that keys must do; FORWARD if the keypad is closed, the call box takes no audio (as above), or
 * the building has no usable passcode any more; REJECT if the building does not exist; either if the caller is
 * not listed any more. */
enum err access_code(struct tx *tx, const struct id *building, struct str from, enum access_audio audio,
                     struct str digits, enum access_way way, struct access_decision *ret) CHECKED;
/* Records that the call is forwarded (step 8): a log entry of type call, and the event. *ret has the minutes that its
 * phones may take (domain/minutes.h), which the caller reserves in the call's record in the same transaction. If the
 * door is set up, *ret also names the newest grants that are not usable. Fails with ERR_BUILDING_NOT_FOUND. */
enum err access_forwarded(struct tx *tx, const struct id *building, struct access_decision *ret) CHECKED;
/* Records a forwarding of an earlier time, when that could not be written: the log entry and the event have its time.
 * The minutes are the ones that the call took, and *ret has no near misses. Fails as access_forwarded(). */
enum err access_forwarded_late(struct tx *tx, const struct id *building, int64_t at_us,
                               struct access_decision *ret) CHECKED;
