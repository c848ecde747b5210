/* Faults on order: how the sandbox makes the next calls to a provider fail (POST /sandbox/faults). Process-wide, any
 * thread. Only the sandbox's own providers look here, and only the sandbox sets any. */
#pragma once
#include "base/str.h"
#include "providers/outcome.h"

enum fault { FAULT_NONE, FAULT_TIMEOUT, FAULT_ERROR, FAULT_DECLINE, FAULT_CRASH_AFTER };

/* "timeout", "error", "decline", "crash_after", "none"; false for anything else. */
bool fault_parse(struct str text, enum fault *ret);
/* The next `count` calls to that provider (STR_NONE or empty call: whatever they ask for) behave so. FAULT_NONE
 * clears all the provider's faults. False if more kinds of faults are on order than fit, or a name is too long. */
bool fault_order(struct str provider, struct str call, enum fault fault, int64_t count);
/* Takes the fault this call shall have, the oldest order first. */
enum fault fault_take(const char *provider, const char *call);

/* What a faulty call reports before it has acted: DONE means go on and act. */
static inline enum outcome fault_outcome(enum fault f)
{
    return f == FAULT_DECLINE                       ? OUTCOME_REFUSED
           : f == FAULT_TIMEOUT || f == FAULT_ERROR ? OUTCOME_UNKNOWN
                                                    : OUTCOME_DONE;
}
/* To be called right after a provider has acted: ends the process as a crash would, if that was the fault. */
void fault_after(enum fault f);
