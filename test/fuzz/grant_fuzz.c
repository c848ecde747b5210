/* {"create": …, "update": …}, any bytes: an accepted grant keeps the rules of the contract (Access grants) after
 * its creation and after an update an hour later, a refusal has a reason, and the grant's body is JSON. */
#include <stdlib.h>

#include "domain/grant_rules.h"
#include "resources/grant_body.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NOW     (1795167000LL * US_PER_S)
#define MINUTES (60 * US_PER_S)
#define DAYS    (1440 * MINUTES)

static void must(bool holds)
{
    if (!holds)
        abort();
}

static bool is_code(const char *code)
{
    const size_t n = strlen(code);
    return n >= 1 && n <= 4 && strspn(code, "0123456789") == n && strcmp(code, "1") != 0;
}

static void check_grant(const struct grant *g)
{
    must(g->label.n > 0 && g->label.n <= 4 * GRANT_LABEL_MAX);
    must(g->remaining_uses == GRANT_UNLIMITED || (g->remaining_uses >= 1 && g->remaining_uses <= GRANT_USES_MAX));
    const struct window *w = &g->schedule.windows[0];
    switch (g->type) {
    case GRANT_TIMER:
        must(g->ends_us != GRANT_NO_END && g->code[0] == '\0' && !g->voice);
        break;
    case GRANT_PASSCODE:
        must(g->starts_us == 0 && (g->code[0] == '\0' || is_code(g->code)));
        break;
    case GRANT_ROUTINE:
        must(g->starts_us == 0 && g->ends_us == GRANT_NO_END && g->remaining_uses == GRANT_UNLIMITED);
        must(g->schedule.count == 1 && schedule_zone_known(g->schedule.timezone));
        must(schedule_days_supported(w->days) && 0 <= w->start_minute && w->start_minute < w->end_minute);
        must(w->end_minute < 1440);
        break;
    }
}

/* A new end is in the future, at most seven days after the start, or after now if the start has passed. */
static void check_end(const struct grant *g, int64_t now_us)
{
    const int64_t from_us = g->starts_us > now_us ? g->starts_us : now_us;
    must(g->starts_us <= now_us + 365 * DAYS);
    must(g->ends_us > from_us && (g->ends_us <= from_us + 7 * DAYS || g->ends_us == GRANT_NO_END));
}

static void check_shown(struct tx *tx, const struct grant *g)
{
    static const struct id building = {"650000000000000000000001"};
    struct buf out = BUF(1 << 20);
    json_t *json = NULL;
    schema_write(&unlock_shape, unlock_body(tx, &building, g), &out);
    must(!out.full && json_read(buf_view(&out), &json) == ERR_NONE);
    json_decref(json);
    buf_done(&out);
}

static bool read_input(struct tx *tx, const struct shape *shape, const json_t *json, struct grant_input *ret)
{
    struct schema_fault fault = {ERR_NONE, STR_NONE};
    if (!json_is_object(json))
        return false;
    if (schema_read(shape, json, ERR_INVALID_UNLOCK, tx->arena, ret, &fault))
        return true;
    must(fault.message.n > 0 && (fault.error == ERR_INVALID_UNLOCK || fault.error == ERR_INVALID_TYPE));
    return false;
}

static bool create(struct tx *tx, const json_t *json, struct grant *ret)
{
    struct grant_input in;
    if (!read_input(tx, &unlock_create_shape, json, &in))
        return false;
    if (grant_rules_create(tx, &in, ret)) {
        must(tx->why.n > 0);
        return false;
    }
    ret->id = (struct id){"650000000000000000000002"};
    check_grant(ret);
    check_end(ret, tx->now_us);
    const enum grant_status status = grant_status(ret, tx->now_us);
    must(status == GRANT_ACTIVE || status == GRANT_SCHEDULED || status == GRANT_INACTIVE);
    return true;
}

static void update(struct tx *tx, const json_t *json, struct grant *g)
{
    struct grant_input in;
    if (!read_input(tx, &unlock_update_shape, json, &in) || !v_any_given(&in, sizeof in))
        return;
    const enum grant_type type = g->type;
    if (grant_rules_update(tx, &in, g)) {
        must(tx->why.n > 0);
        return;
    }
    must(g->type == type);
    check_grant(g);
    if (v_given(in.ends_at) || v_given(in.expires_in_minutes))
        check_end(g, tx->now_us);
    if (v_given(in.enabled))
        must(g->enabled == in.enabled.b);
    check_shown(tx, g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *json = NULL;
    struct arena arena;
    struct grant g;
    if (json_read(str_n((const char *)data, size), &json))
        return 0;
    arena_init(&arena, NULL, 0);
    struct tx tx = {.arena = &arena, .now_us = NOW};
    if (create(&tx, json_object_get(json, "create"), &g)) {
        check_shown(&tx, &g);
        tx.now_us += 60 * MINUTES;
        update(&tx, json_object_get(json, "update"), &g);
    }
    arena_done(&arena);
    json_decref(json);
    return 0;
}
