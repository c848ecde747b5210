/* Which of a name's addresses to call: a name may have several (`localhost` is ::1 and 127.0.0.1), and the service may
 * listen on one of them alone. */
#pragma once
#include <re/re.h>
#include <stdbool.h>
#include <stdint.h>

/* Finds the address of `host`, a name or a numeric address without brackets. One address is taken as it is. Of several,
 * each is asked in turn, as RFC 8305 does: the next one at once after a refusal, and after a quarter of a second
 * without an answer, while the earlier ones may still answer; over TCP by connecting, over UDP by an OPTIONS request,
 * which any answer settles. If none answers within three seconds, the first that has not refused is taken: the call
 * itself will say what is wrong. Returns 0, ENOENT if the name has no address, or the error of the last if all refused.
 * Blocks. */
int reach_find(const char *host, uint16_t port, bool tcp, struct sa *ret);
