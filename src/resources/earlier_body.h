/* Access grants in the earlier revision's names. */
#pragma once
#include "base/schema.h"
#include "domain/grant.h"

/* For the functions below. */
extern const struct shape earlier_create_shape;
extern const struct shape earlier_update_shape;
/* struct grant_filter */
extern const struct shape earlier_query_shape;

extern const struct shape earlier_unlock_shape;
extern const struct shape earlier_page_shape;

/* The grant that a read body describes, with the earlier revision's defaults. Fails with ERR_INVALID_UNLOCK. */
enum err earlier_create_input(struct tx *tx, const void *body, struct grant_input *ret) CHECKED;

/* The change that a read body describes. */
struct grant_input earlier_update_input(const void *body);
/* Whether the body's minutes fit this type: the change must else be refused. Fails with ERR_INVALID_UNLOCK. */
enum err earlier_check_minutes(struct tx *tx, const void *body, enum grant_type type) CHECKED;

/* Puts the earlier names into tx->why, a message of the rules. */
void earlier_why(struct tx *tx);

/* Bodies of the last two shapes, in the arena, for tx->now_us. They borrow building and the grants. */
const void *earlier_unlock_body(struct tx *tx, const struct id *building, const struct grant *g);
const void *earlier_page_body(struct tx *tx, const struct id *building, const struct grant_page *page);
