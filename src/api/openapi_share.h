/* Sharing of repeated parts of an OpenAPI document. */
#pragma once
#include <jansson.h>

/* Moves each parameter, header and response that occurs more than once in `paths` to `components` and leaves
 * references. A parameter or header keeps its name. A response is named after its first code and status, with a number
 * if that name is taken. */
void openapi_share(json_t *paths, json_t *components);
