/* A call's questions to the domain, asked as store write jobs: the answer is durable before anybody hears of it. */
#pragma once
#include "base/mailbox.h"
#include "voice/call.h"

/* One question at a time; embedded in its call, which must live until the answer has come. */
struct decide {
    struct store_task job;
    struct mail mail;
    struct mailbox *box;
    const struct config *config;
    void (*answered)(struct decide *d); /* on the thread of the mailbox */
    struct arena arena;

    enum call_action_kind kind;
    char to[CALL_NUMBER_MAX], from[CALL_NUMBER_MAX];
    struct id building_id;
    char code[CALL_CODE_MAX + 1];
    bool spoken;
    _Atomic bool dropped; /* decide_drop() */

    enum err result;
    struct access_decision decision; /* strings in the arena, until the next question */
};

/* `to` and `from` are E.164, or "" if the network gave none; longer than fits is taken as none. */
void decide_init(struct decide *d, const struct config *config, const char *to, const char *from);
void decide_done(struct decide *d);

/* Asks what `action` (one of CALL_ASK_…) says on behalf of the call, on a store thread; `answered` is then called
 * through the mailbox, with the call's next event in decide_event(). */
void decide_submit(struct decide *d, const struct call *c, const struct call_action *action, struct store *s,
                   struct mailbox *box, void (*answered)(struct decide *d));
/* The same, waiting for the answer: for front ends on threads that may block. */
void decide_now(struct decide *d, const struct call *c, const struct call_action *action, struct store *s);
/* The caller has gone: the question comes back unasked if no store thread has taken it up yet. No other may follow. */
void decide_drop(struct decide *d);
/* CALL_DECIDED with the decision, or CALL_FAILED. */
struct call_event decide_event(const struct decide *d);
