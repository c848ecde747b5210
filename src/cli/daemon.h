/* The running service: its parts, started in the order they need each other and ended in reverse. */
#pragma once
#include "base/config.h"

struct daemon;

/* Starts everything; when it returns, every listener accepts. `c` must outlive the daemon. ret_why (owned by the
 * caller) says what stood in the way: ERR_USAGE for what the operator can put right. */
enum err daemon_start(const struct config *c, struct daemon **ret, char **ret_why) CHECKED;
/* Reads the certificates again; keeps the old ones if the new do not load, and says why on the log. The log is standard
 * error: whoever reads it there rotates it. */
void daemon_reload(struct daemon *d);
/* Stops accepting, finishes requests, lets calls end (30 s), commits, and frees the daemon. */
void daemon_stop(struct daemon *d);

const struct config *daemon_config(const struct daemon *d);
/* " https://A:P http://A:P sip:A:P": of the listeners there are, with their real ports. */
void daemon_addresses(const struct daemon *d, char *ret, size_t size);
