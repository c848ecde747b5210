/* The delivery engine: one thread that sends due deliveries (domain/delivery.h) to their endpoints, hundreds at once.
 *
 * A delivery is sent at least once, whenever the process is killed. Each endpoint has a window (jobs/endpoint.h), so
 * that endpoints that hang cannot hold up the others. The engine takes no more rows than it can send at once, and its
 * thread never waits for the store. */
#pragma once
#include "base/config.h"
#include "jobs/heartbeat.h"
#include "store/store.h"

struct deliveries;

struct deliveries_options {
    const struct config *config; /* webhooks.allow_private, webhooks.verify_tls */
    struct store *store;
    long timeout_ms;  /* of an attempt; 0: the timeout of its form (domain/delivery.h) */
    int64_t began_us; /* when the process began, monotonic */
};

enum err deliveries_new(const struct deliveries_options *options, struct deliveries **ret) CHECKED;
/* Its leases belong to the node of the heartbeats. */
enum err deliveries_start(struct deliveries *d, struct heartbeat *heartbeat) CHECKED;
/* Aborts the requests in progress, which do not count as attempts. Records the attempts that have ended. */
void deliveries_stop(struct deliveries *d);
void deliveries_free(struct deliveries *d);

/* Call this after rows were added or canceled, or the clock was moved. Any thread; never blocks. */
void deliveries_kick(struct deliveries *d);
/* A number that changes when results of attempts are recorded. */
uint64_t deliveries_records(struct deliveries *d);
/* Waits for at most wait_ms until that number is not `seen`. May return early: results that other nodes record are not
 * counted. Returns false if the engine stops. Blocks; any thread. */
bool deliveries_wait(struct deliveries *d, uint64_t seen, int64_t wait_ms);
/* Waits for at most wait_ms until no delivery is due and no request is in progress. Deliveries that wait for their next
 * attempt do not count. Returns false after a timeout, or if the engine stops. */
bool deliveries_drain(struct deliveries *d, int wait_ms);
