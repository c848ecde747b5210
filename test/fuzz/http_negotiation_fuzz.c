/* Any Accept-Encoding, Accept-Language and If-None-Match, of one or two fields, split at the first line end. No read
 * beyond them. A list that ends with a comma and our tag matches, unless the text before is malformed. */
#include <stdlib.h>

#include "http/content.h"

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
    struct http_header wishes[] = {{STR("Accept-Language"), str_n(a, first.n)},
                                   {STR("Accept-Language"), str_n(b, rest.n)}};
    static const struct http_content content = {.body = {{"b", 1}, {"gg", 2}, {"nnn", 3}}};
    static const char *const languages[] = {"en", "es", "fr", NULL};
    const enum http_coding one = http_content_choose(&content, encodings, 1);
    if (rest.n == 0 && http_content_choose(&content, encodings, 2) != one)
        abort();
    if (http_language(wishes, 2, languages) > 2)
        abort();
    if (http_has_tag(tags, 1, STR("\"ab\"")) && !http_has_tag(tags, 2, STR("\"ab\"")))
        abort();
    free(a);
    free(b);
    return 0;
}
