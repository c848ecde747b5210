/* Streams of events (server-sent events, the WHATWG's HTML standard, section 9.2) of several buildings at once, each
 * resumed at its last event when it breaks. */
#pragma once
#include "client/remote.h"

#define EVENT_SOURCES_MAX 20 /* buildings of an account; a key may have more streams */

struct event {
    const char *id, *type, *data; /* `data` is JSON; type "reset": events were missed that cannot be sent any more */
};

struct event_source;

/* The receiver of the events. Its functions return EXIT_DONE to go on, or the exit status with which all streams end.
 */
struct event_handler {
    /* A new connection: the ID of the newest event that the service has, or had before the events that follow. May set
     * `*ret_after` to an earlier number to read the events after it again; then it connects once more. */
    int (*begun)(void *context, size_t source, int64_t newest, int64_t *ret_after);
    int (*event)(void *context, size_t source, const struct event *e);
    /* No more bytes are there at present: everything that has arrived was handled. */
    int (*idle)(void *context);
    void *context;
};

/* Follows the streams at these paths until a handler ends it, the service refuses one, or the first connection fails.
 * Returns the exit status. A connection that breaks later is made again, with growing pauses of at most 30 s. */
int event_sources_follow(const struct remote *r, const char *const *paths, size_t count,
                         const struct event_handler *handler);
