/* The reason why the store waits: set by its parts, read by a start that takes long. */
#include <stdatomic.h>

#include "store/engine.h"

static _Atomic(const char *) waits_for, answer_of; /* a process has one store */

void store_note_wait(const char *reason)
{
    atomic_store_explicit(&waits_for, reason, memory_order_relaxed);
}

void store_note_answer(const char *reason)
{
    atomic_store_explicit(&answer_of, reason, memory_order_relaxed);
}

const char *store_waits_for(void)
{
    const char *reason = atomic_load_explicit(&waits_for, memory_order_relaxed);
    return reason ? reason : atomic_load_explicit(&answer_of, memory_order_relaxed);
}
