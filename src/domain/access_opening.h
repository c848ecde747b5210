/* The sentence that a visitor hears of a right code that opens at another time (PASS-10). */
#pragma once
#include "domain/access.h"

/* "This code opens on Tuesday at nine in the morning.", by the clock of the grant; without the day if it is today's.
 * STR_NONE if it does not open any more. */
struct str opening_text(const struct access_near *near, int64_t now_us, struct arena *a);
