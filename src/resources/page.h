/* Pagination, the last member of every paged list (contract, Resources: Pagination). */
#pragma once
#include "base/schema.h"

struct pagination {
    struct val cursor; /* null on the last page */
    struct val has_more;
};
extern const struct shape pagination_shape;

/* `cursor` STR_NONE: the last page. Allocated in the arena. */
struct val pagination_of(struct arena *a, struct str cursor);
