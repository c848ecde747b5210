/* Lets a thread sleep until another one wakes it (as LockSupport in Java). An unpark before the park is remembered, so
 * no wake-up is lost. */
#pragma once
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct parker {
    _Atomic int state; /* 0: awake, 1: was unparked, -1: asleep */
};

/* Only for the thread that owns the parker. Sleeps for at most max_us, without a limit if that is negative. May return
 * early: the caller must check its condition again. */
static inline void park_for(struct parker *p, int64_t max_us)
{
    if (atomic_fetch_sub(&p->state, 1) == 1)
        return;
    const struct timespec most = {.tv_sec = max_us / 1000000, .tv_nsec = max_us % 1000000 * 1000};
    long rc = 0;
    while (atomic_load(&p->state) == -1 && !(rc < 0 && errno == ETIMEDOUT))
        rc = syscall(SYS_futex, &p->state, FUTEX_WAIT_PRIVATE, -1, max_us < 0 ? NULL : &most, NULL, 0);
    atomic_exchange(&p->state, 0);
}

static inline void park(struct parker *p)
{
    park_for(p, -1);
}

/* Any thread. Makes a system call only if the owner sleeps. */
static inline void unpark(struct parker *p)
{
    if (atomic_exchange(&p->state, 1) == -1)
        syscall(SYS_futex, &p->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
