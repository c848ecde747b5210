/* The offset of the service's clock, which the sandbox can move forward. */
#pragma once
#include "base/err.h"

struct store;

/* Restores the stored offset. Must run at startup, before anything reads the clock. */
enum err sandbox_clock_restore(struct store *store) CHECKED;
