/* The rules for the fields of a grant. They use the tx's clock, arena and message, and never the store. */
#pragma once
#include "domain/grant.h"

/* The grant that `in` describes. The caller sets its ID and request_id, and the code of a passcode if it is "". Fails
 * with ERR_INVALID_TYPE, ERR_INVALID_UNLOCK. */
enum err grant_rules_create(struct tx *tx, const struct grant_input *in, struct grant *ret) CHECKED;

/* Updates *g from `in`. Fails with ERR_INVALID_UNLOCK; *g is then undefined. */
enum err grant_rules_update(struct tx *tx, const struct grant_input *in, struct grant *g) CHECKED;

/* Sets the uses that are left, and of how many, if they are given; null: unlimited. */
void grant_set_uses(struct val uses, struct grant *g);
