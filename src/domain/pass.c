#include "domain/pass.h"

#include "domain/grant_code.h"
#include "domain/grant_rules.h"

#define DAY_US (86400 * US_PER_S)

/* Fails with a message about a field. */
static enum err pass_invalid(struct tx *tx, const char *field, const char *rule)
{
    tx->why = arena_printf(tx->arena, "%s %s", field, rule);
    return ERR_INVALID_UNLOCK;
}

/* ---- fields ---- */

static enum err set_zone(struct tx *tx, const struct pass_input *in, struct grant *g)
{
    if (!v_given(in->timezone))
        return ERR_NONE;
    if (!schedule_zone_known(in->timezone.s))
        return pass_invalid(tx, "timezone", "must be an IANA time zone name such as America/New_York");
    g->schedule.timezone = in->timezone.s;
    return ERR_NONE;
}

/* Whether a moment is the same in each zone. */
static bool is_zoneless(struct val moment)
{
    return !v_set(moment) || time_parse(moment.s, &(int64_t){0});
}

/* The building's zone, unless the pass names one. STR_NONE: it has none. */
static enum err building_zone(struct tx *tx, const struct id *building, const struct pass_input *in, struct str *ret)
{
    if (v_given(in->timezone))
        return ERR_NONE;
    CURSOR c;
    enum err e = db_one(tx->db, SQL(building_zone, .id = building), &c);
    if (!e)
        *ret = row_building_zone(&c, tx->arena).timezone;
    return e == ERR_NOT_FOUND ? ERR_BUILDING_NOT_FOUND : e;
}

/* A building without a zone needs one only for local times. */
static enum err set_default_zone(struct tx *tx, struct str zone, const struct pass_input *in, struct grant *g)
{
    g->schedule.timezone = zone.p ? zone : STR("UTC");
    return zone.p || v_given(in->timezone) ||
                   (is_zoneless(in->from) && is_zoneless(in->until) && !(v_set(in->windows) && in->windows.count))
               ? ERR_NONE
               : pass_invalid(tx, "timezone", "is needed: the building has none");
}

static enum err read_moment(struct tx *tx, const char *name, struct val text, const struct grant *g, int64_t otherwise,
                            int64_t *ret_us)
{
    int64_t at_us = otherwise;
    if (!v_given(text))
        return ERR_NONE;
    if (v_set(text) && !schedule_time_parse(g->schedule.timezone, text.s, &at_us))
        return pass_invalid(tx, name, "must be a date and time, such as 2026-12-01T08:00 or 2026-12-01T08:00:00Z");
    if (v_set(text) && at_us > tx->now_us + PASS_DAYS_MAX * DAY_US)
        return pass_invalid(tx, name, "must be at most 366 days ahead");
    *ret_us = at_us;
    return ERR_NONE;
}

static enum err set_times(struct tx *tx, const struct pass_input *in, struct grant *g)
{
    enum err e = read_moment(tx, "from", in->from, g, 0, &g->starts_us);
    if (!e)
        e = read_moment(tx, "until", in->until, g, GRANT_NO_END, &g->ends_us);
    if (e)
        return e;
    if (v_set(in->until) && g->ends_us <= tx->now_us)
        return pass_invalid(tx, "until", "must be later than now");
    return g->ends_us > g->starts_us ? ERR_NONE : pass_invalid(tx, "until", "must be later than from");
}

static enum err set_window_days(struct tx *tx, const struct val *days, struct window *ret)
{
    const struct val *names = days->ptr;
    for (uint32_t i = 0; i < days->count; i++) {
        const unsigned day = schedule_day(names[i].s);
        if (ret->days & day)
            return pass_invalid(tx, "windows.days", "must not name a day twice");
        ret->days |= day;
    }
    return ERR_NONE;
}

static enum err set_windows(struct tx *tx, const struct pass_input *in, struct grant *g)
{
    if (!v_given(in->windows))
        return ERR_NONE;
    const struct pass_window *list = in->windows.ptr;
    struct schedule *s = &g->schedule;
    s->count = 0;
    for (uint32_t i = 0; v_set(in->windows) && i < in->windows.count; i++) {
        struct window w = {.days = 0};
        if (!schedule_minute_parse(list[i].start.s, &w.start_minute) ||
            !schedule_minute_parse(list[i].end.s, &w.end_minute))
            return pass_invalid(tx, "windows", "must have start and end as HH:MM");
        enum err e = set_window_days(tx, &list[i].days, &w);
        if (e)
            return e;
        s->windows[s->count++] = w;
    }
    return ERR_NONE;
}

