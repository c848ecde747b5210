/* Chooses the address of a name to call. A name may have several (`localhost` is ::1 and 127.0.0.1), and the service
 * may listen on only one of them. */
#pragma once
#include <re/re.h>
#include <stdbool.h>
#include <stdint.h>

#define REACH_PATIENCE_MS 3000 /* for a person who waits */

/* Finds the address of `host`, a name or a numeric address without brackets. A single address is not probed. Several
 * addresses are probed in turn as in RFC 8305: the next one follows at once after a refusal, otherwise after a quarter
 * of a second, while the earlier ones may still answer. The probe is a connection over TCP, an OPTIONS request over
 * UDP. If no address answers within patience_ms, takes the first that has not refused; the call then reports the error.
 * Returns 0, ENOENT if the name has no address, or the error of the last if all refused. Blocks. */
int reach_find(const char *host, uint16_t port, bool tcp, int64_t patience_ms, struct sa *ret);
/* Whether an address of `host` answers: an OPTIONS request over UDP, or a connection over TCP. Returns 0, ENOENT if the
 * name has no address, ETIMEDOUT, or the error of the last refusal. Blocks for patience_ms, and for the name. */
int reach_answers(const char *host, uint16_t port, bool tcp, int64_t patience_ms);
/* The local address, with port 0, of the route to a server. Returns 0 or errno. Needs a libre thread. */
int reach_local(const struct sa *server, struct sa *ret);
