/* The running service: its parts, started in the order of their dependencies and stopped in reverse. */
#pragma once
#include "base/config.h"
#include "store/store.h"

struct daemon;

/* How a start treats an older schema: SQLite's it migrates, PostgreSQL's in the sandbox alone. */
enum store_schema daemon_schema(const struct config *c);

/* Starts all parts. When it returns, every listener accepts. Waits without end for a PostgreSQL server that is away
 * (cli/absence.h). `c` must outlive the daemon. Fails with *ret_why (caller frees) set to the reason. */
enum err daemon_start(const struct config *c, struct daemon **ret, char **ret_why) CHECKED;
/* Reloads the certificates. If they do not load, logs the reason and keeps the old ones. */
void daemon_reload(struct daemon *d);
/* Lets calls end (at most 30 s) while HTTPS is served, then finishes requests (http.drain_s and at most 10 s), and
 * commits. daemon_free must follow. */
void daemon_stop(struct daemon *d);
void daemon_free(struct daemon *d);

/* The monotonic time when that loop of HTTPS or SIP turned that has not turned for longest. No loop waits for the
 * store. */
int64_t daemon_turned_us(const struct daemon *d);
unsigned daemon_calls(const struct daemon *d); /* over SIP */
/* The part that is being started, or NULL. Any thread. */
const char *daemon_starts(void);

const struct config *daemon_config(const struct daemon *d);
/* The addresses of the open listeners with their actual ports: " https://A:P http://A:P sip:A:P". */
void daemon_addresses(const struct daemon *d, char *ret, size_t size);
