/* The end of a page of the activity log, as an opaque text that is bound to its building and filters by a MAC. */
#pragma once
#include "domain/activity.h"

struct activity_position {
    int64_t created_us;
    struct id id;
};

struct str activity_cursor_write(struct arena *a, const struct activity_position *at, const struct id *building,
                                 const struct activity_filter *filter);
/* Returns false if the text was not written for this building and these filters. */
bool activity_cursor_read(struct arena *a, struct str text, const struct id *building,
                          const struct activity_filter *filter, struct activity_position *ret);
