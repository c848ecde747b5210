/* Examples of replies in an OpenAPI document. */
#pragma once
#include <jansson.h>

/* Reads a text of the program as JSON. If it is damaged, the program ends. The build runs this (src/documents.c), so a
 * program with damaged examples cannot be built. */
json_t *openapi_constant(const char *text);
/* Examples of replies, by operation ID (api/examples.json); the caller releases them. The end-to-end tests check each
 * one against its schema and against real responses. */
json_t *openapi_examples(void);
