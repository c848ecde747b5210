/* Events: what webhook deliveries are made from, written in the transaction of their cause (contract, Events). */
#pragma once
#include "base/schema.h"
#include "domain/tx.h"

enum event_type {
#define V(symbol, text) EVENT_##symbol,
#include "tbl/events.def"
#undef V
    EVENT_TYPE_COUNT
};

/* "access.granted" …, in the order of the enum, NULL-terminated. */
extern const char *const event_type_names[];

/* The data of every type; an event has those members that its shape has. */
struct event_data {
    struct val building_id, building_label;
    struct val unlock_id, unlock_type, label;
    struct val remaining_uses;
    struct val occurred_at;
};

/* What `data` of each type looks like. */
extern const struct shape event_data_shapes[EVENT_TYPE_COUNT];

#define EVENT_ID_LEN 28 /* "evt_" and 24 hex */

struct event_id {
    char text[EVENT_ID_LEN + 1];
};

/* Writes an event of the account, with the parts of `data` that belong to its type, and a delivery of it to each
 * endpoint of the account that listens to the type. Where none does, nothing is written and *ret_id is empty.
 * `building` is NULL where none is concerned; ret_id may be NULL. */
enum err event_write(struct tx *tx, enum event_type type, const struct id *account, const struct id *building,
                     const struct event_data *data, struct event_id *ret_id) CHECKED;
/* Writes an event for one endpoint alone, whether or not it listens to the type. */
enum err event_write_to(struct tx *tx, enum event_type type, const struct id *account, const struct id *webhook,
                        const struct event_data *data, struct id *ret_delivery) CHECKED;
/* Queues a delivery, due at once, of an event that is stored. */
enum err event_deliver(struct tx *tx, const struct id *account, const struct id *webhook, struct str event,
                       struct id *ret_delivery) CHECKED;

/* Deletes at most `limit` events that are older and of which no delivery is left; *ret_count says how many. */
enum err event_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count) CHECKED;
