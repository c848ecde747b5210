/* The label of a grant in the log, the visits and the feed of its door, which follow a change. */
#pragma once
#include "domain/tx.h"

#define JOB_LABEL "label" /* its payload: the IDs of building and grant, separated by a space */

/* Queues the job. */
enum err grant_label_changed(struct tx *tx, const struct id *building, const struct id *grant) CHECKED;
/* Gives at most `limit` entries and visits of the grant its label, and the feed with the last of them. *ret_more: there
 * may be more. */
enum err grant_label_spread(struct tx *tx, const struct id *building, const struct id *grant, struct str label,
                            int64_t limit, bool *ret_more) CHECKED;
