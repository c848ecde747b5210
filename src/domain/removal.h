/* Deletes a linked building, with its number, grants, activity, members and keys (contract, building rule 4). */
#pragma once
#include "domain/tx.h"

/* Deletes a bounded number of the building's grants and log entries. *ret_more: more may be left. */
enum err removal_sweep(struct tx *tx, const struct id *building, bool *ret_more) CHECKED;
/* Deletes the rest and the building, revokes its keys and releases its number. Does nothing if it is deleted. */
enum err removal_finish(struct tx *tx, const struct id *account, const struct id *building) CHECKED;
