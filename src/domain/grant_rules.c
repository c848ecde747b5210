#include "domain/grant_rules.h"

#define MINUTE_US    (60 * US_PER_S)
#define WEEK_US      (GRANT_MINUTES_MAX * MINUTE_US)
#define START_MAX_US (365 * 24 * 60 * MINUTE_US)

const char *const grant_type_names[] = {"timer", "passcode", "routine", NULL};
const char *const grant_status_names[] = {"active", "scheduled", "inactive", "expired", "exhausted", "revoked", NULL};

enum grant_status grant_status(const struct grant *g, int64_t now_us)
{
    if (g->revoked)
        return GRANT_REVOKED;
    if (!g->enabled)
        return GRANT_INACTIVE;
    if (g->remaining_uses == 0)
        return GRANT_EXHAUSTED;
    if (g->ends_us <= now_us)
        return GRANT_EXPIRED;
    return g->starts_us > now_us ? GRANT_SCHEDULED : GRANT_ACTIVE;
}

bool grant_opens(const struct grant *g, int64_t at_us)
{
    return grant_status(g, at_us) == GRANT_ACTIVE && schedule_contains(&g->schedule, at_us);
}

bool grant_opens_next(const struct grant *g, int64_t now_us, int64_t *ret_us)
{
    int64_t at_us = g->starts_us > now_us ? g->starts_us : now_us;
    if (!schedule_next(&g->schedule, at_us, &at_us) || grant_status(g, at_us) != GRANT_ACTIVE)
        return false;
    *ret_us = at_us;
    return true;
}

static enum err grant_invalid(struct tx *tx, const char *why)
{
    return tx_fail(tx, ERR_INVALID_UNLOCK, why);
}

/* ---- which field belongs to which type ---- */

#define OF(type) (1u << (type))

static const struct {
    const char *name;
    size_t offset;
    unsigned types;
} special_fields[] = {
#define SPECIAL(member, types)                                                                                         \
    {                                                                                                                  \
#member, offsetof(struct grant_input, member), (types)                                                         \
    }
    SPECIAL(starts_at, OF(GRANT_TIMER)),
    SPECIAL(expires_in_minutes, OF(GRANT_TIMER) | OF(GRANT_PASSCODE)),
    SPECIAL(ends_at, OF(GRANT_TIMER) | OF(GRANT_PASSCODE)),
    SPECIAL(remaining_uses, OF(GRANT_TIMER) | OF(GRANT_PASSCODE)),
    SPECIAL(access_code, OF(GRANT_PASSCODE)),
    SPECIAL(enter_code_with_voice, OF(GRANT_PASSCODE)),
    SPECIAL(days, OF(GRANT_ROUTINE)),
    SPECIAL(start, OF(GRANT_ROUTINE)),
    SPECIAL(end, OF(GRANT_ROUTINE)),
    SPECIAL(timezone, OF(GRANT_ROUTINE)),
#undef SPECIAL
};

static enum err check_fields(struct tx *tx, const struct grant_input *in, enum grant_type type)
{
    for (size_t i = 0; i < sizeof special_fields / sizeof *special_fields; i++) {
        const struct val *v = (const struct val *)((const char *)in + special_fields[i].offset);
        if (!v_given(*v) || special_fields[i].types & OF(type))
            continue;
        tx->why = arena_printf(tx->arena, "%s is not a field of a %s", special_fields[i].name, grant_type_names[type]);
        return ERR_INVALID_UNLOCK;
    }
    return ERR_NONE;
}

/* ---- fields of several types ---- */

static void set_label(const struct grant_input *in, struct grant *g)
{
    if (v_given(in->label))
        g->label = in->label.s;
    if (g->label.n == 0)
        g->label = str_z(grant_type_names[g->type]);
}

void grant_set_uses(struct val uses, struct grant *g)
{
    if (v_given(uses))
        g->max_uses = g->remaining_uses = v_set(uses) ? (int)uses.i : GRANT_UNLIMITED;
}

static bool has_end(const struct grant_input *in)
{
    return v_given(in->expires_in_minutes) || v_given(in->ends_at);
}

static enum err check_one_end(struct tx *tx, const struct grant_input *in)
{
    if (v_given(in->expires_in_minutes) && v_given(in->ends_at))
        return grant_invalid(tx, "expires_in_minutes and ends_at cannot be given together");
    return ERR_NONE;
}

/* The requested end; minutes count from from_us. */
static int64_t end_of(const struct grant_input *in, int64_t from_us)
{
    return v_given(in->ends_at) ? in->ends_at.i : from_us + in->expires_in_minutes.i * MINUTE_US;
}

/* ---- timers ---- */

/* Sets the start; a start in the past becomes now. */
static enum err set_start(struct tx *tx, const struct grant_input *in, struct grant *g)
{
    int64_t at_us = in->starts_at.i;
    if (at_us > tx->now_us + START_MAX_US)
        return grant_invalid(tx, "starts_at must be at most 365 days ahead");
    g->starts_us = at_us > tx->now_us ? at_us : tx->now_us;
    return ERR_NONE;
}

