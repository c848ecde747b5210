/* What every paged list ends with (contract, Resources: Pagination). */
#pragma once
#include "base/schema.h"

struct pagination {
    struct val cursor; /* null at the end */
    struct val has_more;
};
extern const struct shape pagination_shape;

/* STR_NONE: this was the last page. In the arena. */
struct val pagination_of(struct arena *a, struct str cursor);
