/* Lets a thread sleep until another one wakes it (as LockSupport in Java). An unpark before the park is remembered, so
 * no wake-up is lost. */
#pragma once
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

struct parker {
    _Atomic int state; /* 0: awake, 1: was unparked, -1: asleep */
};

/* Only for the thread that owns the parker. May return early: the caller must check its condition again. */
static inline void park(struct parker *p)
{
    if (atomic_fetch_sub(&p->state, 1) == 1)
        return;
    while (atomic_load(&p->state) == -1)
        syscall(SYS_futex, &p->state, FUTEX_WAIT_PRIVATE, -1, NULL, NULL, 0);
    atomic_store(&p->state, 0);
}

/* Any thread. Makes a system call only if the owner sleeps. */
static inline void unpark(struct parker *p)
{
    if (atomic_exchange(&p->state, 1) == -1)
        syscall(SYS_futex, &p->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
