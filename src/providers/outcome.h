/* How a call to an outside provider ended. */
#pragma once
#include <stdbool.h>

enum outcome {
    OUTCOME_DONE,    /* the provider has acted */
    OUTCOME_REFUSED, /* a definite no: repeating it would not help */
    OUTCOME_UNKNOWN  /* a time-out, a 5xx: it may have acted or not; repeat it with the same key */
};

/* Is an UNKNOWN call worth another try at once, with the same key? Sleeps before it; *tries counts, from 0.
 *
 *     int tries = 0;
 *     do
 *         o = …;
 *     while (outcome_again(o, &tries)); */
bool outcome_again(enum outcome o, int *tries);
