/* The building that a command means when none is named. */
#pragma once
#include "base/id.h"
#include "client/remote.h"

/* The account's only building. Returns EXIT_DONE, or another exit status after writing the error: the account has
 * several, or they cannot be read. */
int remote_only_building(const struct remote *r, struct arena *a, struct id *ret);

/* A building of the account; the label is in the arena. */
struct remote_building {
    struct id id;
    struct str label;
};
/* All buildings of the account, in the arena, `max` at most. */
int remote_buildings(const struct remote *r, struct arena *a, size_t max, struct remote_building *ret,
                     size_t *ret_count);
