/* Where calls come from, for limits: a peer with settings of its own, or else an address or the /64 of an IPv6 address.
 * There is one while it has calls. */
#pragma once
#include <re/re.h>

#include "base/config.h"

struct sip_source {
    struct le le;                   /* in the table */
    const struct config_peer *peer; /* NULL: addr is what counts */
    struct sa addr;
    unsigned calls;
    unsigned waiting; /* of these, not acknowledged yet: cheap for a liar, dear for us */
};

/* The source of this address, which the peer (may be NULL) has, made if need be; NULL without memory. One without calls
 * is to be given one, or dropped. */
struct sip_source *sip_source_find(struct hash *table, const struct sa *from, const struct config_peer *peer);
/* The call is over. Frees the source with the last one. */
void sip_source_leave(struct sip_source *s);