static enum err set_others(struct tx *tx, const struct pass_input *in, struct grant *g)
{
    if (v_given(in->label))
        g->label = in->label.s;
    if (v_given(in->enabled))
        g->enabled = in->enabled.b;
    grant_set_uses(in->remaining_uses, g);
    if (v_given(in->enter_code_with_voice))
        g->voice = in->enter_code_with_voice.b;
    if (v_given(in->note))
        g->note = v_set(in->note) ? in->note.s : STR_NONE;
    if (g->label.n == 0)
        g->label = STR(PASS_LABEL);
    return !g->voice || (g->type == GRANT_PASSCODE && strlen(g->code) <= GRANT_CODE_DIGITS)
               ? ERR_NONE
               : pass_invalid(tx, "enter_code_with_voice", "needs a code of four digits");
}

/* ---- a pass ---- */

/* The grant that says of it no more than is true. */
static enum grant_type nearest_type(const struct grant *g)
{
    return g->type == GRANT_PASSCODE ? GRANT_PASSCODE : g->schedule.count ? GRANT_ROUTINE : GRANT_TIMER;
}

static enum err set_calendar(struct tx *tx, const struct pass_input *in, struct grant *g)
{
    enum err e = set_times(tx, in, g);
    if (!e)
        e = set_windows(tx, in, g);
    g->type = nearest_type(g);
    if (e || !(v_given(in->from) || v_given(in->until) || v_given(in->windows) || v_given(in->timezone)))
        return e;
    struct grant ready = *g;
    ready.enabled = true;
    ready.remaining_uses = GRANT_UNLIMITED;
    return grant_opens_next(&ready, tx->now_us, &(int64_t){0})
               ? ERR_NONE
               : pass_invalid(tx, "windows", "must have a time between from and until that is still to come");
}

static enum err set_pass_code(struct tx *tx, const struct pass_input *in, struct grant *g)
{
    if (!v_given(in->access_code))
        return ERR_NONE;
    if (g->type != GRANT_PASSCODE)
        return pass_invalid(tx, "access_code", "is not a field of a pass without a code");
    memset(g->code, 0, sizeof g->code);
    memcpy(g->code, in->access_code.s.p, in->access_code.s.n);
    return ERR_NONE;
}

enum err pass_rules_update(struct tx *tx, const struct pass_input *in, struct grant *g)
{
    enum err e = set_zone(tx, in, g);
    if (!e)
        e = set_calendar(tx, in, g);
    if (!e)
        e = set_pass_code(tx, in, g);
    return e ? e : set_others(tx, in, g);
}

enum err pass_rules_create(struct tx *tx, struct str zone, const struct pass_input *in, struct grant *ret)
{
    const bool open = v_given(in->code) && !in->code.b;
    *ret = (struct grant){
        .pass = true,
        .type = open ? GRANT_TIMER : GRANT_PASSCODE,
        .enabled = true,
        .remaining_uses = GRANT_UNLIMITED,
        .max_uses = GRANT_UNLIMITED,
        .created_us = tx->now_us,
        .ends_us = GRANT_NO_END,
    };
    enum err e = set_default_zone(tx, zone, in, ret);
    return e ? e : pass_rules_update(tx, in, ret);
}

enum err pass_create(struct tx *tx, const struct grant_place *place, const struct pass_input *in,
                     const struct grant_request *request, struct grant *ret, bool *ret_replayed)
{
    struct grant g = {.pass = true};
    struct str zone = STR_NONE;
    enum err made = building_zone(tx, place->building, in, &zone);
    if (!made)
        made = pass_rules_create(tx, zone, in, &g);
    enum err e = grant_add(tx, place, request, made, &g, ret_replayed);
    if (!e && g.type == GRANT_PASSCODE)
        e = grant_codes_count(tx, place->building, &g);
    if (!e)
        *ret = g;
    return e;
}

enum err pass_get(struct tx *tx, const struct grant_place *place, const struct id *id, struct grant *ret)
{
    struct grant g;
    enum err e = grant_get(tx, place, id, &g);
    if (!e && !g.pass)
        e = ERR_NOT_FOUND;
    if (!e)
        *ret = g;
    return e;
}

static enum err change_pass(struct tx *tx, const void *input, struct grant *g)
{
    return g->pass ? pass_rules_update(tx, input, g) : ERR_NOT_FOUND;
}

enum err pass_update(struct tx *tx, const struct grant_place *place, const struct id *id, int64_t version,
                     const struct pass_input *in, struct grant *ret)
{
    if (!v_any_given(in, sizeof *in))
        return pass_invalid(tx, "an update", "needs at least one field");
    return grant_update_by(tx, place, id, version, change_pass, in, ret);
}
