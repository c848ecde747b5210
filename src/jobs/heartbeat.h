/* The heartbeats of this process (jobs/node.h), on a connection and a thread of their own, so that they wait for no
 * request.
 *
 * A lease that this process takes belongs to its current node ID. It may act on the lease only while its tenure holds:
 * its last heartbeat is recent, and no other node has ended it. A process that was stopped, or was cut off from the
 * store, thus does nothing on leases that another node may have by now. A call to a provider that began in time may
 * last longer than the lease, so the next node may make the same call meanwhile. That must have no second effect: by an
 * idempotency key that is made of stored values only (Stripe), or by a row that only one caller may open (Twilio's
 * numbers).
 *
 * Each heartbeat also returns the number of nodes, a dead node, whose leases are then freed, the sandbox's clock, and
 * the server's clock. Where one process has the store, there are no heartbeats, and every tenure holds. */
#pragma once
#include "base/config.h"
#include "base/id.h"
#include "store/store.h"

struct heartbeat;

struct heartbeat_options {
    const struct config *config;
    struct store *store;
    const char *address;            /* of the HTTPS or HTTP listener; NULL: none */
    void (*changed)(void *context); /* jobs or deliveries may be due now: leases were freed, or the clock was moved */
    void *context;
};

/* Joins the nodes and starts the thread. Fails with ERR_USAGE if the clock differs from the server's by more than 30 s.
 * ret_why as in config_load. */
enum err heartbeat_start(const struct heartbeat_options *options, struct heartbeat **ret, char **ret_why) CHECKED;
/* Joins if that failed at the start, where one process has the store and could not write it. */
enum err heartbeat_join(struct heartbeat *h) CHECKED;
/* Ends the thread and the node, whose leases are then free. Call it when no lease is used any more, before the store is
 * closed. NULL is allowed. */
void heartbeat_stop(struct heartbeat *h);
void heartbeat_free(struct heartbeat *h);

/* Why the node is not ready: its clock differs from the server's by more than 30 s, or the server confirms no
 * heartbeat. A text that never changes; NULL: neither, or h is NULL. Any thread. */
const char *heartbeat_fault(struct heartbeat *h);
/* The number of nodes that are alive, at least 1. Any thread. */
unsigned heartbeat_nodes(const struct heartbeat *h);

struct tenure {
    struct heartbeat *heartbeat; /* NULL: one process has the store, or there are no heartbeats */
    struct id node;              /* leases are taken under this ID */
};
/* The current tenure. h may be NULL. Any thread. */
struct tenure heartbeat_tenure(struct heartbeat *h);
/* Whether leases of that tenure are still this process's. */
bool tenure_holds(const struct tenure *t);
