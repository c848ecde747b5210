#include "providers/outcome.h"

#include "base/metric.h"
#include "base/wait.h"

#define TRIES    3
#define PAUSE_US 100000

const char *outcome_text(enum outcome o)
{
    static const char *const texts[] = {
        [OUTCOME_DONE] = "done", [OUTCOME_REFUSED] = "refused", [OUTCOME_UNKNOWN] = "unknown"};
    return texts[o];
}

_Static_assert(METRIC_PROVIDER_SMTP == (int)PROVIDER_SMTP && METRIC_ANSWER_UNKNOWN == (int)OUTCOME_UNKNOWN, "a series");

enum outcome outcome_count(enum provider p, enum outcome o)
{
    metric_add(&metrics.provider_requests[(unsigned)p * METRIC_ANSWER_VALUES + o], 1);
    return o;
}

bool outcome_again(enum outcome o, int *tries)
{
    if (o != OUTCOME_UNKNOWN || ++*tries >= TRIES)
        return false;
    sleep_for_us(PAUSE_US);
    return true;
}
