#include "sip/limits.h"

#include <re/re.h>

#include "base/clock.h"
#include "base/log.h"
#include "media/tick.h"

#define REPEATED_MAX 500           /* in REPEATED_MS */
#define REPEATED_MS  (64 * SIP_T1) /* libre keeps each for this long */
#define TOLD_MS      10000         /* between two log lines about suppressed ones */
#define TOLD_MAX     100           /* calls in that time */

bool sip_limits_may_repeat(struct sip_limits *l)
{
    const int64_t now_ms = tick_now_ms();
    if (now_ms - l->repeated_ms >= REPEATED_MS) {
        l->repeated_ms = now_ms;
        l->repeated = 0;
    }
    return l->repeated++ < REPEATED_MAX;
}

bool sip_limits_may_tell(struct sip_limits *l)
{
    const int64_t now_ms = tick_now_ms();
    if (!l->told_ms || now_ms - l->told_ms >= TOLD_MS) {
        if (l->told > TOLD_MAX)
            log_warn("sip calls refused and not logged count=%u", l->told - TOLD_MAX);
        l->told_ms = now_ms;
        l->told = 0;
    }
    return ++l->told <= TOLD_MAX;
}

void sip_limits_refused(struct sip_limits *l, enum metric_label_REFUSAL limit)
{
    metric_add(&metrics.sip_limited[limit], 1);
    l->refused.counts[limit]++;
}

void sip_limits_tell(struct sip_limits *l)
{
    refusals_tell(&l->refused, "sip calls", metric_values_REFUSAL, METRIC_REFUSAL_VALUES, clock_monotonic_us());
}
