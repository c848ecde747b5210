/* The processes that share the store (PostgreSQL), a row each. A node sends a heartbeat every two seconds. Its leases
 * of jobs and deliveries end with it: when it stops, or when another node has found it silent for NODE_SILENT_US.
 *
 * All times come from the database server's real clock. Where one process has the store, it has the only row. */
#pragma once
#include "domain/tx.h"

#define NODE_SILENT_US  (10 * US_PER_S) /* also in store/sql/node.sql */
#define NODE_ROW_KEPT_S 86400           /* after its end */

struct node {
    struct id id;
    struct str version, host, address;          /* of the program; of the machine; of its HTTPS or HTTP listener */
    int64_t schema_version;                     /* the newest that the program knows */
    int64_t started_us, heartbeat_us, ended_us; /* ended_us: 0 while it runs */
    int64_t ahead_us;                           /* its clock's lead over the server's */
    bool alive;
};

/* The server's real clock. */
enum err node_clock(struct tx *tx, int64_t *ret_us) CHECKED;
/* Adds the row of this process. Where one process has the store (alone), removes the rows of earlier ones. Reads id,
 * version, schema_version, host, address and ahead_us. */
enum err node_join(struct tx *tx, const struct node *node, bool alone) CHECKED;

struct node_beat {
    int64_t at_us;          /* the server's real clock */
    int64_t others;         /* other nodes that are alive */
    struct id dead;         /* a node to end; empty: none */
    int64_t clock_offset_s; /* of the sandbox's clock, as stored */
};
/* Records a heartbeat. Fails with ERR_NOT_FOUND if the node was ended: it has lost its leases, and must join again with
 * a new ID. */
enum err node_beat(struct tx *tx, const struct id *id, int64_t ahead_us, struct node_beat *ret) CHECKED;

/* Ends a node, and frees its leases, unless its last heartbeat is more recent than silent_us. Fails with ERR_NOT_FOUND
 * if it is, or the node has ended. */
enum err node_end(struct tx *tx, const struct id *id, int64_t silent_us, int64_t *ret_jobs,
                  int64_t *ret_deliveries) CHECKED;

/* At most `limit` nodes, the oldest first, in the arena. */
enum err node_list(struct tx *tx, int64_t limit, const struct node **ret, size_t *ret_count) CHECKED;
/* Deletes at most `limit` rows of nodes that ended before before_us (the service's clock). */
enum err node_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count) CHECKED;
