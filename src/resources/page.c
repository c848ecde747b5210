#include "resources/page.h"

static const struct field pagination_fields[] = {
    FIELD(struct pagination, cursor, T_STRING, .flags = F_REQUIRED | F_NULLABLE,
          .doc = "send it unchanged, with the same building and filters, to get the next page"),
    FIELD(struct pagination, has_more, T_BOOL, .flags = F_REQUIRED, .doc = "true if there is a next page"),
};
const struct shape pagination_shape = SHAPE(struct pagination, "Pagination", pagination_fields);

struct val pagination_of(struct arena *a, struct str cursor)
{
    struct pagination *p = arena_alloc(a, sizeof *p);
    *p = (struct pagination){v_str(cursor), v_bool(cursor.p != NULL)};
    return v_object(p);
}
