#include "resources/grant_body.h"

#include "base/forms.h"
#include "domain/pass.h"
#include "resources/page.h"

/* ---- fields of requests ---- */

#define IN(member, type, ...) FIELD(struct grant_input, member, type, __VA_ARGS__)

/* One macro per field, for two kinds of table: tables that read a body of any type, and tables that document each type.
 * `more` are further flags. */
#define LABEL     IN(label, T_STRING, .max = GRANT_LABEL_MAX, .doc = "default: the type, also if empty")
#define ENABLED   IN(enabled, T_BOOL, .doc = "the on/off switch; new grants start enabled. On a timer, false ends it now")
#define STARTS_AT IN(starts_at, T_TIME, .doc = "default: now; at most 365 days ahead")
#define EXPIRES_IN_MINUTES                                                                                             \
    IN(expires_in_minutes, T_INT, .min = 1, .max = GRANT_MINUTES_MAX,                                                  \
       .doc = "counted from starts_at if it is in the future, else from now")
#define ENDS_AT(more)                                                                                                  \
    IN(ends_at, T_TIME, .flags = (more), .doc = "at most seven days after the start, or after now without a start")
#define REMAINING_USES                                                                                                 \
    IN(remaining_uses, T_INT, .flags = F_NULLABLE, .min = 1, .max = GRANT_USES_MAX,                                    \
       .doc = "number of buzzes; null: unlimited")
#define ACCESS_CODE                                                                                                    \
    IN(access_code, T_STRING, .flags = F_SECRET, CODE_FORM,                                                            \
       .doc = "1 to 4 digits, except the single digit 1; default: four generated digits")
#define VOICE                                                                                                          \
    IN(enter_code_with_voice, T_BOOL,                                                                                  \
       .doc = "true if the code may be spoken; default false. Stored always; spoken digits count only where "          \
              "`speech.understood` of the building's settings is true")
#define SCHEDULE(more)                                                                                                 \
    IN(days, T_STRINGS, .flags = F_LOWER | (more), .min = 1, .max = 7, .values = schedule_day_names,                   \
       .doc =                                                                                                          \
           "names from sunday to saturday, in any case: one day, all five weekdays, both weekend days, or all seven"), \
        IN(start, T_STRING, .flags = (more), TIME_OF_DAY_FORM, .doc = "HH:MM, inclusive; send it together with end"),  \
        IN(end, T_STRING, .flags = (more), TIME_OF_DAY_FORM, .doc = "HH:MM, exclusive, later than start"),             \
        IN(timezone, T_STRING, .flags = F_NONBLANK | (more), .doc = "IANA name, e.g. America/New_York")

/* `required` is listed together with its property, because type generators need both. */
#define NEEDED(field)  "{\"properties\":{\"" field "\":{}},\"required\":[\"" field "\"]}"
#define ONE_END        "\"oneOf\":[" NEEDED("expires_in_minutes") "," NEEDED("ends_at") "]"
#define NOT_TWO_ENDS   "\"not\":{\"required\":[\"expires_in_minutes\",\"ends_at\"]}"
#define START_WITH_END "\"dependentRequired\":{\"start\":[\"end\"],\"end\":[\"start\"]}"

/* ---- creation ---- */

static const struct field create_fields[] = {
    IN(type, T_STRING, .flags = F_REQUIRED | F_TAG, .values = grant_type_names, .error = ERR_INVALID_TYPE),
    LABEL,
    ENABLED,
    STARTS_AT,
    EXPIRES_IN_MINUTES,
    ACCESS_CODE,
    REMAINING_USES,
    VOICE,
    SCHEDULE(0),
    ENDS_AT(0),
};

static const char *const timer_only[] = {"timer", NULL};
static const char *const passcode_only[] = {"passcode", NULL};
static const char *const routine_only[] = {"routine", NULL};
#define TYPE(only) IN(type, T_STRING, .flags = F_REQUIRED | F_CONST, .values = (only))

static const struct field create_timer[] = {TYPE(timer_only),   LABEL,      ENABLED,       STARTS_AT,
                                            EXPIRES_IN_MINUTES, ENDS_AT(0), REMAINING_USES};
static const struct field create_passcode[] = {TYPE(passcode_only), LABEL,      ENABLED,       ACCESS_CODE, VOICE,
                                               EXPIRES_IN_MINUTES,  ENDS_AT(0), REMAINING_USES};
static const struct field create_routine[] = {TYPE(routine_only), LABEL, ENABLED, SCHEDULE(F_REQUIRED)};

static const struct shape create_timer_shape =
    SHAPE(struct grant_input, "UnlockCreateTimer", create_timer, .rules = ONE_END,
          .doc = "opens without a code, from its start to its end; expires_in_minutes or ends_at is required");
