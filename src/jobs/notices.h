/* The notices engine: one thread that makes messages of recorded moments (domain/notice.h) and sends due messages to
 * the push services of browsers (domain/push.h), many at once.
 *
 * It does not share the job threads, so that a ring reaches a telephone while a provider hangs. A message is sent at
 * least once, unless a newer one replaces it or it is of no use any more. An account has a share of the requests, so
 * that endpoints that hang delay only its own messages. */
#pragma once
#include "base/config.h"
#include "store/store.h"

struct notices;

struct notices_options {
    const struct config *config; /* webhooks.allow_private, webhooks.verify_tls */
    struct store *store;
    long timeout_ms; /* of an attempt; 0: five seconds */
};

enum err notices_new(const struct notices_options *options, struct notices **ret) CHECKED;
enum err notices_start(struct notices *n) CHECKED;
/* Aborts the requests in progress, whose messages are sent again. */
void notices_stop(struct notices *n);
void notices_free(struct notices *n);

/* Call this after moments or messages were recorded, or the clock was moved. Any thread; never blocks. */
void notices_kick(struct notices *n);
