/* Deliveries of events to webhook endpoints: those that are due, and what became of an attempt (contract, Events and
 * Webhook delivery; decisions section 8). Rows are written with their cause (domain/event.h).
 *
 * Each endpoint has a lane, a row of table `delivery_lane`, which tells when it may have something to be taken: never
 * later than it has. So what is due is found in the order of that time, and no endpoint is looked at that only waits.
 * The time is lowered with the deliveries that are written, and settled with the attempts that are recorded.
 *
 * Where one process has the store, it alone knows what it is sending, and taking is a read. Where several share it, a
 * row is taken under a lease of a minute, on the real clock. An attempt counts once its end was recorded; one that
 * ended in a crash is made again, with the same event. */
#pragma once
#include "domain/tx.h"

#define DELIVERY_ATTEMPTS 5

/* One that is due, with all an attempt needs. */
struct delivery {
    struct id webhook_id, id;
    int64_t attempts;  /* that have ended */
    struct str url;    /* STR_NONE: the endpoint is gone */
    struct str secret; /* sealed for WEBHOOK_PURPOSE */
    struct str event_id, type;
    struct str data; /* JSON; STR_NONE: the event is gone */
    int64_t event_created_us;
};

/* What the caller has of one endpoint already, and how many more it would take. */
struct delivery_lane {
    struct id webhook_id;
    const struct id *held; /* deliveries, none of which is given again */
    size_t held_count;
    unsigned room; /* 0: the endpoint is passed over */
    bool slow;     /* it shares slow_room */
};

/* A place in the order of lanes. */
struct delivery_place {
    int64_t due_us;
    struct id webhook_id; /* none: before all */
};

struct delivery_take {
    bool leases;                       /* several processes share the store */
    bool writing;                      /* the transaction may write */
    const struct delivery_lane *lanes; /* ascending by webhook_id */
    size_t lane_count;
    unsigned lane_room;          /* for each endpoint that is not among them */
    unsigned room;               /* for all */
    unsigned slow_room;          /* of it, for all slow ones together */
    struct delivery_place after; /* begins behind it, so that each has its turn */

    struct delivery *list; /* in the arena */
    size_t count;
    struct delivery_place last; /* of those looked at: where the next take begins */
    bool again;                 /* to be run again, in a transaction that may write */
    bool more;                  /* there may be due ones left for want of room */
    int64_t next_us;            /* when the next one is due, on the service's clock; INT64_MAX: none is known */
};

/* Takes what is due: round the lanes that are, a few of each. First in a STORE_READ, and in a STORE_WRITE if `again` is
 * set after it: where there are leases to be written, or a lane is due that has nothing to be taken. */
enum err delivery_take(struct tx *tx, struct delivery_take *t) CHECKED;

/* How an attempt ended. */
struct delivery_result {
    struct id webhook_id, id;
    int64_t attempt;     /* its number, from 1 */
    int64_t ended_us;    /* on the service's clock */
    long status_code;    /* 0: no answer */
    const char *failure; /* in a word: status timeout resolve address connect tls broken url secret gone; NULL: none */
};

/* Records how attempts ended: delivered, to be tried again, or failed. What was canceled meanwhile, or recorded by
 * another process, stays as it is. */
enum err delivery_record(struct tx *tx, const struct delivery_result *list, size_t count) CHECKED;
