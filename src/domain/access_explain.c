#include "domain/access_explain.h"

#include "domain/access_judge.h"
#include "domain/access_near.h"
#include "domain/grant_row.h"

const char *const explain_part_names[] = {
    [EXPLAIN_OPENS] = "opens",
    [EXPLAIN_COMES_LATER] = "comes_later",
    [EXPLAIN_NEEDS_CODE] = "needs_code",
    [EXPLAIN_WRONG_DIGITS] = "wrong_digits",
    [EXPLAIN_KEYPAD_CLOSED] = "keypad_closed",
    [EXPLAIN_NOT_ASKED] = "not_asked",
    [EXPLAIN_SWITCHED_OFF] = "switched_off",
    [EXPLAIN_USED_UP] = "used_up",
    [EXPLAIN_EXPIRED] = "expired",
    [EXPLAIN_NOT_BEGUN] = "not_begun",
    [EXPLAIN_OUTSIDE_WINDOW] = "outside_window",
    NULL,
};

const char *const explain_verdict_names[] = {
    [ACCESS_REJECT] = "reject",
    [ACCESS_SELF_CALL] = "self_call",
    [ACCESS_RELEASE] = "release",
    [ACCESS_COLLECT] = "ask_code",
    [ACCESS_WRONG] = "wrong_code",
    [ACCESS_FORWARD] = "forward",
    [ACCESS_INCOMPLETE] = "incomplete_code",
    NULL,
};

const char *const explain_code_names[] = {
    [EXPLAIN_CODE_SWITCHED_OFF] = "switched_off",
    [EXPLAIN_CODE_USED_UP] = "used_up",
    [EXPLAIN_CODE_EXPIRED] = "expired",
    [EXPLAIN_CODE_NOT_BEGUN] = "not_begun",
    [EXPLAIN_CODE_OUTSIDE_WINDOW] = "outside_window",
    [EXPLAIN_CODE_REVOKED] = "revoked",
    [EXPLAIN_CODE_WRONG] = "wrong_code",
    NULL,
};

static enum explain_part part_of_unusable(enum access_why why)
{
    static const enum explain_part parts[] = {
        [NEAR_SWITCHED_OFF] = EXPLAIN_SWITCHED_OFF,
        [NEAR_USED_UP] = EXPLAIN_USED_UP,
        [NEAR_EXPIRED] = EXPLAIN_EXPIRED,
        [NEAR_NOT_BEGUN] = EXPLAIN_NOT_BEGUN,
        [NEAR_OUTSIDE_WINDOW] = EXPLAIN_OUTSIDE_WINDOW,
    };
    return parts[why];
}

static enum explain_part part_of_usable(const struct grant *g, const struct access_decision *d)
{
    if (d->verdict == ACCESS_RELEASE)
        return id_equal(&g->id, &d->grant_id) ? EXPLAIN_OPENS
               : d->reason == ACCESS_PASSCODE ? EXPLAIN_WRONG_DIGITS
                                              : EXPLAIN_COMES_LATER;
    switch (d->verdict) {
    case ACCESS_COLLECT:
        return EXPLAIN_NEEDS_CODE;
    case ACCESS_WRONG:
    case ACCESS_INCOMPLETE:
        return EXPLAIN_WRONG_DIGITS;
    default:
        return d->reason == ACCESS_KEYPAD_CLOSED ? EXPLAIN_KEYPAD_CLOSED : EXPLAIN_NOT_ASKED;
    }
}

static struct explained_grant explain_grant(const struct grant *g, const struct access_decision *d, int64_t now_us)
{
    struct explained_grant e = {.id = g->id, .type = g->type, .label = g->label};
    enum access_why why;
    if (!near_unusable(g, now_us, &why)) {
        e.part = part_of_usable(g, d);
        return e;
    }
    e.part = part_of_unusable(why);
    if (!grant_opens_next(g, now_us, &e.next_us))
        e.next_us = why == NEAR_NOT_BEGUN ? g->starts_us : 0;
    return e;
}

