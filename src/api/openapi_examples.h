/* Examples of replies in an OpenAPI document. */
#pragma once
#include <jansson.h>

/* Adds an example to the first response of each operation in `paths`. `api/examples.json` holds them by operation ID.
 * The end-to-end tests check each one against its schema and against real responses. */
void openapi_examples(json_t *paths);
