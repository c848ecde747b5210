/* How a call to an outside provider ended. */
#pragma once

enum outcome {
    OUTCOME_DONE,    /* the provider has acted */
    OUTCOME_REFUSED, /* a definite no: repeating it would not help */
    OUTCOME_UNKNOWN  /* a time-out, a 5xx: it may have acted or not; repeat it with the same key */
};
