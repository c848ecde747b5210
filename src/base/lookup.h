/* Resolves the names of hosts with a deadline: getaddrinfo has no time limit of its own. */
#pragma once
#include <netdb.h>
#include <stdint.h>

struct lookup;

/* Begins to look up the TCP addresses of a host, on its own thread. NULL if too many look-ups run already. */
struct lookup *lookup_begin(const char *host);
/* Waits for the addresses until a monotonic time, and frees the look-up. Returns 0, and *ret for freeaddrinfo; or the
 * error for gai_strerror, EAI_AGAIN when the time is over. NULL is like a look-up that gets no answer. */
int lookup_end(struct lookup *l, int64_t until_us, struct addrinfo **ret);
