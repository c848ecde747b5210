/* Rate limits: fixed windows of 15 minutes per subject, starting at its first request (HTTP-34 to HTTP-38).
 * In-process.
 *
 * Memory is bounded, and the bound never lifts a limit. A subject's window belongs to one of many small sets. If all
 * windows of a set are running, the set evicts the subject with the lowest count and remembers this count and its end.
 * A subject that the set does not know starts with that count. So a count is never too low. It can be too high only for
 * a new subject, and only if more than LIMIT_SUBJECTS subjects appear within 15 minutes. */
#pragma once
#include "base/arena.h"

#define LIMIT_SUBJECT_MAX 24     /* characters: an ID, or an address block as text */
#define LIMIT_SUBJECTS    240000 /* of each kind, approximately; 62 MB for all kinds, allocated on first use */

struct limiter;

enum limit_kind {
    LIMIT_PER_KEY,
    LIMIT_PER_ADDRESS_PLANS,
    LIMIT_PER_ADDRESS_AUTH,
    LIMIT_PER_ADDRESS_OTP,
    LIMIT_PER_ADDRESS_GUEST,
    LIMIT_PER_ADDRESS_OAUTH
};

struct limit_state {
    int64_t limit, remaining;
    int64_t reset_s; /* until the window ends, rounded up, at least 1 */
    bool exceeded;
};

struct limiter *limiter_new(void);
void limiter_free(struct limiter *l);
/* The subject of a limit for each address: the text of its net_address_block, in the arena, or `peer` if it is no
 * address. */
struct str limit_address_block(struct arena *a, const char *peer);
/* Takes one from the subject's window. Any thread. The subject must have 1 to LIMIT_SUBJECT_MAX characters and no NUL.
 */
struct limit_state limit_take(struct limiter *l, enum limit_kind kind, struct str subject, int64_t limit,
                              int64_t now_us);
