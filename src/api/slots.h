/* A bound on requests that wait for a host on a blocking worker: in total, and for each account, each address block of
 * clients, and each host, so that neither a stranger with many accounts nor one slow host takes all of it. */
#pragma once
#include <pthread.h>

#include "api/request.h"
#include "base/metric.h"

#define SLOTS_MAX 16

enum slot_key { SLOT_ACCOUNT, SLOT_ADDRESS, SLOT_HOST, SLOT_KEYS };

struct slot {
    bool used;
    struct str keys[SLOT_KEYS]; /* in the request's arena; empty: has no share */
};

struct slots {
    pthread_mutex_t lock;
    enum metric_label_LOOKUP kind;
    unsigned most;              /* in total; at most SLOTS_MAX */
    unsigned shares[SLOT_KEYS]; /* of these, with the same key */
    struct slot slots[SLOTS_MAX];
    int64_t logged_us; /* monotonic: of the last refusal in the log */
    unsigned unlogged; /* refusals since then */
};
#define SLOTS(label, total, account, others)                                                                           \
    {                                                                                                                  \
        .lock = PTHREAD_MUTEX_INITIALIZER, .kind = METRIC_##label, .most = (total),                                    \
        .shares = {(account), (others), (others)},                                                                     \
    }

/* A slot for this request, which will ask the host of `url`; the caller gives it back before the request ends. Fails
 * with ERR_RATE_LIMIT_EXCEEDED, counts it in the metrics, and logs one in ten seconds. Any thread. */
enum err slots_take(struct slots *s, struct request *q, struct str url, struct slot **ret) CHECKED;
void slots_release(struct slots *s, struct slot *slot);
