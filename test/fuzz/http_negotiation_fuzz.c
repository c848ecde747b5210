/* Any Accept-Encoding and If-None-Match, of one or two fields, split at the first line end: an answer, without reading
 * beyond them; and a list that ends with our tag after a comma has it unless what stands before is malformed. */
#include <stdlib.h>

#include "api/constant.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest, first = str_cut(str_n((const char *)data, size), '\n', &rest);
    char *a = malloc(first.n), *b = malloc(rest.n); /* of their exact size, so that reading beyond is seen */
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
