/* The questions of the call machine to the domain. A decision is durable before the call acts on it.
 *
 * call_decide() answers one within a transaction of the front end. `struct decide` asks them as store write tasks: if
 * the first decision of a call cannot be written, its door is read, or found in memory, and the resident decides. */
#pragma once
#include "base/mailbox.h"
#include "call/call.h"
#include "call/known.h"
#include "domain/call_record.h"

/* ---- in a transaction ---- */

struct call_question {
    enum call_action_kind kind; /* CALL_ASK_… */
    struct id building_id;      /* unless kind is CALL_ASK_ARRIVE */
    char code[CALL_CODE_MAX + 1];
    enum access_way way;       /* of the code */
    enum access_reason reason; /* of a forwarding */

    const char *to, *from;              /* E.164; "": no number */
    enum access_audio audio;            /* of the call now */
    const struct call_arrival *arrival; /* the call's record begins with its decision; NULL: it has none */
    bool whole; /* a release is the end of the call, whose record is written in this transaction */
};

/* The question of this action. The members from `to` on are left to the front end. */
struct call_question call_question(const struct call *c, const struct call_action *a);
/* Asks the domain, tells the feed of the building, and begins the record of a call that was released or forwarded, or
 * whose code was wrong: those have an entry in the log (domain/call_record.h). Strings of *ret are in the arena. */
enum err call_decide(struct tx *tx, const struct call_question *q, struct access_decision *ret) CHECKED;
/* After the commit, or after a failure: times `count` decisions that were asked for at asked_us (monotonic), and logs
 * that one of them, `closed`, closed the keypad to the group of the caller `from`, if it did. NULL: it failed. */
void call_decided(unsigned count, int64_t asked_us, const struct access_decision *closed, const char *from);

/* ---- as a task of the store ---- */

/* One question at a time. Embedded in its call, which must stay alive until the answer has come. */
struct decide {
    struct store_task job;
    struct mail mail;
    struct mailbox *box;
    const struct config *config;
    void (*answered)(struct decide *d); /* on the thread of the mailbox */
    struct arena arena;

    struct call_question question;
    int64_t asked_us; /* monotonic */
    char to[CALL_NUMBER_MAX], from[CALL_NUMBER_MAX];
    struct str trace;                   /* of the request that asks for a simulated call; STR_NONE: none */
    const struct call_arrival *arrival; /* as in the question, and the next */
    enum access_audio audio;
    _Atomic bool dropped; /* decide_drop() */

    struct known *known; /* doors in memory; NULL: none */
    uint64_t changes;    /* of them, before the question */
    struct store *store;

    enum err result;
    struct access_decision decision; /* strings in the arena, until the next question */
    bool found;                      /* although result is a failure: how the call is to be forwarded, or rejected */
};

/* `to` and `from` are E.164, or "" if the network gave no number. A number that does not fit counts as "". */
void decide_init(struct decide *d, const struct config *config, const char *to, const char *from);
void decide_done(struct decide *d);

/* Asks the question of `action` (a CALL_ASK_…) on a store thread. Then `answered` is called through the mailbox, and
 * decide_event() has the call's next event. */
void decide_submit(struct decide *d, const struct call *c, const struct call_action *action, struct store *s,
                   struct mailbox *box, void (*answered)(struct decide *d));
/* Like decide_submit, but blocks until the answer has come. */
void decide_now(struct decide *d, const struct call *c, const struct call_action *action, struct store *s);
/* Cancels the question unless a store thread has begun it; `answered` is still called. No other question may follow. */
void decide_drop(struct decide *d);
/* The event for the call: CALL_DECIDED with the decision, or CALL_FAILED, with it if it was found. */
struct call_event decide_event(const struct decide *d);
