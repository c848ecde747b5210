/* Where calls come from, for limits: an address, or the /64 of an IPv6 address, while it has any. */
#pragma once
#include <re/re.h>

struct sip_source {
    struct le le; /* in the table */
    struct sa addr;
    unsigned calls;
    unsigned waiting; /* of these, not acknowledged yet: cheap for a liar, dear for us */
};

/* The source of this address, made if need be; NULL without memory. One without calls is to be joined or dropped. */
struct sip_source *sip_source_find(struct hash *table, const struct sa *from);
/* The call is over. Frees the source with the last one. */
void sip_source_leave(struct sip_source *s);
