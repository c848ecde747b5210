/* Access grants as JSON: request and reply bodies. */
#pragma once
#include "base/schema.h"
#include "domain/grant.h"

/* struct grant_input */
extern const struct shape unlock_create_shape;
extern const struct shape unlock_update_shape;
/* struct grant_filter */
extern const struct shape unlock_query_shape;

struct unlock {
    struct val building_id, id, type, label, enabled, version, status, request_id, created_by, created_by_name,
        created_at, updated_at;
    struct val starts_at, ends_at, access_code, remaining_uses, enter_code_with_voice;
    struct val days, start, end, timezone;
    struct val pass, codes_left;
};
extern const struct shape unlock_shape; /* struct unlock */
extern const struct shape unlock_page_shape;
extern const struct shape unlock_revoked_shape;

/* Bodies of the last three shapes, in the arena. The status of a grant is computed for tx->now_us. */
const void *unlock_body(struct tx *tx, const struct id *building, const struct grant *g);
const void *unlock_page_body(struct tx *tx, const struct id *building, const struct grant_page *page);
const void *unlock_revoked_body(struct tx *tx, const struct id *id);

/* The calendar of a pass, as a member of a grant. */
struct pass_calendar {
    struct val from, until, windows, timezone, next_opening, note;
};
extern const struct shape pass_window_shape; /* struct pass_window */
/* struct pass_input; of resources/pass.c */
extern const struct shape pass_create_shape;
extern const struct shape pass_update_shape;
struct val pass_windows(struct arena *a, const struct schedule *s);

/* The values of a grant. Borrows g and building, which must not move while the body is in use. */
void unlock_fill(struct tx *tx, const struct id *building, const struct grant *g, struct unlock *ret);
