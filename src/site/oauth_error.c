#include "site/oauth_error.h"

struct oauth_error {
    struct val error, error_description;
};
static const struct field error_fields[] = {
    FIELD(struct oauth_error, error, T_STRING, .flags = F_REQUIRED),
    FIELD(struct oauth_error, error_description, T_STRING),
};
static const struct shape error_shape = SHAPE(struct oauth_error, "OAuthError", error_fields);

enum err oauth_refuse(struct request *q, struct reply *p, const char *error, const char *why)
{
    struct oauth_error *r = arena_new(q->tx.arena, struct oauth_error);
    r->error = v_str(str_z(error));
    if (why)
        r->error_description = v_str(arena_str(q->tx.arena, str_z(why)));
    return reply_ok(p, 400, &error_shape, r);
}
