/* Recognition of spoken codes, on a thread of its own: it takes utterances from a bounded queue, reads the valid codes,
 * and judges within a bounded time. */
#pragma once
#include "base/id.h"
#include "base/mailbox.h"
#include "speech/spoken_ear.h"

#define SPOKEN_QUEUE_MAX 16

struct spoken;
struct utterance;

struct spoken_codes {
    char v[SPOKEN_CODES_MAX][SPOKEN_LENGTH_MAX + 1];
    size_t n;
};

struct spoken_options {
    const char *directories[SPOKEN_MODELS];
    int64_t limit_ms; /* from a request to its answer; later is not understood */
    /* On the thread: the codes that may be spoken at the building. None if there are more than fit. */
    enum err (*codes)(void *arg, const struct id *building, struct spoken_codes *ret);
    void *arg;
};

enum spoken_result {
    SPOKEN_UNCLEAR,  /* not understood, not in time, or no code is valid */
    SPOKEN_GUESS,    /* the same, but with as many digits as a valid code: it may have been meant as one */
    SPOKEN_ACCEPTED, /* `code` is valid */
    SPOKEN_OTHER     /* `code` was clearly said, is not valid, and as long as a valid one */
};

/* Must stay alive until answered. */
struct spoken_request {
    struct spoken_request *next;
    struct mail mail;
    int64_t until_us;     /* monotonic */
    _Atomic bool dropped; /* set to true to skip it; it is still answered */

    struct id building;
    struct utterance *utterance; /* owned by the request; freed and NULL when answered */
    struct mailbox *box;
    void (*answered)(struct spoken_request *r); /* on the thread of the mailbox */

    enum spoken_result result;
    char code[SPOKEN_LENGTH_MAX + 1]; /* the receiver wipes it */
};

/* Starts the thread, which first loads the models. If they are not there, it logs so, and every request is refused.
 * The directories are copied. */
enum err spoken_new(struct spoken **ret, const struct spoken_options *options) CHECKED;
/* Waits for the request in progress. The mailboxes of pending requests must not be drained afterwards. NULL is fine. */
void spoken_free(struct spoken *s);

enum spoken_state { SPOKEN_LOADING, SPOKEN_READY, SPOKEN_OFF };
/* Any thread. */
enum spoken_state spoken_state(struct spoken *s);
/* False if the models are not ready or the queue is full: the request stays the caller's, with its utterance. */
bool spoken_submit(struct spoken *s, struct spoken_request *r) CHECKED;
