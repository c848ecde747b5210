/* Events: what webhook deliveries are made from, written in the transaction of their cause (contract, Events). */
#pragma once
#include "base/schema.h"
#include "domain/op.h"

enum event_type {
#define V(symbol, text) EVENT_##symbol,
#include "tbl/events.def"
#undef V
    EVENT_TYPE_COUNT
};

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

/* Writes an event of the account, with the parts of `data` that belong to its type. `building` is NULL where none is
 * concerned; ret_id may be NULL. */
enum err event_write(struct op *op, enum event_type type, const struct id *account, const struct id *building,
                     const struct event_data *data, struct event_id *ret_id) CHECKED;
