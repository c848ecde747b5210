#include "base/refusals.h"

#include "base/clock.h"
#include "base/log.h"

#define LINES_US (10 * US_PER_S)

void refusals_tell(struct refusals *r, const char *what, const char *const *limits, size_t n, int64_t now_us)
{
    if (r->told_us && now_us - r->told_us < LINES_US)
        return;
    for (size_t i = 0; i < n && i < REFUSALS_MAX; i++) {
        if (!r->counts[i])
            continue;
        log_warn("%s refused limit=%s count=%u", what, limits[i], r->counts[i]);
        r->counts[i] = 0;
        r->told_us = now_us;
    }
}
