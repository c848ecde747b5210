/* The webhook events of an account, made of the events of its buildings' streams: the same types, data and times as in
 * the deliveries to an endpoint. Only the IDs differ: an endpoint's ID is made when it gets the event. */
#pragma once
#include "base/arena.h"
#include "client/remote_building.h"
#include "event/data.h"

#define LISTEN_EVENTS_MAX 2 /* a last use is two events */

struct listen_event {
    enum event_type type;
    struct event_id id; /* the same whenever the same event is read again */
    int64_t created_us;
    struct str data; /* JSON, in the arena */
    size_t order;    /* for the caller: of events with the same time */
};

/* Makes the events of a line of the building's stream, and returns their number; 0 for a line that is none. Everything
 * is in the arena. */
size_t listen_events(const struct remote_building *building, struct str line, struct arena *a,
                     struct listen_event ret[static LISTEN_EVENTS_MAX]);
/* A webhook.test event. */
struct listen_event listen_test_event(int64_t now_us);
