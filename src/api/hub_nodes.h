/* Tells the hubs of the other nodes on a shared store which feeds have grown here, and hears of theirs, on a connection
 * and a thread of its own: a notice in the transactions of the writers would cost more than half of their rate. Feeds
 * that grow within 20 ms share a notice.
 *
 * A node that dies may not have told everything: so all feeds with readers are read again every 15 seconds, after each
 * connection, and while there is no connection after each attempt to connect. A connection whose server does not answer
 * within 20 seconds is replaced. */
#pragma once
#include "api/hub.h"

struct hub_nodes;

/* On the thread. */
struct hub_nodes_listener {
    void (*heard)(void *context, unsigned topics, const struct store_fed *fed); /* told by another node */
    void (*resync)(void *context);                                              /* notices may have been missed */
    void *context;
};

/* *ret is NULL where one process has the store. */
enum err hub_nodes_new(struct store *store, struct hub_nodes_listener listener, struct hub_nodes **ret) CHECKED;
/* Ends the thread. NULL is allowed, also for the next. */
void hub_nodes_free(struct hub_nodes *n);
/* To be told: topics and feeds of a commit here; 0 and NULL only connect. Any thread; does not block. */
void hub_nodes_note(struct hub_nodes *n, unsigned topics, const struct store_fed *fed);
