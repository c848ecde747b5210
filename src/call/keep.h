/* The part of a decision that a call keeps: copied, because the memory of the decision ends before the call. */
#pragma once
#include "call/call.h"

/* The decision of an arrival or of a code. Texts that it lacks stay as they are. */
void keep_decision(struct call *c, const struct access_decision *d);
/* Of a recorded forwarding: the near misses, without their labels, */
void keep_near(struct call *c, const struct access_decision *d);
/* and the phones that may ring. They are known only now, as other calls take minutes meanwhile. */
void keep_minutes(struct call *c, const struct access_decision *d);
