/* The source of calls, for limits: a peer with settings, otherwise an IPv4 address or the /64 of an IPv6 address. It
 * exists while it has calls. The last PROVEN_MAX that have acknowledged a call are kept longer. */
#pragma once
#include <re/re.h>

#include "base/config.h"

struct sip_sources {
    struct hash *table; /* sip_source by address, or by the name of its peer */
    struct list idle;   /* those without calls, the last ones at the end */
};

struct sip_source {
    struct le le;                   /* in the table */
    struct le idle;                 /* in sip_sources */
    const struct config_peer *peer; /* NULL: the source is addr */
    struct sa addr;
    unsigned calls;
    unsigned unproven; /* calls that nobody acknowledged yet: sip_admit_begin() */
    bool proven;       /* has acknowledged a call, so somebody is there */
};

/* Returns 0 or errno. */
int sip_sources_init(struct sip_sources *all);
void sip_sources_done(struct sip_sources *all);
/* The source of this address, which belongs to the peer (may be NULL). NULL: it has no calls, and is not known. */
struct sip_source *sip_source_find(const struct sip_sources *all, const struct sa *from,
                                   const struct config_peer *peer);
/* The same for a call that begins, which sip_source_leave() must end. NULL if memory is short. */
struct sip_source *sip_source_enter(struct sip_sources *all, const struct sa *from, const struct config_peer *peer);
/* A call of the source has ended. May free the source. */
void sip_source_leave(struct sip_sources *all, struct sip_source *s);
