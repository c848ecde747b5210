/* What goes with a linked building: its number, grants, activity, members and keys (contract, building rule 4). */
#pragma once
#include "domain/tx.h"

/* Deletes a part of the building's grants and activity: a bounded number of rows; *ret_more: there are more. */
enum err removal_sweep(struct tx *tx, const struct id *building, bool *ret_more) CHECKED;
/* Deletes the rest and the building; its keys are revoked and its number is released. Nothing happens if it is gone. */
enum err removal_finish(struct tx *tx, const struct id *account, const struct id *building) CHECKED;
