/* The rules of a grant's fields, without the store: what a create or an update makes of a grant, or why it cannot. They
 * use the tx's clock, arena and message alone. */
#pragma once
#include "domain/grant.h"

/* The grant that `in` describes; its ID and request are the caller's to fill, and so is the code of a passcode that was
 * given none (code is ""). ERR_INVALID_UNLOCK. */
enum err grant_rules_create(struct tx *tx, const struct grant_input *in, struct grant *ret) CHECKED;

/* Changes *g as `in` says; on failure *g is not to be used. ERR_INVALID_UNLOCK. */
enum err grant_rules_update(struct tx *tx, const struct grant_input *in, struct grant *g) CHECKED;

/* An update must change something. */
bool grant_rules_empty(const struct grant_input *in);
