/* Greetings, ready before they are needed: a thread renders texts and fetches recordings, a cache keeps the results.
 *
 * All functions are for the thread of the mailbox, which never waits for the other thread. */
#pragma once
#include "base/mailbox.h"
#include "base/str.h"
#include "call/clip.h"

#define SPEECH_QUEUE_MAX 200 /* texts and recordings that wait to be prepared */
#define SPEECH_AHEAD_MAX 100 /* of them, not needed by a call yet: the other places are for calls */

struct speech;

/* Something to say. */
struct speech_source {
    bool recording;
    struct str name; /* the text; of a recording, the name that `fetch` gets */
};

struct speech_options {
    size_t cache_bytes;
    struct mailbox *box;
    /* On the thread of the speech: the recording, or NULL. False if it cannot be read now. */
    bool (*fetch)(void *arg, struct str name, struct clip **ret);
    void *arg;
};

/* The mailbox must outlive the speech. ERR_IO if no thread can be started, ERR_NOT_FOUND if flite is not there. */
enum err speech_new(struct speech **ret, const struct speech_options *options) CHECKED;
/* Stops the thread, which may first finish one text. The mailbox must not be drained afterwards. NULL is fine. */
void speech_free(struct speech *s);

/* Has it prepared, after everything asked for before. No effect while SPEECH_QUEUE_MAX others wait. */
void speech_ask(struct speech *s, const struct speech_source *source);
/* The same for a call that may come some day. No effect while SPEECH_AHEAD_MAX others wait. */
void speech_ask_ahead(struct speech *s, const struct speech_source *source);

enum speech_state {
    SPEECH_READY,
    SPEECH_PENDING, /* it is now the next to be prepared: ask again */
    SPEECH_REFUSED  /* too many others wait */
};
/* READY: gives a reference to the clip, or NULL if nothing in it can be said. The caller unrefs it. */
enum speech_state speech_take(struct speech *s, const struct speech_source *source, struct clip **ret);
