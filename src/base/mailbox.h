/* A queue of callbacks for a thread that waits in poll: many producers, one consumer, one eventfd.
 * The eventfd is written only when the mailbox was empty, so that a batch costs one wake-up. */
#pragma once
#include "base/err.h"

struct mail {
    struct mail *next;
    void (*run)(struct mail *m); /* called on the consumer's thread, which then owns m */
};

struct mailbox {
    struct mail *_Atomic head; /* newest first */
    int fd;                    /* readable while not empty; close-on-exec, non-blocking */
};

enum err mailbox_init(struct mailbox *box) CHECKED;
void mailbox_done(struct mailbox *box);
/* Any thread. m must stay valid until it has run. */
void mailbox_post(struct mailbox *box, struct mail *m);
/* On the consumer's thread: runs all posted mail in the order of posting. */
void mailbox_drain(struct mailbox *box);