/* The window must end in the future, and at most seven days after its start, or after now if it has started. */
static enum err grant_check_window(struct tx *tx, const struct grant *g)
{
    const int64_t from_us = g->starts_us > tx->now_us ? g->starts_us : tx->now_us;
    if (g->ends_us <= tx->now_us)
        return grant_invalid(tx, "ends_at must be later than now");
    if (g->ends_us <= g->starts_us)
        return grant_invalid(tx, "ends_at must be later than starts_at");
    if (g->ends_us > from_us + WEEK_US)
        return grant_invalid(tx, "ends_at must be at most seven days after starts_at");
    return ERR_NONE;
}

static enum err set_window(struct tx *tx, const struct grant_input *in, struct grant *g)
{
    if (v_given(in->starts_at)) {
        enum err e = set_start(tx, in, g);
        if (e)
            return e;
    }
    if (has_end(in))
        g->ends_us = end_of(in, g->starts_us > tx->now_us ? g->starts_us : tx->now_us);
    return grant_check_window(tx, g);
}

static enum err check_timer_end(struct tx *tx, const struct grant_input *in)
{
    if (v_given(in->ends_at) && !v_set(in->ends_at))
        return grant_invalid(tx, "ends_at cannot be null on a timer");
    return check_one_end(tx, in);
}

static enum err create_timer(struct tx *tx, const struct grant_input *in, struct grant *g)
{
    enum err e = check_timer_end(tx, in);
    if (e)
        return e;
    if (!has_end(in))
        return grant_invalid(tx, "a timer needs expires_in_minutes or ends_at");
    grant_set_uses(in->remaining_uses, g);
    g->starts_us = tx->now_us;
    return set_window(tx, in, g);
}

static enum err switch_timer_off(struct tx *tx, const struct grant_input *in, struct grant *g)
{
    if (has_end(in) || v_given(in->starts_at))
        return grant_invalid(
            tx, "enabled false ends a timer now: starts_at, expires_in_minutes and ends_at cannot be given with it");
    g->enabled = false;
    if (g->ends_us > tx->now_us)
        g->ends_us = tx->now_us;
    return ERR_NONE;
}

static enum err update_timer(struct tx *tx, const struct grant_input *in, struct grant *g)
{
    enum err e = check_timer_end(tx, in);
    if (e)
        return e;
    grant_set_uses(in->remaining_uses, g);
    if (v_given(in->enabled) && !in->enabled.b)
        return switch_timer_off(tx, in, g);
    if (v_given(in->enabled)) {
        if (!has_end(in))
            return grant_invalid(tx, "enabled true needs expires_in_minutes or ends_at on a timer");
        if (!g->enabled)
            g->starts_us = tx->now_us; /* it restarts */
        g->enabled = true;
    }
    return has_end(in) || v_given(in->starts_at) ? set_window(tx, in, g) : ERR_NONE;
}

/* ---- passcodes ---- */

static enum err set_expiry(struct tx *tx, const struct grant_input *in, struct grant *g)
{
    enum err e = check_one_end(tx, in);
    if (e || !has_end(in))
        return e;
    if (v_given(in->ends_at) && !v_set(in->ends_at)) {
        g->ends_us = GRANT_NO_END;
        return ERR_NONE;
    }
    g->ends_us = end_of(in, tx->now_us);
    if (g->ends_us <= tx->now_us)
        return grant_invalid(tx, "ends_at must be later than now");
    if (g->ends_us > tx->now_us + WEEK_US)
        return grant_invalid(tx, "ends_at must be at most seven days ahead");
    return ERR_NONE;
}

static enum err set_code(struct tx *tx, const struct grant_input *in, struct grant *g)
{
    const struct str code = in->access_code.s;
    if (!v_given(in->access_code))
        return ERR_NONE;
    if (code.n < 1 || code.n > GRANT_CODE_DIGITS || !str_to_u64(code, UINT64_MAX, &(uint64_t){0}))
        return grant_invalid(tx, "access_code must be 1 to 4 digits");
    if (str_eq(code, STR("1")))
        return grant_invalid(tx, "access_code must not be the single digit 1");
    memcpy(g->code, code.p, code.n);
    g->code[code.n] = '\0';
    return ERR_NONE;
}

static enum err set_passcode(struct tx *tx, const struct grant_input *in, struct grant *g)
{
    grant_set_uses(in->remaining_uses, g);
    if (v_given(in->enter_code_with_voice))
        g->voice = in->enter_code_with_voice.b;
    enum err e = set_expiry(tx, in, g);
    return e ? e : set_code(tx, in, g);
}

/* ---- routines ---- */

static enum err set_days(struct tx *tx, const struct val *days, struct window *ret)
{
    const struct val *name = days->ptr;
    unsigned all = 0;
    for (uint32_t i = 0; i < days->count; i++) {
        const unsigned day = schedule_day(name[i].s);
        if (!day)
            return grant_invalid(tx, "days must be day names from sunday to saturday");
        if (all & day)
            return grant_invalid(tx, "days must not name a day twice");
        all |= day;
    }
    if (!schedule_days_supported(all))
        return grant_invalid(tx, "days must be one day, all five weekdays, both weekend days, or all seven days");
    ret->days = all;
    return ERR_NONE;
}

