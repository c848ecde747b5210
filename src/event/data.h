/* The webhook events as a receiver sees them: their types, and the data of each (contract, Events). */
#pragma once
#include "base/schema.h"

enum event_type {
#define V(symbol, text) EVENT_##symbol,
#include "tbl/events.def"
#undef V
    EVENT_TYPE_COUNT
};

/* "access.granted" …, in the order of the enum, NULL-terminated. */
extern const char *const event_type_names[];

/* The data of every type; an event has the members of its type's shape. */
struct event_data {
    struct val building_id, building_label;
    struct val unlock_id, unlock_type, label;
    struct val unlock_number; /* unlock_type in the earlier revision, which event_write derives: 1, 2, 3 */
    struct val remaining_uses;
    struct val occurred_at;
};

/* The shape of `data`, by type. */
extern const struct shape event_data_shapes[EVENT_TYPE_COUNT];

#define EVENT_ID_LEN 28 /* "evt_" and 24 hex */

struct event_id {
    char text[EVENT_ID_LEN + 1];
};
