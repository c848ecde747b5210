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

json_t *openapi_examples(void)
{
    return openapi_constant(examples_text);
}
