/* The queue of deliveries to webhook endpoints: takes due ones, and records attempts (contract, Events and Webhook
 * delivery; WEBHOOK-17 to WEBHOOK-33). domain/event.h writes the rows.
 *
 * Each endpoint has a row in table `delivery_lane` with a time at or before its next due delivery; endpoints of a
 * building (domain/building_webhook.h) have it in their row, where programs that do not know them do not look. Due
 * deliveries are found in the order of that time, so that an endpoint that only waits is not read. Writing a delivery
 * lowers the time; recording an attempt computes it again.
 *
 * Where one process has the store, it knows which deliveries it is sending, and taking is a read. Where several
 * processes share the store, a row is taken under a lease of a minute by the server's clock, which ends with its node
 * (jobs/node.h). An attempt counts once its end is recorded, unless its lease was lost; an attempt that ended in a
 * crash is repeated with the same event. */
#pragma once
#include "domain/tx.h"
#include "event/envelope.h"

#define DELIVERY_ATTEMPTS_MAX 5

/* When attempts are made, by form. */
#define DELIVERY_PAUSE_MAX_S 7200 /* of all plans */
extern const struct delivery_plan {
    int attempts;
    long timeout_ms; /* of an attempt */
    struct {
        int64_t least_us, most_us;
    } pauses[DELIVERY_ATTEMPTS_MAX - 1]; /* after a failed attempt, chosen at random between the two */
} delivery_plans[DELIVERY_FORMS];

/* A due delivery, with everything that an attempt needs. */
struct delivery {
    struct id webhook_id, account_id, id;
    enum delivery_form form;
    int64_t attempts;           /* attempts that have ended */
    int64_t lease;              /* names the lease; 0: it has no lease */
    struct str url;             /* STR_NONE: the endpoint was deleted */
    struct str secret;          /* sealed for WEBHOOK_PURPOSE */
    struct str previous_secret; /* the same, if it is still valid, too; STR_NONE otherwise */
    struct str event_id, type;
    struct str data;        /* JSON; STR_NONE: the event was deleted */
    struct str trace;       /* of the event (domain/event.h); STR_NONE without one */
    struct str building_id; /* of the event; STR_NONE without one */
    int64_t event_created_us;
};

/* The deliveries of one endpoint that the caller holds, and how many more it accepts. */
struct delivery_lane {
    struct id webhook_id, account_id;
    const struct id *held; /* deliveries that are not returned again */
    size_t held_count;
    unsigned active; /* of them, in progress: they count for the account */
    unsigned room;   /* 0: the endpoint is skipped */
    bool slow;       /* it shares slow_room */
};

/* A position in the order of endpoints: by time, then by ID. */
struct delivery_place {
    int64_t due_us;
    struct id webhook_id; /* empty: before all */
};

struct delivery_take {
    bool leases;                       /* several processes share the store */
    struct id node;                    /* whose leases they are; may be empty */
    bool writing;                      /* the transaction may write */
    const struct delivery_lane *lanes; /* ascending by webhook_id */
    size_t lane_count;
    unsigned lane_room;          /* for each endpoint that is not in `lanes` */
    unsigned room;               /* for all endpoints together */
    unsigned slow_room;          /* of `room`, for all slow endpoints together */
    unsigned account_max;        /* for one account: in progress and taken together */
    unsigned account_slow_max;   /* the same, of slow endpoints */
    struct delivery_place after; /* begins after it, so that each endpoint has its turn */

    struct delivery *list; /* in the arena */
    size_t count;
    struct delivery_place last; /* the last one read: `after` of the next take */
    bool again;                 /* must be run again, in a transaction that may write */
    bool more;                  /* due deliveries may be left for lack of room */
    int64_t next_us;            /* when the next one is due, on the service's clock; INT64_MAX: not known */
};

/* Takes due deliveries: a few of each due endpoint, in turn. Run it in a STORE_READ first, and then in a STORE_WRITE if
 * it sets `again`: leases must be written, or the time of an endpoint without due deliveries must be computed again. */
enum err delivery_take(struct tx *tx, struct delivery_take *t) CHECKED;

/* The end of an attempt. */
struct delivery_result {
    struct id webhook_id, id;
    enum delivery_form form;
    int64_t attempt;  /* its number, from 1 */
    int64_t lease;    /* of the delivery */
    int64_t ended_us; /* on the service's clock */
    int64_t took_ms;
    long status_code; /* 0: no answer */
    const char
        *failure; /* status, timeout, resolve, address, connect, tls, broken, url, secret or gone; NULL: it succeeded */
    bool late;    /* after a failure, the endpoint's deliveries that have been due for DELIVERY_LATE_S are given up */
    /* Set by delivery_record: */
    bool disabled;    /* this failure has switched the endpoint off */
    int64_t given_up; /* late deliveries */
};

/* An endpoint that answers more slowly than events come gets the events of the last three days. */
#define DELIVERY_LATE_S (3 * 24 * 3600)

/* A failure, after which no attempt follows. */
bool delivery_gives_up(const struct delivery_result *r);

/* Records the ends of attempts: each delivery is then delivered, pending again, or failed. A delivery that was canceled
 * meanwhile, or recorded by another process, stays unchanged. */
enum err delivery_record(struct tx *tx, struct delivery_result *list, size_t count) CHECKED;
