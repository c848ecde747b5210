/* The process: its limits and its signals. */
#pragma once
#include <stdbool.h>

#include "base/err.h"

/* Opens /dev/null in place of closed standard descriptors. Must be called before any file is opened. */
void process_open_standard(void);
/* Sets umask 077, raises the limit of open files to its maximum and ignores SIGPIPE.
 * `secretive`: also disables core dumps and tracing by the same user, since memory holds keys. */
void process_prepare(bool secretive);

/* Blocks SIGTERM, SIGINT and SIGHUP for signals_wait. Must be called on the main thread before others are started. */
void signals_hold(void);
/* Waits for one of them, on the main thread, and returns it. */
int signals_wait(void);
/* Unblocks SIGTERM and SIGINT: from now on they end the process at once. */
void signals_release(void);
