/* The guard against guessing door codes (decisions, section 11, "guessing codes").
 *
 * The callers of a building are two groups, each with its own count of wrong codes: known callers, whose number has
 * released this building's door before, and strangers, who are all others and those without a number. So a stranger who
 * guesses does not close the keypad to the call box. A caller ID can be forged: a forged known number gets the tries of
 * the known group and no more.
 *
 * Five wrong codes of a group within any ten minutes close the keypad to it: for 10 minutes, then 20, 40, 80, 160, and
 * 320 from then on. A day without a wrong code of the group begins again with 10. */
#pragma once
#include "domain/tx.h"

#define GUARD_FAILURES    5
#define GUARD_WINDOW_S    600
#define GUARD_CLOSED_S    600 /* the first time */
#define GUARD_DOUBLINGS   5
#define GUARD_RESET_S     86400
#define GUARD_CALLERS_MAX 200           /* known callers of a building: those that released last */
#define GUARD_KEPT_S      (2 * 86400)   /* the state of a group, after its last wrong code: longer than it matters */
#define CALLERS_KEPT_S    (365 * 86400) /* a known caller, after the last release */

enum { GUARD_COLUMNS = 8 };

/* The facts about one caller, and the state of the caller's group. */
struct guard {
    struct str caller;                     /* a telephone number; STR_NONE: withheld, or not one */
    int64_t released_us;                   /* when that number last released the door, to the hour; 0: never */
    int64_t failed_us[GUARD_FAILURES - 1]; /* the group's last wrong codes, newest first; 0: none */
    int64_t closed_until_us;
    int64_t closings; /* since the last day without a wrong code */
    int64_t mailed_us;
};

/* A keypad that was closed. */
struct guard_closing {
    int64_t minutes; /* 0: it was not */
    int64_t closings;
    bool known; /* to known callers, else to strangers */
};

/* The number of a caller, which may be anything that the network gave: STR_NONE unless it is 2 to 15 digits, with or
 * without a "+", or if it stands for a withheld number. Not copied. */
struct str guard_caller(struct str from);
/* The guard in the columns {door} of the cursor's row. */
struct guard guard_read(const struct cursor *c, struct str caller);
bool guard_closed(const struct guard *g, int64_t now_us);

/* A wrong code of the caller; g->closed_until_us and *ret say whether it closed the keypad. The first closing of a day
 * queues an e-mail to the owner. */
enum err guard_fail(struct tx *tx, struct guard *g, const struct id *account, const struct id *building,
                    struct str label, struct guard_closing *ret) CHECKED;
/* The caller's call released the door: a known caller from now on. */
enum err guard_released(struct tx *tx, const struct guard *g, const struct id *building) CHECKED;

/* Deletes what has not changed since `before_us`, `limit` rows at most. */
enum err guard_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count) CHECKED;
enum err guard_purge_callers(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count) CHECKED;
