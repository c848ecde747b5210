/* The events the service posts to webhook endpoints, for the OpenAPI document (contract, Events). */
#pragma once
#include <jansson.h>

/* The document's `webhooks`, by event type; the schemas of the events' data are added to `schemas`. */
json_t *openapi_events(json_t *schemas);
