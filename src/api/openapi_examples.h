/* Examples of the answers in an OpenAPI document. */
#pragma once
#include <jansson.h>

/* Adds to the first answer of each operation in `paths` its example, which `api/examples.json` has by the operation's
 * ID. The end-to-end tests hold each one against its schema, and a whole run against what was answered. */
void openapi_examples(json_t *paths);