static const struct shape create_passcode_shape =
    SHAPE(struct grant_input, "UnlockCreatePasscode", create_passcode, .rules = NOT_TWO_ENDS,
          .doc = "opens with the code; never expires without expires_in_minutes and ends_at");
static const struct shape create_routine_shape =
    SHAPE(struct grant_input, "UnlockCreateRoutine", create_routine, .doc = "opens without a code in a weekly window");
static const struct shape *const creates[] = {&create_timer_shape, &create_passcode_shape, &create_routine_shape, NULL};
const struct shape unlock_create_shape = SHAPE(struct grant_input, "UnlockCreate", create_fields, .variants = creates,
                                               .doc = "the type is required; fields of another type are refused");

/* ---- update ---- */

static const struct field update_fields[] = {
    LABEL, ENABLED, STARTS_AT, EXPIRES_IN_MINUTES, ACCESS_CODE, REMAINING_USES, VOICE, SCHEDULE(0), ENDS_AT(F_NULLABLE),
};

static const struct field update_timer[] = {LABEL, ENABLED, STARTS_AT, EXPIRES_IN_MINUTES, ENDS_AT(0), REMAINING_USES};
static const struct field update_passcode[] = {
    LABEL, ENABLED, ACCESS_CODE, VOICE, EXPIRES_IN_MINUTES, ENDS_AT(F_NULLABLE), REMAINING_USES};
static const struct field update_routine[] = {LABEL, ENABLED, SCHEDULE(0)};

static const struct shape update_timer_shape =
    SHAPE(struct grant_input, "UnlockUpdateTimer", update_timer, .least = 1, .rules = NOT_TWO_ENDS,
          .doc = "enabled=false ends it now; enabled=true needs expires_in_minutes or ends_at");
static const struct shape update_passcode_shape =
    SHAPE(struct grant_input, "UnlockUpdatePasscode", update_passcode, .least = 1, .rules = NOT_TWO_ENDS,
          .doc = "ends_at null: no expiry");
static const struct shape update_routine_shape =
    SHAPE(struct grant_input, "UnlockUpdateRoutine", update_routine, .least = 1, .rules = START_WITH_END);
static const struct shape *const updates[] = {&update_timer_shape, &update_passcode_shape, &update_routine_shape, NULL};
const struct shape unlock_update_shape =
    SHAPE(struct grant_input, "UnlockUpdate", update_fields, .variants = updates,
          .doc = "fields of the grant's type, which cannot change; omitted fields stay unchanged");

/* ---- lists ---- */

static const char *const listed_statuses[] = {"active", "scheduled", "inactive", "expired", "exhausted", NULL};

#define FILTER(member, type, ...) FIELD(struct grant_filter, member, type, __VA_ARGS__)
static const struct field query_fields[] = {
    FILTER(enabled, T_BOOL, .error = ERR_INVALID_FILTER, .doc = "the on/off switch"),
    FILTER(status, T_STRING, .values = listed_statuses, .error = ERR_INVALID_FILTER, .doc = "current status"),
    FILTER(type, T_STRING, .values = grant_type_names, .error = ERR_INVALID_TYPE, .doc = "only grants of this type"),
    FILTER(limit, T_INT, .min = 1, .max = GRANT_PAGE_MAX, .error = ERR_INVALID_LIMIT, .doc = "default 50"),
    FILTER(cursor, T_ID, .error = ERR_INVALID_CURSOR, .doc = "pagination.cursor of the previous page"),
};
const struct shape unlock_query_shape = SHAPE(struct grant_filter, "UnlockQuery", query_fields);

/* ---- replies ---- */

static const struct field window_fields[] = {
    FIELD(struct pass_window, days, T_STRINGS, .flags = F_REQUIRED | F_LOWER, .min = 1, .max = 7,
          .values = schedule_day_names, .doc = "names from sunday to saturday: the days on which it begins"),
    FIELD(struct pass_window, start, T_STRING, .flags = F_REQUIRED, TIME_OF_DAY_FORM, .doc = "HH:MM, inclusive"),
    FIELD(struct pass_window, end, T_STRING, .flags = F_REQUIRED, TIME_OF_DAY_FORM,
          .doc = "HH:MM, exclusive; on the next day, if it is not later than start"),
};
const struct shape pass_window_shape = SHAPE(struct pass_window, "PassWindow", window_fields);

