/* One rule, or several, in one transaction, for threads that may block: jobs, the operator's commands, tests. */
#pragma once
#include "domain/op.h"

/* Runs `run` with an op of its own and waits for the commit. `run` may be run more than once (see store.h); results go
 * to the arena. ret_op (may be NULL) takes the op of the last run: its message. */
enum err op_transact(struct store *store, const struct config *config, enum store_mode mode, struct arena *arena,
                     enum err (*run)(struct op *op, void *arg), void *arg, struct op *ret_op) CHECKED;
