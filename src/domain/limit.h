/* Rate limits: fixed windows of 15 minutes per subject, from its first request (decisions section 1). In-process. */
#pragma once
#include "base/str.h"

struct limiter;

enum limit_kind { LIMIT_PER_KEY, LIMIT_PER_ADDRESS_PLANS, LIMIT_PER_ADDRESS_AUTH, LIMIT_PER_ADDRESS_OTP };

struct limit_state {
    int64_t limit, remaining;
    int64_t reset_s; /* until the window ends, rounded up, at least 1 */
    bool exceeded;
};

struct limiter *limiter_new(void);
void limiter_free(struct limiter *l);
/* Takes one from the subject's window. Any thread; memory is bounded (ended windows are reused; when full of running
 * windows, the one that ends first gives way). */
struct limit_state limit_take(struct limiter *l, enum limit_kind kind, struct str subject, int64_t limit,
                              int64_t now_us);
