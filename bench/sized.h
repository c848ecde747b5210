/* How much a benchmark does. A smoke run, `bench/run --smoke`, shows that it can run, and judges no figure. */
#pragma once
#include <stdlib.h>

static inline int sized(int full, int smoke)
{
    return getenv("PORTERO_BENCH_SMOKE") ? smoke : full;
}
