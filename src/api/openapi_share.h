/* Parts that several operations of an OpenAPI document share, written once. */
#pragma once
#include <jansson.h>

/* Moves each parameter, header and answer that stands more than once in `paths` to `components`, and leaves references:
 * a parameter or header under its name, an answer under its status and first code, with a number where that is taken.
 */
void openapi_share(json_t *paths, json_t *components);