static enum err explain_grants(struct tx *tx, const struct id *building, struct explanation *x)
{
    CURSOR c;
    bool more;
    struct explained_grant *list = arena_array(tx->arena, struct explained_grant, EXPLAIN_GRANTS_MAX);
    enum err e = db_query(tx->db, SQL(access_newest, .building_id = building, .limit = EXPLAIN_GRANTS_MAX), &c);
    if (e)
        return e;
    while (!(e = db_next(&c, &more)) && more) {
        const struct row_grant row = row_grant(&c, tx->arena);
        const struct grant g = grant_row(&row);
        list[x->count++] = explain_grant(&g, &x->decision, tx->now_us);
    }
    x->grants = list;
    return e;
}

static enum err explain_count(struct tx *tx, const struct id *building, struct explanation *x)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(access_count, .building_id = building, .limit = EXPLAIN_COUNT_MAX), &c);
    if (!e)
        x->more = row_access_count(&c, NULL).grants - (int64_t)x->count;
    return e;
}

static enum err explain_decision(struct tx *tx, const struct door *door, const struct explain_query *query,
                                 struct access_decision *ret)
{
    const struct usable *unused;
    enum err e = judge_arrival(tx, door, query->from, ret, &unused);
    if (!e && ret->verdict == ACCESS_COLLECT && query->digits.p)
        e = judge_code(tx, door, query->digits, ACCESS_KEYS, ret, &unused);
    if (!e && ret->verdict != ACCESS_RELEASE) { /* a code outside its window */
        ret->grant_id = (struct id){.text = ""};
        ret->grant_label = STR_NONE;
    }
    return e;
}

/* Also if the call does not ask for the digits. */
static enum err explain_code(struct tx *tx, const struct explain_query *query, struct explanation *x)
{
    const struct access_decision *d = &x->decision;
    struct access_near near = d->near[0];
    size_t count = d->near_count;
    if (!query->digits.p || d->reason == ACCESS_PASSCODE)
        return ERR_NONE;
    enum err e = count ? ERR_NONE : near_with_code(tx, &query->building, query->digits, &near, &count);
    if (e && e != ERR_NOT_FOUND)
        return e;
    if (!e && !count)
        return ERR_NONE;
    struct explained_code *code = arena_new(tx->arena, struct explained_code);
    *code = (struct explained_code){.result = EXPLAIN_CODE_WRONG};
    if (!e)
        *code = (struct explained_code){(enum explain_code)near.why, near.grant_id, near.label};
    x->code = code;
    return ERR_NONE;
}

enum err access_explain(struct tx *tx, const struct explain_query *query, struct explanation *ret)
{
    struct door door;
    struct explanation x = {.count = 0};
    bool has_number;
    {
        CURSOR c;
        enum err e = db_one(tx->db, SQL(building_for_number, .id = &query->building), &c);
        if (e)
            return e == ERR_NOT_FOUND ? ERR_BUILDING_NOT_FOUND : e;
        const struct row_building_for_number row = row_building_for_number(&c, NULL);
        has_number = row.virtual_number.p;
    }
    enum err e = door_by_building(tx, &query->building, query->from, &door);
    if (!e && !query->from.p)
        door.callers.mode = CALLERS_ANY; /* the question is about a caller that may open */
    if (!e && has_number)
        e = explain_decision(tx, &door, query, &x.decision);
    else if (!e)
        x.decision = (struct access_decision){.verdict = ACCESS_REJECT, .reason = ACCESS_UNKNOWN_NUMBER};
    if (!e)
        e = explain_code(tx, query, &x);
    if (!e)
        e = explain_grants(tx, &query->building, &x);
    if (!e)
        e = explain_count(tx, &query->building, &x);
    if (e)
        return e;
    x.known_caller = door.guard.released_us != 0;
    x.keypad_closed_until_us = guard_closed(&door.guard, tx->now_us) ? door.guard.closed_until_us : 0;
    *ret = x;
    return ERR_NONE;
}
