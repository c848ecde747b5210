/* Ordered faults: the sandbox makes the next calls to a built-in provider fail (POST /sandbox/faults). Process-wide;
 * any thread. */
#pragma once
#include "base/str.h"
#include "providers/outcome.h"

enum fault { FAULT_NONE, FAULT_TIMEOUT, FAULT_ERROR, FAULT_DECLINE, FAULT_CRASH_AFTER };

/* "timeout", "error", "decline", "crash_after", "none". Returns false for anything else. */
bool fault_parse(struct str text, enum fault *ret);
/* Orders a fault for the next `count` calls of that name to that provider, or for its next calls of any name if `call`
 * is empty or STR_NONE. FAULT_NONE clears all faults of the provider. Returns false if too many faults are ordered, or
 * a name is too long. */
bool fault_order(struct str provider, struct str call, enum fault fault, int64_t count);
/* Takes the fault of this call from the oldest order that matches. */
enum fault fault_take(const char *provider, const char *call);

/* The outcome of a call before the provider acts. DONE: the provider must act now. */
static inline enum outcome fault_outcome(enum fault f)
{
    return f == FAULT_DECLINE                       ? OUTCOME_REFUSED
           : f == FAULT_TIMEOUT || f == FAULT_ERROR ? OUTCOME_UNKNOWN
                                                    : OUTCOME_DONE;
}
/* Must be called right after the provider has acted. Kills the process if the fault is FAULT_CRASH_AFTER. */
void fault_after(enum fault f);
