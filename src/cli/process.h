/* The process: its limits and its signals. */
#pragma once
#include <stdbool.h>

#include "base/err.h"

/* Opens the standard descriptors that are closed. Call it before anything else is opened. */
void process_open_standard(void);
/* Private files (umask 077), as many others as the system allows, no SIGPIPE.
 * `secretive`: no core dumps and no tracing by the same user either, since memory holds keys. */
void process_prepare(bool secretive);

/* Keeps SIGTERM, SIGINT and SIGHUP for signals_wait: call on the main thread before there are others. */
void signals_hold(void);
/* Waits for one of them on the main thread and returns it. */
int signals_wait(void);
/* From now on a SIGTERM or SIGINT ends the process at once. */
void signals_let_go(void);
