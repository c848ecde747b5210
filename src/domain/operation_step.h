/* The course of a building operation: which step follows which, and how each is put on record. */
#pragma once
#include "domain/operation.h"

enum step_outcome { STEP_DID, STEP_REFUSED };

/* What comes after a step. The same step again: it has to be asked anew, with another key, as there is no way around.
 */
enum operation_step operation_next(enum operation_step step, enum step_outcome outcome);
bool operation_step_is_end(enum operation_step step);
/* Where an operator's decision takes up an operation: the step that goes on, or that begins to undo. STEP_NONE: there
 * is no way back, as the building's data is being deleted. */
enum operation_step operation_forward(enum operation_step step);
enum operation_step operation_backward(enum operation_step step);

/* ---- within a transaction; *o follows what is recorded ---- */

/* `o` goes from its step to `next`, or ends with it; the same step is no progress, but gets another key.
 * ERR_NOT_FOUND: it stands somewhere else by now. */
enum err operation_record(struct tx *tx, struct operation *o, enum operation_step next) CHECKED;
/* `o` turns to `next` by the operator's decision: with keys of its own, and without progress. */
enum err operation_turn(struct tx *tx, struct operation *o, enum operation_step next) CHECKED;
/* There was progress within the step. */
enum err operation_progress(struct tx *tx, struct operation *o) CHECKED;
/* Keeps the number that was got or given back. */
enum err operation_set_number(struct tx *tx, struct operation *o, struct str number) CHECKED;
/* The new building's row; nothing happens if it is there. */
enum err operation_insert_building(struct tx *tx, const struct operation *o) CHECKED;
