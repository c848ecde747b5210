#include "domain/access.h"

#include "base/crypto.h"
#include "domain/access_door.h"
#include "domain/access_near.h"

static enum err access_decide(const struct door *door, enum access_verdict verdict, enum access_reason reason,
                              struct access_decision *ret)
{
    *ret = door->decision;
    ret->verdict = verdict;
    ret->reason = reason;
    return ERR_NONE;
}

static enum err access_reject(struct access_decision *ret)
{
    *ret = (struct access_decision){.verdict = ACCESS_REJECT, .reason = ACCESS_UNKNOWN_NUMBER};
    return ERR_NONE;
}

/* Forwards a call to a door that no grant opens. */
static enum err access_not_ready(const struct door *door, struct access_decision *ret)
{
    return access_decide(door, ACCESS_FORWARD, door->decision.tones[0] ? ACCESS_NO_SUBSCRIPTION : ACCESS_NO_TONE, ret);
}

static enum err access_release(struct tx *tx, const struct door *door, const struct usable *grant,
                               struct access_decision *ret)
{
    static const enum access_reason reasons[] = {
        [GRANT_TIMER] = ACCESS_TIMER, [GRANT_ROUTINE] = ACCESS_ROUTINE, [GRANT_PASSCODE] = ACCESS_PASSCODE};
    enum err e = door_record_release(tx, door, grant);
    if (!e)
        e = access_decide(door, ACCESS_RELEASE, reasons[grant->type], ret);
    if (e)
        return e;
    ret->grant_id = grant->id;
    ret->grant_label = grant->label;
    return ERR_NONE;
}

/* ---- a call arrives ---- */

/* The oldest open timer, else the oldest routine in its window, else NULL. */
static enum err access_find_open(struct tx *tx, const struct door *door, const struct usable **ret)
{
    const struct usable *list;
    size_t count;
    enum err e = door_usable(tx, door, GRANT_TIMER, &list, &count);
    if (e)
        return e;
    if (count) {
        *ret = list;
        return ERR_NONE;
    }
    e = door_usable(tx, door, GRANT_ROUTINE, &list, &count);
    if (e)
        return e;
    size_t i = 0;
    while (i < count && !schedule_contains(&list[i].schedule, tx->now_us))
        i++;
    *ret = i < count ? &list[i] : NULL;
    return ERR_NONE;
}

/* Collects a code if the building has a usable passcode and the keypad is open. */
static enum err access_collect(struct tx *tx, const struct door *door, struct access_decision *ret)
{
    if (guard_closed(&door->guard, tx->now_us))
        return access_decide(door, ACCESS_FORWARD, ACCESS_KEYPAD_CLOSED, ret);
    CURSOR c;
    enum err e = db_one(tx->db, SQL_ACCESS_PASSCODES,
                        DB_ARGS(v_str(id_str(&door->decision.building_id)), v_int(tx->now_us)), &c);
    if (e)
        return e;
    if (col_int(&c, COL_ACCESS_PASSCODES_USABLE) == 0)
        return access_decide(door, ACCESS_FORWARD, ACCESS_NO_GRANT, ret);
    e = access_decide(door, ACCESS_COLLECT, ACCESS_NO_CODE, ret);
    ret->voice = col_int(&c, COL_ACCESS_PASSCODES_SPOKEN) > 0;
    return e;
}

static bool access_same_number(struct str a, struct str b)
{
    return a.n && str_eq(a, b);
}

enum err access_arrive(struct tx *tx, struct str to, struct str from, struct access_decision *ret)
{
    struct door door;
    const struct usable *open;
    enum err e = door_by_number(tx, to, from, &door);
    if (e)
        return e == ERR_NOT_FOUND ? access_reject(ret) : e;
    if (access_same_number(door.owner_phone, from) || access_same_number(door.decision.forward_to, from))
        return access_decide(&door, ACCESS_SELF_CALL, ACCESS_OWNER, ret);
    if (!door.ready)
        return access_not_ready(&door, ret);
    e = access_find_open(tx, &door, &open);
    if (e)
        return e;
    return open ? access_release(tx, &door, open, ret) : access_collect(tx, &door, ret);
}

/* ---- a code was entered ---- */

/* The first passcode with these digits, or NULL. Compares every passcode in constant time, also after a match. */
static const struct usable *access_match_code(const struct usable *list, size_t count, struct str digits, bool spoken)
{
    char entered[GRANT_CODE_MAX + 1] = {0};
    size_t found = count;
    if (digits.n == 0 || digits.n > GRANT_CODE_MAX)
        memset(entered, 0xff, sizeof entered); /* matches no code */
    else
        memcpy(entered, digits.p, digits.n);
    for (size_t i = count; i-- > 0;) {
        const size_t hit = crypto_equal(list[i].code, entered, sizeof entered) & (list[i].voice | !spoken);
        found = (i & (0 - hit)) | (found & (hit - 1));
    }
    return found < count ? &list[found] : NULL;
}

enum err access_code(struct tx *tx, const struct id *building, struct str from, struct str digits, bool spoken,
                     struct access_decision *ret)
{
    struct door door;
    const struct usable *list;
    size_t count;
    enum err e = door_by_building(tx, building, from, &door);
    if (e)
        return e == ERR_NOT_FOUND ? access_reject(ret) : e;
    if (!door.ready)
        return access_not_ready(&door, ret);
    if (guard_closed(&door.guard, tx->now_us))
        return access_decide(&door, ACCESS_FORWARD, ACCESS_KEYPAD_CLOSED, ret);
    e = door_usable(tx, &door, GRANT_PASSCODE, &list, &count);
    if (e)
        return e;
    if (count == 0)
        return access_decide(&door, ACCESS_FORWARD, ACCESS_NO_GRANT, ret);
    const struct usable *grant = access_match_code(list, count, digits, spoken);
    if (grant)
        return access_release(tx, &door, grant, ret);
    struct guard_closing closing;
    e = door_record_wrong_code(tx, &door, &closing);
    if (e)
        return e;
    e = access_decide(&door, ACCESS_WRONG, closing.minutes ? ACCESS_KEYPAD_CLOSED : ACCESS_WRONG_CODE, ret);
    ret->closing = closing;
    return e;
}

enum err access_forwarded(struct tx *tx, const struct id *building, struct access_decision *ret)
{
    struct door door;
    enum err e = door_by_building(tx, building, STR_NONE, &door);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_BUILDING_NOT_FOUND : e;
    e = door_record_forward(tx, &door);
    if (!e && door.ready)
        e = near_find(tx, building, door.decision.near, &door.decision.near_count);
    return e ? e : access_decide(&door, ACCESS_FORWARD, ACCESS_UNDECIDED, ret);
}
