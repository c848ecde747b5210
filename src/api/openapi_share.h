/* Sharing of repeated parts of an OpenAPI document. */
#pragma once
#include <jansson.h>

/* Moves each header in `paths`, and each parameter and response that occurs more than once, to `components` and leaves
 * references. It is named after the parameter or header, or the first code and status of the response, and the first
 * digits of its hash. */
void openapi_share(json_t *paths, json_t *components);
