/* Watches over a start, which may wait for a store that does not answer: says what it waits for, and ends it on SIGTERM
 * and SIGINT. */
#pragma once
#include <stddef.h>

#include "base/err.h"

/* Must be called after signals_hold. `reason` writes what the start waits for; it is called on another thread. The
 * first signal gives the start some seconds to end; then, or at a second signal, the process ends. Nothing is lost by
 * that: a start acknowledges nothing, and the store survives it like any crash. */
enum err starting_watch(void (*reason)(char *ret, size_t size)) CHECKED;
/* The start has ended. Returns the signal that has arrived meanwhile, or 0. */
int starting_ended(void);
