#include "cli/lifecycle.h"

#include <stdatomic.h>

static _Atomic int current = LIFECYCLE_STARTING;

enum lifecycle lifecycle_get(void)
{
    return (enum lifecycle)atomic_load(&current);
}

void lifecycle_set(enum lifecycle state)
{
    atomic_store(&current, (int)state);
}

const char *lifecycle_name(enum lifecycle state)
{
    static const char *const names[] = {
        [LIFECYCLE_STARTING] = "starting", [LIFECYCLE_READY] = "ready", [LIFECYCLE_STOPPING] = "stopping"};
    return names[state];
}
