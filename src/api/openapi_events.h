/* The events the service posts to webhook endpoints, for documents (contract, Events). */
#pragma once
#include <jansson.h>

#include "api/openapi_parameters.h"

#define EVENT_FIELDS 5

/* An event as an operation of the receiver. It points into itself: do not copy it. */
struct posted_event {
    const char *name; /* "access.granted" */
    char operation_id[64];
    const char *summary, *description;
    struct shape body; /* the envelope around the data */
    struct field fields[EVENT_FIELDS];
    const char *type[2];
};

/* The event of that index; false if there is none. */
bool openapi_event(size_t index, struct posted_event *ret);

/* The headers of each such request; ends with a row without a field. */
extern const struct parameter openapi_event_parameters[];

/* Returns the document's `webhooks`, by event type. Adds the schemas of the events' data to `schemas`. */
json_t *openapi_events(json_t *schemas);
