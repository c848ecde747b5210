/* Stored times of a clock that was ahead: the one place that knows how far ahead each kind of time can be
 * (tbl/times.def). jobs/clock_guard.h applies all bounds at the start, after a step of the clock and
 * every hour. So no comparison elsewhere needs to allow for such a time. */
#pragma once
#include "domain/tx.h"

#define TIME_BOUND_SLACK_S 60 /* more than the clocks of nodes differ by */

/* Applies the bound of row `row` of the table; *ret_more: there is a next row. *ret_changed counts the rows that held a
 * void time. One row a transaction, so that other writes are not held up. */
enum err time_bound_apply(struct tx *tx, size_t row, bool *ret_more, int64_t *ret_changed) CHECKED;
/* The same for jobs of a kind, which are due at most longest_s ahead. */
enum err time_bound_apply_jobs(struct tx *tx, const char *kind, int64_t longest_s, int64_t *ret_changed) CHECKED;
/* Whether now is more than a day after the hourly job `name` was last dated, or before that: the clock may be wrong, or
 * the service was off. False without such a job. */
enum err time_bound_strange(struct tx *tx, struct str name, bool *ret) CHECKED;
