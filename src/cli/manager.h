/* Tells the service manager in $NOTIFY_SOCKET how the process is (sd_notify(3)), once a second, from a thread: STATUS=,
 * EXTEND_TIMEOUT_USEC= while it starts and stops, and WATCHDOG=1 while its loops turn, if $WATCHDOG_USEC asks for it. A
 * store that does not answer is no reason to be killed: the loops turn without it. Does nothing without $NOTIFY_SOCKET.
 *
 * lifecycle_set must be called before each of these. */
#pragma once
#include "cli/daemon.h"

/* The process starts. `reason` writes what the start waits for; it is called on another thread. */
enum err manager_begin(void (*reason)(char *ret, size_t size)) CHECKED;
/* `d` serves. */
void manager_ready(struct daemon *d);
/* `d` reloads its certificates; manager_ready follows. */
void manager_reloading(void);
/* `d` stops. */
void manager_stopping(void);
/* Before `d` is freed, if there is one. manager_end must follow. */
void manager_forget(void);
void manager_end(void);
