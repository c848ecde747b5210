#include "api/openapi_examples.h"

#include <stdio.h>
#include <stdlib.h>

#include "api/examples.h"

json_t *openapi_constant(const char *text)
{
    json_error_t why;
    json_t *value = json_loads(text, JSON_REJECT_DUPLICATES, &why);
    if (!value) {
        fprintf(stderr, "an example of the OpenAPI document is not JSON: %s: %.100s\n", why.text, text);
        abort();
    }
    return value;
}

static void add_example(json_t *operation, json_t *examples)
{
    json_t *example = json_object_get(examples, json_string_value(json_object_get(operation, "operationId")));
    json_t *responses = json_object_get(operation, "responses");
    json_t *first = json_object_iter_value(json_object_iter(responses));
    json_t *media = json_object_get(json_object_get(first, "content"), "application/json");
    if (example && media)
        json_object_set(media, "example", example);
}

void openapi_examples(json_t *paths)
{
    json_t *examples = openapi_constant(examples_text), *item, *operation;
    const char *path, *method;
    json_object_foreach (paths, path, item) {
        json_object_foreach (item, method, operation) {
            add_example(operation, examples);
        }
    }
    json_decref(examples);
}
