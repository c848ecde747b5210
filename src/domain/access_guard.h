/* The guard against guessing door codes (CALL-1 to CALL-5).
 *
 * The callers of a building form two groups, each with its own count of wrong codes. Known callers are numbers that
 * have released this door before; strangers are all other callers, including those without a number. So a stranger who
 * guesses codes does not close the keypad to the call box. A caller ID can be forged: a forged known number shares the
 * tries of the known callers.
 *
 * Five wrong codes of a group within ten minutes close the keypad to the group: for 10 minutes, then 20, 40, 80, 160,
 * and 320 from then on. So does each from the 12th within a day on, for 80 minutes at least. After a day without a
 * wrong code of the group, it starts again with 10. At the 10th within a day the owner is told. Ten of them spoken:
 * until there are fewer within a day, only keys count. So a group has at most 17 guesses within any 24 hours: 12, then
 * one after each of 80, 160, 320, 320 and 320 minutes. */
#pragma once
#include "domain/tx.h"

#define GUARD_FAILURES    5
#define GUARD_WINDOW_S    600
#define GUARD_CLOSED_S    600 /* the first closing */
#define GUARD_DOUBLINGS   5
#define GUARD_DAY_FROM    3 /* doublings of the first closing by the count of a day */
#define GUARD_DAY_S       86400
#define GUARD_DAY_TOLD    10 /* wrong codes within a day, of which the owner is told */
#define GUARD_DAY_CLOSED  12 /* each from this one on closes the keypad */
#define GUARD_DAY_SPOKEN  10 /* of them spoken: then only keys count */
#define GUARD_DAY_MAX     40 /* recorded of a day; the closings leave time for fewer */
#define GUARD_RESET_S     86400
#define GUARD_CALLERS_MAX 200         /* known callers of a building; the least recent one is evicted */
#define GUARD_KEPT_S      (2 * 86400) /* the state of a group, after its last wrong code */

struct guard_failure {
    int64_t at_s;
    bool spoken;
};

/* The facts about one caller, and the state of the caller's group. */
struct guard {
    struct str caller;                     /* a telephone number; STR_NONE: withheld or invalid */
    int64_t released_us;                   /* last release by this number, to the hour; 0: never */
    int64_t failed_us[GUARD_FAILURES - 1]; /* the last wrong codes of the group, newest first; 0: not so many */
    int64_t closed_until_us;
    int64_t closings; /* since the last day without a wrong code of the group */
    int64_t mailed_us;
    struct guard_failure day[GUARD_DAY_MAX]; /* the wrong codes of the group within a day, newest first */
    size_t day_count;
};

/* The effect of a wrong code on the keypad. */
struct guard_closing {
    int64_t minutes; /* closed for so long; 0: it stays open */
    int64_t closings;
    bool known;       /* closed to known callers, else to strangers */
    bool speech;      /* spoken codes do not count any more */
    size_t day_count; /* wrong codes within a day */
};

/* Returns `from` if it is a telephone number: 2 to 15 digits, with or without a "+". Returns STR_NONE for anything else
 * that the network may send, and for the numbers that carriers send in place of a withheld one. Does not copy. */
struct str guard_caller(struct str from);
/* The guard in the row of a door. */
struct guard guard_read(const struct row_door *r, struct str caller);
bool guard_closed(const struct guard *g, int64_t now_us);
/* Spoken codes do not count. */
bool guard_speech_closed(const struct guard *g, int64_t now_us);
/* The effect that a wrong code of this caller would have. */
struct guard_closing guard_next_closing(const struct guard *g, bool spoken, int64_t now_us);

/* Counts a wrong code of the caller and writes *g. The first closing in a day, or the 10th wrong code, queues an e-mail
 * to the owner. */
enum err guard_fail(struct tx *tx, struct guard *g, bool spoken, const struct id *account, const struct id *building,
                    struct str label, struct guard_closing *ret) CHECKED;
/* Makes the caller a known caller, after a release. */
enum err guard_released(struct tx *tx, const struct guard *g, const struct id *building) CHECKED;

/* Delete at most `limit` groups, or known callers, that have not changed since before_us. */
enum err guard_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count) CHECKED;
enum err guard_purge_callers(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count) CHECKED;
