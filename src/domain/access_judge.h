/* The decision about a call without its records: domain/access.h writes them, domain/access_explain.h does not. */
#pragma once
#include "domain/access_door.h"

/* Steps 1 to 5, as access_arrive(), for a door that exists. *ret_grant is the grant of a release. */
enum err judge_arrival(struct tx *tx, const struct door *door, struct str from, struct access_decision *ret,
                       const struct usable **ret_grant) CHECKED;
/* Steps 6 and 7, as access_code(). */
enum err judge_code(struct tx *tx, const struct door *door, struct str digits, enum access_way way,
                    struct access_decision *ret, const struct usable **ret_grant) CHECKED;
