#include "api/slots.h"

#include <stddef.h>

struct id *slots_take(struct slots *s, const struct id *account)
{
    struct id *slot = NULL;
    unsigned mine = 0;
    pthread_mutex_lock(&s->lock);
    for (struct id *i = s->used; i < s->used + s->most; i++)
        if (!id_given(i))
            slot = i;
        else if (id_equal(i, account))
            mine++;
    if (mine >= s->of_account)
        slot = NULL;
    if (slot)
        *slot = *account;
    pthread_mutex_unlock(&s->lock);
    return slot;
}

void slots_release(struct slots *s, struct id *slot)
{
    pthread_mutex_lock(&s->lock);
    *slot = (struct id){0};
    pthread_mutex_unlock(&s->lock);
}
