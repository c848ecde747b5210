/* The steps of a building operation: their order, and their record. */
#pragma once
#include "billing/operation.h"

enum step_outcome { STEP_DID, STEP_REFUSED };

/* The step after a step. The same step again means that the provider must be asked again, with another key. */
enum operation_step operation_next(enum operation_step step, enum step_outcome outcome);
bool operation_step_is_end(enum operation_step step);
/* The step with which an operator's decision continues an operation: to complete it, or to undo it. STEP_NONE: it
 * cannot be undone any more, since the building's data is being deleted. */
enum operation_step operation_forward(enum operation_step step);
enum operation_step operation_backward(enum operation_step step);

/* ---- in a transaction; *o is updated with the row ---- */

/* Moves `o` from its step to `next`, which may be an end. The same step is no progress, but gets another key. Fails
 * with ERR_NOT_FOUND if the step of the row has changed since. */
enum err operation_record(struct tx *tx, struct operation *o, enum operation_step next) CHECKED;
/* Moves `o` to `next` by an operator's decision: with new keys, and without progress. Fails as operation_record. */
enum err operation_turn(struct tx *tx, struct operation *o, enum operation_step next) CHECKED;
/* Records progress within the step. Fails as operation_record. */
enum err operation_progress(struct tx *tx, struct operation *o) CHECKED;
/* Stores result_number. */
enum err operation_set_number(struct tx *tx, struct operation *o, struct str number) CHECKED;
/* Inserts the new building. Does nothing if it exists. */
enum err operation_insert_building(struct tx *tx, const struct operation *o) CHECKED;
