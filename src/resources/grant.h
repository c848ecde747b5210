/* Parts of the handlers of grants that both revisions of the interface have. */
#pragma once
#include "api/route.h"
#include "domain/grant.h"

/* The building of a request, borrowed from it. */
struct grant_place grant_place_of(const struct request *q);
/* For a creation's row. */
enum err grant_receipt(struct request *q) CHECKED;
/* Of a struct grant_filter: an unfiltered page is one range of an index; a filter may scan many rows. */
bool grant_filters(const void *query);
