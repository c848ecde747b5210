/* The value of a=crypto: what is read is written and read again as the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "media/sdes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct sdes first, second;
    char text[SDES_TEXT_MAX];
    if (!sdes_read(str_n((const char *)data, n), &first))
        return 0;
    sdes_write(&first, text);
    if (!sdes_read(str_z(text), &second) || first.tag != second.tag || first.suite != second.suite ||
        memcmp(first.key, second.key, SDES_KEY_LEN) != 0)
        abort();
    return 0;
}
