/* The events the service posts to webhook endpoints, for the OpenAPI document (contract, Events). */
#pragma once
#include <jansson.h>

/* Returns the document's `webhooks`, by event type. Adds the schemas of the events' data to `schemas`. */
json_t *openapi_events(json_t *schemas);