#define CALENDAR(member, type, ...) FIELD(struct pass_calendar, member, type, __VA_ARGS__)
static const struct field calendar_fields[] = {
    CALENDAR(from, T_TIME, .flags = F_REQUIRED | F_NULLABLE, .doc = "null: from its creation on"),
    CALENDAR(until, T_TIME, .flags = F_REQUIRED | F_NULLABLE, .doc = "null: no end"),
    CALENDAR(windows, T_OBJECTS, .flags = F_REQUIRED, .sub = &pass_window_shape, .doc = "empty: at any time"),
    CALENDAR(timezone, T_STRING, .flags = F_REQUIRED, .doc = "IANA name, of the windows"),
    CALENDAR(next_opening, T_TIME, .flags = F_REQUIRED | F_NULLABLE,
             .doc = "when it opens next, without a change; the time of the reply: it opens now; null: never"),
    CALENDAR(note, T_STRING, .flags = F_REQUIRED | F_NULLABLE, .doc = "for the resident alone"),
};
static const struct shape calendar_shape =
    SHAPE(struct pass_calendar, "PassCalendar", calendar_fields, .doc = "of a pass, which only opens at these times");

#define OUT(member, type, ...) FIELD(struct unlock, member, type, __VA_ARGS__)
static const struct field unlock_fields[] = {
    OUT(building_id, T_ID, .flags = F_REQUIRED),
    OUT(id, T_ID, .flags = F_REQUIRED),
    OUT(type, T_STRING, .flags = F_REQUIRED, .values = grant_type_names),
    OUT(label, T_STRING, .flags = F_REQUIRED, .doc = "the resident's name for it, shown in the log"),
    OUT(enabled, T_BOOL, .flags = F_REQUIRED, .doc = "the on/off switch; for a routine independent of its window"),
    OUT(version, T_INT, .flags = F_REQUIRED, .doc = "number of edits, from 0; its quoted form is the ETag"),
    OUT(status, T_STRING, .flags = F_REQUIRED, .values = grant_status_names,
        .doc = "current status: derived when read, never stored"),
    OUT(request_id, T_STRING, .doc = "the Idempotency-Key that created it"),
    OUT(created_by, T_ID, .doc = "the key that created it; absent: not known"),
    OUT(created_by_name, T_STRING, .doc = "the member of the building who created it; absent: the owner, or not known"),
    OUT(created_at, T_TIME, .flags = F_REQUIRED),
    OUT(updated_at, T_TIME, .doc = "time of the last edit"),
    OUT(starts_at, T_TIME, .doc = "timer"),
    OUT(ends_at, T_TIME, .doc = "timer, passcode: end of the window or expiry"),
    OUT(access_code, T_STRING, .flags = F_SECRET, .doc = "passcode: the visitor code"),
    OUT(remaining_uses, T_INT, .flags = F_NULLABLE, .doc = "timer, passcode: null means unlimited"),
    OUT(enter_code_with_voice, T_BOOL, .doc = "passcode"),
    OUT(days, T_STRINGS, .values = schedule_day_names, .doc = "routine: in week order from sunday"),
    OUT(start, T_STRING, .doc = "routine: HH:MM"),
    OUT(end, T_STRING, .doc = "routine: HH:MM"),
    OUT(timezone, T_STRING, .doc = "routine: IANA name"),
    OUT(pass, T_OBJECT, .sub = &calendar_shape,
        .doc = "a pass: it opens only at these times, and is changed by /v1/passes. It has the type that is nearest to "
               "it"),
    OUT(codes_left, T_INT,
        .doc = "of createPass, if fewer than 500 are left: the four-digit codes that no grant of the building has"),
};
const struct shape unlock_shape = SHAPE(struct unlock, "Unlock", unlock_fields);

struct unlock_page {
    struct val data, pagination;
};
static const struct field page_fields[] = {
    FIELD(struct unlock_page, data, T_OBJECTS, .flags = F_REQUIRED, .sub = &unlock_shape),
    FIELD(struct unlock_page, pagination, T_OBJECT, .flags = F_REQUIRED, .sub = &pagination_shape),
};
const struct shape unlock_page_shape = SHAPE(struct unlock_page, "UnlockPage", page_fields);

struct unlock_revoked {
    struct val id, deleted, status;
};
static const char *const revoked_only[] = {"revoked", NULL};
static const struct field revoked_fields[] = {
    FIELD(struct unlock_revoked, id, T_ID, .flags = F_REQUIRED),
    FIELD(struct unlock_revoked, deleted, T_BOOL, .flags = F_REQUIRED | F_CONST),
    FIELD(struct unlock_revoked, status, T_STRING, .flags = F_REQUIRED | F_CONST, .values = revoked_only),
};
const struct shape unlock_revoked_shape = SHAPE(struct unlock_revoked, "UnlockRevoked", revoked_fields);

static struct val text(const char *z)
{
    return v_str(str_z(z));
}

static struct val minute_text(struct arena *a, int minute)
{
    char *p = arena_alloc(a, SCHEDULE_MINUTE_TEXT_MAX);
    schedule_minute_format(minute, p);
    return v_str(str_n(p, SCHEDULE_MINUTE_TEXT_MAX - 1));
}

