/* {"create": …, "update": …}, any bytes: an accepted pass keeps the rules of passes after its creation and after an
 * update an hour later, a refusal has a reason, the next opening is a moment at which it opens, the windows are read
 * again as they were stored, and the body is JSON. */
#include <stdlib.h>

#include "domain/pass.h"
#include "resources/grant_body.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NOW   (1795167000LL * US_PER_S)
#define HOURS (3600 * US_PER_S)
#define DAYS  (24 * HOURS)

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check_windows(const struct schedule *s)
{
    char stored[SCHEDULE_WINDOWS_TEXT_MAX], again[SCHEDULE_WINDOWS_TEXT_MAX];
    struct schedule read = {.count = 0};
    must(s->count <= SCHEDULE_WINDOWS_MAX && schedule_zone_known(s->timezone));
    for (size_t i = 0; i < s->count; i++) {
        const struct window *w = &s->windows[i];
        must(w->days && w->days <= SCHEDULE_EVERY_DAY);
        must(0 <= w->start_minute && w->start_minute < 1440 && 0 <= w->end_minute && w->end_minute < 1440);
    }
    schedule_windows_format(s, stored);
    must(schedule_windows_parse(str_z(stored), &read));
    schedule_windows_format(&read, again);
    must(strcmp(stored, again) == 0);
}

static void check_pass(const struct grant *g, int64_t now_us)
{
    int64_t next_us;
    const size_t digits = strlen(g->code);
    must(g->pass && g->label.n > 0 && g->label.n <= 4 * GRANT_LABEL_MAX && g->note.n <= 4 * PASS_NOTE_MAX);
    must(g->remaining_uses == GRANT_UNLIMITED || (g->remaining_uses >= 1 && g->remaining_uses <= GRANT_USES_MAX));
    must(digits == 0 || (digits >= PASS_CODE_MIN && digits <= GRANT_CODE_MAX && g->type == GRANT_PASSCODE));
    must(strspn(g->code, "0123456789") == digits);
    must(!g->voice || (g->type == GRANT_PASSCODE && digits <= GRANT_CODE_DIGITS));
    must(g->type != GRANT_ROUTINE || g->schedule.count);
    must(g->starts_us < g->ends_us && g->starts_us <= now_us + PASS_DAYS_MAX * DAYS);
    must(g->ends_us == GRANT_NO_END || g->ends_us <= now_us + PASS_DAYS_MAX * DAYS);
    check_windows(&g->schedule);
    if (grant_opens_next(g, now_us, &next_us))
        must(next_us >= now_us && grant_opens(g, next_us));
}

static void check_shown_pass(struct tx *tx, const struct grant *g)
{
    static const struct id building = {"650000000000000000000001"};
    struct buf out = BUF(1 << 20);
    json_t *json = NULL;
    schema_write(&unlock_shape, unlock_body(tx, &building, g), &out);
    must(!out.full && json_read(buf_view(&out), &json) == ERR_NONE);
    json_decref(json);
    buf_done(&out);
}

static bool read_pass(struct tx *tx, const struct shape *shape, const json_t *json, struct pass_input *ret)
{
    struct schema_fault fault = {ERR_NONE, STR_NONE};
    if (!json_is_object(json))
        return false;
    if (schema_read(shape, json, ERR_INVALID_UNLOCK, tx->arena, ret, &fault))
        return true;
    must(fault.message.n > 0 && fault.error == ERR_INVALID_UNLOCK);
    return false;
}

/* Whether the rules accepted it; a refusal has a reason. */
static bool accepted(const struct tx *tx, enum err e)
{
    must(!e || (e == ERR_INVALID_UNLOCK && tx->why.n > 0));
    return !e;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *json = NULL;
    struct arena arena;
    struct grant g;
    struct pass_input in;
    if (json_read(str_n((const char *)data, size), &json))
        return 0;
    arena_init(&arena, NULL, 0);
    struct tx tx = {.arena = &arena, .now_us = NOW};
    const struct str zone = size % 2 ? STR("America/New_York") : STR_NONE;
    if (read_pass(&tx, &pass_create_shape, json_object_get(json, "create"), &in) &&
        accepted(&tx, pass_rules_create(&tx, zone, &in, &g))) {
        g.id = (struct id){"650000000000000000000002"};
        check_pass(&g, tx.now_us);
        check_shown_pass(&tx, &g);
        tx.now_us += HOURS;
        if (read_pass(&tx, &pass_update_shape, json_object_get(json, "update"), &in) &&
            accepted(&tx, pass_rules_update(&tx, &in, &g))) {
            check_pass(&g, tx.now_us);
            check_shown_pass(&tx, &g);
        }
    }
    arena_done(&arena);
    json_decref(json);
    return 0;
}
