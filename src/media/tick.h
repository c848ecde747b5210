/* A thread's 20 ms tick: absolute deadlines on the monotonic clock. Packets keep their spacing after a slow round and
 * when the wall clock, which libre's timers follow, is set. For threads that run libre's loop. */
#pragma once
#include <re/re.h>

#include "base/err.h"

#define TICK_MS 20

struct tick;

/* One listener, embedded in its owner. */
struct tick_entry {
    struct le le;
    void (*run)(void *arg, int64_t now_ms); /* may remove any entry */
    void *arg;
};

enum err tick_new(struct tick **ret) CHECKED;
void tick_free(struct tick *t);
/* Runs the entry from the next tick on. The timer runs only while there are entries. */
void tick_add(struct tick *t, struct tick_entry *e, void (*run)(void *arg, int64_t now_ms), void *arg);
/* No effect on an entry that was not added. */
void tick_remove(struct tick_entry *e);
int64_t tick_now_ms(void);