static enum err set_hours(struct tx *tx, const struct grant_input *in, struct window *ret)
{
    if (!schedule_minute_parse(in->start.s, &ret->start_minute))
        return grant_invalid(tx, "start must be a time of day as HH:MM");
    if (!schedule_minute_parse(in->end.s, &ret->end_minute))
        return grant_invalid(tx, "end must be a time of day as HH:MM");
    if (ret->end_minute <= ret->start_minute)
        return grant_invalid(tx, "end must be later than start, on the same day");
    return ERR_NONE;
}

static enum err set_schedule(struct tx *tx, const struct grant_input *in, struct grant *g)
{
    enum err e = ERR_NONE;
    if (v_given(in->days))
        e = set_days(tx, &in->days, &g->schedule.windows[0]);
    if (!e && v_given(in->start) != v_given(in->end))
        e = grant_invalid(tx, "start and end must be given together");
    if (!e && v_given(in->start))
        e = set_hours(tx, in, &g->schedule.windows[0]);
    if (!e && v_given(in->timezone)) {
        if (!schedule_zone_known(in->timezone.s))
            e = grant_invalid(tx, "timezone must be an IANA time zone name such as America/New_York");
        g->schedule.timezone = in->timezone.s;
    }
    return e;
}

static enum err create_routine(struct tx *tx, const struct grant_input *in, struct grant *g)
{
    if (!v_given(in->days) || !v_given(in->start) || !v_given(in->end) || !v_given(in->timezone))
        return grant_invalid(tx, "a routine needs days, start, end and timezone");
    g->schedule.count = 1;
    return set_schedule(tx, in, g);
}

/* ---- all of them ---- */

static bool grant_type_parse(struct str name, enum grant_type *ret)
{
    for (int i = 0; grant_type_names[i]; i++)
        if (str_eq(name, str_z(grant_type_names[i]))) {
            *ret = (enum grant_type)i;
            return true;
        }
    return false;
}

enum err grant_rules_create(struct tx *tx, const struct grant_input *in, struct grant *ret)
{
    struct grant g = {
        .enabled = !v_given(in->enabled) || in->enabled.b,
        .remaining_uses = GRANT_UNLIMITED,
        .max_uses = GRANT_UNLIMITED,
        .created_us = tx->now_us,
        .ends_us = GRANT_NO_END,
    };
    if (!v_given(in->type) || !grant_type_parse(in->type.s, &g.type))
        return tx_fail(tx, ERR_INVALID_TYPE, "type must be one of timer, passcode, routine");
    enum err e = check_fields(tx, in, g.type);
    if (e)
        return e;
    set_label(in, &g);
    switch (g.type) {
    case GRANT_TIMER:
        e = create_timer(tx, in, &g);
        break;
    case GRANT_PASSCODE:
        e = set_passcode(tx, in, &g);
        break;
    case GRANT_ROUTINE:
        e = create_routine(tx, in, &g);
        break;
    }
    if (!e)
        *ret = g;
    return e;
}

/* The contract's fields cannot say when a pass opens. */
static enum err update_pass(struct tx *tx, const struct grant_input *in, struct grant *g)
{
    if (has_end(in) || v_given(in->starts_at) || v_given(in->days) || v_given(in->start) || v_given(in->end) ||
        v_given(in->timezone))
        return grant_invalid(tx, "this grant is a pass: its times are changed by PATCH /v1/passes/{id}");
    if (v_given(in->access_code) && in->access_code.s.n < GRANT_CODE_DIGITS)
        return grant_invalid(tx, "this grant is a pass: access_code must be 4 to 8 digits, as in /v1/passes");
    if (v_given(in->access_code) && g->type != GRANT_PASSCODE)
        return grant_invalid(tx, "this grant is a pass without a code, as its calendar in /v1/passes says");
    grant_set_uses(in->remaining_uses, g);
    if (v_given(in->enabled))
        g->enabled = in->enabled.b;
    if (v_given(in->enter_code_with_voice))
        g->voice = in->enter_code_with_voice.b;
    enum err e = set_code(tx, in, g);
    if (!e && g->voice && (g->type != GRANT_PASSCODE || strlen(g->code) > GRANT_CODE_DIGITS))
        e = grant_invalid(tx, "enter_code_with_voice needs a code of four digits");
    return e;
}

enum err grant_rules_update(struct tx *tx, const struct grant_input *in, struct grant *g)
{
    enum err e = g->pass ? ERR_NONE : check_fields(tx, in, g->type);
    if (e)
        return e;
    set_label(in, g);
    if (g->pass)
        return update_pass(tx, in, g);
    if (g->type == GRANT_TIMER)
        return update_timer(tx, in, g);
    if (v_given(in->enabled))
        g->enabled = in->enabled.b;
    return g->type == GRANT_PASSCODE ? set_passcode(tx, in, g) : set_schedule(tx, in, g);
}
