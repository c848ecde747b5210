/* The delivery engine: one thread that sends due deliveries (domain/delivery.h) to their endpoints, hundreds at once.
 *
 * A delivery is sent at least once; kill -9 at any point loses none. Each endpoint has a lane: so many at once and no
 * more, fewer once it has let an attempt time out, so that endpoints that hang cannot hold up the others. The store is
 * asked for no more rows than can be sent at once, and never waited for. */
#pragma once
#include "base/config.h"
#include "store/store.h"

struct deliveries;

struct deliveries_options {
    const struct config *config; /* webhooks.allow_private, webhooks.verify_tls */
    struct store *store;
    long timeout_ms; /* of an attempt; 0: the contract's five seconds */
};

enum err deliveries_new(const struct deliveries_options *options, struct deliveries **ret) CHECKED;
enum err deliveries_start(struct deliveries *d) CHECKED;
/* Breaks off what is being sent, which counts as no attempt; records the attempts that have ended. */
void deliveries_stop(struct deliveries *d);
void deliveries_free(struct deliveries *d);

/* Any thread, never blocks: there are new rows, some were canceled, or the clock has moved. */
void deliveries_kick(struct deliveries *d);
/* Waits until none is due and none is being sent, for wait_ms at most; those that wait for their next attempt do not
 * count. False if the time was not enough. */
bool deliveries_drain(struct deliveries *d, int wait_ms);
