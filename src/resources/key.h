/* Parts of the handlers of keys that both revisions of the interface have. */
#pragma once
#include "api/route.h"

struct key_request {
    struct val name, scopes, expires_in_days;
};
/* The fields of a request for a key whose scopes are among `texts`. */
#define KEY_REQUEST_FIELDS(texts, max_scopes, standard)                                                                \
    FIELD(struct key_request, name, T_STRING, .flags = F_TRIM | F_NONBLANK, .max = KEY_NAME_MAX,                       \
          .doc = "default: Delivery agent"),                                                                           \
        FIELD(struct key_request, scopes, T_STRINGS, .min = 1, .max = (max_scopes), .values = (texts),                 \
              .doc = "default: " standard ". keys:write cannot be issued"),                                            \
        FIELD(struct key_request, expires_in_days, T_INT, .min = 1, .max = KEY_DAYS_MAX, .doc = "default: 30")

extern const struct shape agent_credential_shape;

/* Creates an agent key. The row's handler_data is a struct key_scope_rules. */
enum err key_post(struct request *q, struct reply *p) CHECKED;
