/* The parts that a building needs before its grants open the door: one rule for the decision, the setup, the next
 * actions and the page of a guest (BUILDING-32). */
#pragma once
#include "base/arena.h"
#include "base/id.h"

enum ready_part { READY_SUBSCRIPTION, READY_NUMBER, READY_TONE, READY_CALL_BOX, READY_PARTS };
#define READY_BIT(part) (1U << READY_##part)
/* Without one of these no grant opens the door. A call box may dial the number before it is known to. */
#define READY_DOOR (READY_BIT(SUBSCRIPTION) | READY_BIT(NUMBER) | READY_BIT(TONE))
extern const char *const ready_codes[]; /* READY_PARTS, and NULL */

struct ready {
    struct str subscription; /* the account's status, as stored */
    struct str number, tone; /* STR_NONE: not there yet */
    int64_t last_buzz_us;    /* last release by a grant with this number; 0: never */
};

/* Bits of the parts that are missing; 0: none. */
unsigned ready_lacks(const struct ready *r);

/* Setup.status. */
const char *ready_status(unsigned lacks);

/* Mends a part: its code, an HTTP request line (of the call box: the one that shows when it is done), and a sentence.
 */
struct ready_step {
    enum ready_part part;
    struct str code, request, sentence;
};
/* The missing steps in their order, in the arena. A subscription comes with a number, which is no step without it.
 * Returns how many there are. */
size_t ready_steps(const struct ready *r, const struct id *building, struct arena *a,
                   struct ready_step ret[static READY_PARTS]);
