/* A call's questions to the domain, asked as store write tasks: a decision is durable before the call acts on it. If
 * the first decision of a call cannot be written, its door is read, or found in memory: the resident decides then. */
#pragma once
#include "base/mailbox.h"
#include "call/call.h"
#include "call/known.h"
#include "domain/call_record.h"

/* One question at a time. Embedded in its call, which must stay alive until the answer has come. */
struct decide {
    struct store_task job;
    struct mail mail;
    struct mailbox *box;
    const struct config *config;
    void (*answered)(struct decide *d); /* on the thread of the mailbox */
    struct arena arena;

    enum call_action_kind kind;
    int64_t asked_us; /* monotonic */
    char to[CALL_NUMBER_MAX], from[CALL_NUMBER_MAX];
    struct str trace;                   /* of the request that asks for a simulated call; STR_NONE: none */
    const struct call_arrival *arrival; /* the call's record begins with its decision; NULL: it has none */
    enum access_reason reason;          /* of the forwarding */
    struct id building_id;
    enum access_audio audio; /* of the call now */
    char code[CALL_CODE_MAX + 1];
    enum access_way way;
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
/* Logs that this decision closed the keypad to the group of the caller `from`; nothing if it did not. After the commit;
 * decide_submit and decide_now do it themselves. */
void decide_log_closing(const struct access_decision *decision, const char *from);
/* The event for the call: CALL_DECIDED with the decision, or CALL_FAILED, with it if it was found. */
struct call_event decide_event(const struct decide *d);
