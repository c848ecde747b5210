/* The writes of a story (call/story.h) as tasks of the store, for a front end that keeps its calls in memory. They
 * write a copy, and the tasks of a call follow one another. A write that fails is repeated for an hour. If it never
 * succeeds, or the process ends before, the facts of the call are logged. */
#pragma once
#include "call/story.h"
#include "store/store.h"

/* While the call goes on: story_feed(), if there is something to write. story_submit() or story_drop() must follow. */
void story_live(struct story *s, struct store *store, const struct config *config);
/* The call has ended at at_ms: story_write(). */
void story_submit(struct story *s, int64_t at_ms, struct store *store, const struct config *config);
/* The call ends without a record. */
void story_drop(struct story *s);
/* To be called about once a second: repeats the writes that failed, when it is time; `all`: now. */
void story_repeat(bool all);
/* Gives up all writes that wait to be repeated. Must follow the store's close. */
void story_stop(void);
