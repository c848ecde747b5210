/* Any text: a parsed time is within the years of four digits and an offset, and reads back as the same millisecond if
 * it can be written. The first eight bytes as an instant: the written text reads back. */
#include <stdlib.h>

#include "base/clock.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define EARLIEST_US (-62167219200000000LL)
#define LATEST_US   253402300799999999LL
#define DAY_US      86400000000LL

static void check(int64_t at_us)
{
    char text[TIME_TEXT_MAX];
    int64_t again = -1;
    time_format(at_us, text);
    if (strlen(text) != TIME_TEXT_MAX - 1 || !time_parse(str_z(text), &again) || again != at_us / 1000 * 1000)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t at_us = 0;
    if (time_parse(str_n((const char *)data, size), &at_us)) {
        if (at_us < EARLIEST_US - DAY_US || at_us > LATEST_US + DAY_US)
            abort();
        if (at_us >= 0 && at_us <= LATEST_US)
            check(at_us);
    }
    if (size >= sizeof at_us) {
        memcpy(&at_us, data, sizeof at_us);
        char text[TIME_TEXT_MAX];
        time_format(at_us, text);
        check((int64_t)((uint64_t)at_us % (uint64_t)LATEST_US));
    }
    return 0;
}
