/* The thread that lets backup.directory follow the store (store/follow.h). A copy that fails is logged, once until one
 * succeeds, and tried again at the next one's time; the metric portero_store_followed_timestamp_seconds stays behind.
 */
#pragma once
#include "base/config.h"
#include "base/err.h"

struct copies;

enum err copies_start(const struct config *config, struct copies **ret) CHECKED;
/* Ends the thread, and the copy that it makes. The process must end then. NULL is allowed. */
void copies_stop(struct copies *c);
