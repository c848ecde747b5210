/* Any Accept-Encoding and If-None-Match, of one or two fields, split at the first line end. No read beyond them. A list
 * that ends with a comma and our tag matches, unless the text before is malformed. */
#include <stdlib.h>

#include "api/constant.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest, first = str_cut(str_n((const char *)data, size), '\n', &rest);
    char *a = malloc(first.n), *b = malloc(rest.n); /* exact sizes, so that a read beyond them is found */
    memcpy(a, first.p, first.n);
    if (rest.n)
        memcpy(b, rest.p, rest.n);
    struct http_header encodings[] = {{STR("Accept-Encoding"), str_n(a, first.n)},
                                      {STR("Accept-Encoding"), str_n(b, rest.n)}};
    struct http_header tags[] = {{STR("If-None-Match"), str_n(a, first.n)}, {STR("If-None-Match"), str_n(b, rest.n)}};
    bool one = constant_wants_gzip(encodings, 1);
    if (rest.n == 0 && constant_wants_gzip(encodings, 2) != one)
        abort();
    if (constant_has_tag(tags, 1, STR("\"ab\"")) && !constant_has_tag(tags, 2, STR("\"ab\"")))
        abort();
    free(a);
    free(b);
    return 0;
}
