/* Passes: grants with a calendar of their own (docs/behaviour/passes.md). A pass is a grant to every function of
 * domain/grant.h; the functions here set its calendar. All fail as the functions of grants do. */
#pragma once
#include "domain/grant.h"

#define PASS_CODE_MIN 4
#define PASS_NOTE_MAX 500
#define PASS_DAYS_MAX 366 /* until its start, and its end */

struct pass_window {
    struct val days, start, end;
};

/* The input of a creation or an update; the field table of resources/pass.c has checked single fields. An absent member
 * takes its default, or stays unchanged; null in `from`, `until` and `windows` means always. */
struct pass_input {
    struct val label;
    struct val enabled;
    struct val code; /* of a creation: false for an open door */
    struct val access_code;
    struct val from, until; /* str: a date and time, in the pass's zone if it has no offset */
    struct val windows;     /* list of struct pass_window */
    struct val timezone;    /* default: the building's */
    struct val remaining_uses;
    struct val enter_code_with_voice;
    struct val note;
};

/* The rules of a creation in a building with this zone (STR_NONE: it has none), and of a change: they never use the
 * store. The creation's code is "" if it is to be generated. Fail with ERR_INVALID_UNLOCK; *g is then undefined. */
enum err pass_rules_create(struct tx *tx, struct str zone, const struct pass_input *in, struct grant *ret) CHECKED;
enum err pass_rules_update(struct tx *tx, const struct pass_input *in, struct grant *g) CHECKED;

/* *ret also tells whether few four-digit codes are left. */
enum err pass_create(struct tx *tx, const struct grant_place *place, const struct pass_input *in,
                     const struct grant_request *request, struct grant *ret, bool *ret_replayed) CHECKED;
/* Fails with ERR_NOT_FOUND also for another grant. */
enum err pass_get(struct tx *tx, const struct grant_place *place, const struct id *id, struct grant *ret) CHECKED;
enum err pass_update(struct tx *tx, const struct grant_place *place, const struct id *id, int64_t version,
                     const struct pass_input *in, struct grant *ret) CHECKED;
