/* Rate limits: fixed windows of 15 minutes per subject, from its first request (decisions section 1). In-process.
 *
 * Memory is bounded, and the bound never opens a limit. A subject's window has its place in one of many small sets.
 * When a set is full of running windows, it forgets the subject that has taken least, and remembers how much that was
 * and until when: a subject that the set does not know begins with that count. So a count is never too low. It is too
 * high only for a new subject, and only while more subjects than LIMIT_SUBJECTS come within 15 minutes. */
#pragma once
#include "base/str.h"

#define LIMIT_SUBJECT_MAX 24     /* characters: an ID, or a block of addresses as text */
#define LIMIT_SUBJECTS    360000 /* of each kind, about; 62 MB for all kinds, taken as they come */

struct limiter;

enum limit_kind { LIMIT_PER_KEY, LIMIT_PER_ADDRESS_PLANS, LIMIT_PER_ADDRESS_AUTH, LIMIT_PER_ADDRESS_OTP };

struct limit_state {
    int64_t limit, remaining;
    int64_t reset_s; /* until the window ends, rounded up, at least 1 */
    bool exceeded;
};

struct limiter *limiter_new(void);
void limiter_free(struct limiter *l);
/* Takes one from the subject's window. Any thread. The subject has 1 to LIMIT_SUBJECT_MAX characters, no NUL. */
struct limit_state limit_take(struct limiter *l, enum limit_kind kind, struct str subject, int64_t limit,
                              int64_t now_us);