static struct pass_window window_body(struct arena *a, const struct window *w)
{
    struct val *names = arena_array(a, struct val, 7);
    size_t n = 0;
    for (int i = 0; schedule_day_names[i]; i++)
        if (w->days & 1u << i)
            names[n++] = text(schedule_day_names[i]);
    return (struct pass_window){v_list(names, n), minute_text(a, w->start_minute), minute_text(a, w->end_minute)};
}

struct val pass_windows(struct arena *a, const struct schedule *s)
{
    struct pass_window *list = arena_array(a, struct pass_window, s->count + 1);
    for (size_t i = 0; i < s->count; i++)
        list[i] = window_body(a, &s->windows[i]);
    return v_list(list, s->count);
}

/* A pass may have windows that no routine can have. */
static void put_schedule(struct arena *a, const struct schedule *s, struct unlock *u)
{
    u->timezone = v_str(s->timezone);
    if (s->count != 1 || s->windows[0].end_minute <= s->windows[0].start_minute)
        return;
    const struct pass_window w = window_body(a, &s->windows[0]);
    u->days = w.days;
    u->start = w.start;
    u->end = w.end;
}

static void put_uses(const struct grant *g, struct unlock *u)
{
    u->remaining_uses = g->remaining_uses == GRANT_UNLIMITED ? v_null() : v_int(g->remaining_uses);
    if (g->ends_us != GRANT_NO_END)
        u->ends_at = v_time(g->ends_us);
}

static void put_calendar(struct tx *tx, const struct grant *g, struct unlock *u)
{
    struct pass_calendar *c = arena_new(tx->arena, struct pass_calendar);
    int64_t next_us = 0;
    *c = (struct pass_calendar){
        .from = v_time_or_null(g->starts_us),
        .until = g->ends_us == GRANT_NO_END ? v_null() : v_time(g->ends_us),
        .windows = pass_windows(tx->arena, &g->schedule),
        .timezone = v_str(g->schedule.timezone),
        .next_opening = grant_opens_next(g, tx->now_us, &next_us) ? v_time(next_us) : v_null(),
        .note = v_str(g->note),
    };
    u->pass = v_object(c);
    put_uses(g, u); /* also of the nearest routine, which has none */
    if (g->few_codes)
        u->codes_left = v_int(g->codes_left);
}

void unlock_fill(struct tx *tx, const struct id *building, const struct grant *g, struct unlock *ret)
{
    *ret = (struct unlock){
        .building_id = v_str(str_n(building->text, ID_LEN)),
        .id = v_str(str_n(g->id.text, ID_LEN)),
        .type = text(grant_type_names[g->type]),
        .label = v_str(g->label),
        .enabled = v_bool(g->enabled),
        .version = v_int(g->version),
        .status = text(grant_status_names[grant_status(g, tx->now_us)]),
        .created_at = v_time(g->created_us),
    };
    if (g->request_id.p)
        ret->request_id = v_str(g->request_id);
    if (id_given(&g->created_by))
        ret->created_by = v_str(str_n(g->created_by.text, ID_LEN));
    if (g->maker.p)
        ret->created_by_name = v_str(g->maker);
    if (g->updated_us)
        ret->updated_at = v_time(g->updated_us);
    switch (g->type) {
    case GRANT_TIMER:
        if (g->starts_us)
            ret->starts_at = v_time(g->starts_us);
        put_uses(g, ret);
        break;
    case GRANT_PASSCODE:
        if (g->code[0])
            ret->access_code = v_str(str_n(g->code, strlen(g->code)));
        ret->enter_code_with_voice = v_bool(g->voice);
        put_uses(g, ret);
        break;
    case GRANT_ROUTINE:
        put_schedule(tx->arena, &g->schedule, ret);
        break;
    }
    if (g->pass)
        put_calendar(tx, g, ret);
}

const void *unlock_body(struct tx *tx, const struct id *building, const struct grant *g)
{
    struct unlock *u = arena_alloc(tx->arena, sizeof *u);
    unlock_fill(tx, building, g, u);
    return u;
}

const void *unlock_page_body(struct tx *tx, const struct id *building, const struct grant_page *page)
{
    struct unlock *items = arena_alloc(tx->arena, page->count * sizeof *items);
    for (size_t i = 0; i < page->count; i++)
        unlock_fill(tx, building, &page->items[i], &items[i]);
    struct unlock_page *body = arena_alloc(tx->arena, sizeof *body);
    body->data = v_list(items, page->count);
    body->pagination = pagination_of(tx->arena, page->more ? arena_str(tx->arena, id_str(&page->end)) : STR_NONE);
    return body;
}

const void *unlock_revoked_body(struct tx *tx, const struct id *id)
{
    struct unlock_revoked *body = arena_alloc(tx->arena, sizeof *body);
    *body = (struct unlock_revoked){v_str(arena_str(tx->arena, id_str(id))), v_bool(true), text("revoked")};
    return body;
}
