/* The source of calls, for limits: a peer with settings, otherwise an IPv4 address or the /64 of an IPv6 address. It
 * exists while it has calls. */
#pragma once
#include <re/re.h>

#include "base/config.h"

struct sip_source {
    struct le le;                   /* in the table */
    const struct config_peer *peer; /* NULL: the source is addr */
    struct sa addr;
    unsigned calls;
    unsigned waiting; /* of these, not acknowledged yet */
    unsigned ringing; /* of these, kept while they ring (sip_admit_ringing) */
};

/* Finds or makes the source of this address, which belongs to the peer (may be NULL). NULL if memory is short. The
 * caller must add a call to a source without calls, or deref it. */
struct sip_source *sip_source_find(struct hash *table, const struct sa *from, const struct config_peer *peer);
/* A call of the source has ended. The last one frees the source. */
void sip_source_leave(struct sip_source *s);
