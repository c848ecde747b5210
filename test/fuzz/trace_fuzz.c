/* A traceparent header, any bytes: an accepted one has IDs of lower-case hexadecimal digits that are not all 0. */
#include <stdlib.h>
#include <string.h>

#include "api/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_be_id(const char *id, size_t n)
{
    if (strlen(id) != n || strspn(id, "0123456789abcdef") != n || strspn(id, "0") == n)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace t;
    if (!trace_parse(str_n((const char *)data, size), &t))
        return 0;
    must_be_id(t.trace_id, 32);
    must_be_id(t.parent_id, 16);
    return 0;
}
