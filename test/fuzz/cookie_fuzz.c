/* A Cookie field, any bytes: an accepted one contains the cookie once, with a value of 43 letters and digits. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "api/cookie.h"
#include "domain/browser.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct str field = str_n((const char *)data, size);
    const struct browser_names names = browser_names(field);
    struct str value;
    if ((names.program && strlen(names.program) > 32) || (names.system && strlen(names.system) > 32))
        abort();
    if (!cookie_parse(field, &value))
        return 0;
    if (value.n != BROWSER_COOKIE_LEN || value.p < field.p || value.p + value.n > field.p + field.n)
        abort();
    for (size_t i = 0; i < value.n; i++)
        if (!isalnum((unsigned char)value.p[i]))
            abort();
    const size_t before = (size_t)(value.p - field.p);
    if (before < sizeof COOKIE_NAME || memcmp(value.p - sizeof COOKIE_NAME, COOKIE_NAME "=", sizeof COOKIE_NAME) != 0)
        abort();
    return 0;
}
