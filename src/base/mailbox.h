/* Work posted to a thread that sleeps in poll: many producers, one consumer, one eventfd.
 * The descriptor is written only when the box was empty, so that a batch costs one wake-up. */
#pragma once
#include "base/err.h"

struct mail {
    struct mail *next;
    void (*run)(struct mail *m); /* called on the consumer's thread; owns m from then on */
};

struct mailbox {
    struct mail *_Atomic head; /* newest first */
    int fd;                    /* readable while there is mail; close-on-exec, non-blocking */
};

enum err mailbox_init(struct mailbox *box) CHECKED;
void mailbox_done(struct mailbox *box);
/* Any thread. m must stay alive until it was run. */
void mailbox_post(struct mailbox *box, struct mail *m);
/* The consumer's thread: runs everything posted so far, in the order of posting. */
void mailbox_drain(struct mailbox *box);
