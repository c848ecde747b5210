/* A bound on what blocking workers do at the same time, in total and for one account. */
#pragma once
#include <pthread.h>

#include "base/id.h"

#define SLOTS_MAX 16

struct slots {
    pthread_mutex_t lock;
    unsigned most, of_account; /* at once; most <= SLOTS_MAX */
    struct id used[SLOTS_MAX]; /* by these accounts; an empty ID: free */
};
#define SLOTS(total, share)                                                                                            \
    {                                                                                                                  \
        .lock = PTHREAD_MUTEX_INITIALIZER, .most = (total), .of_account = (share)                                      \
    }

/* NULL: the account's share or all slots are in use. */
struct id *slots_take(struct slots *s, const struct id *account);
void slots_release(struct slots *s, struct id *slot);
