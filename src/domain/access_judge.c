#include "domain/access_judge.h"

#include "base/crypto.h"
#include "domain/access_near.h"
#include "domain/ready.h"

static void judge(const struct door *door, enum access_verdict verdict, enum access_reason reason,
                  struct access_decision *ret)
{
    *ret = door->decision;
    ret->verdict = verdict;
    ret->reason = reason;
}

/* Forwards a call to a door that no grant opens. */
static void judge_not_ready(const struct door *door, struct access_decision *ret)
{
    judge(door, ACCESS_FORWARD, door->lacks & READY_BIT(TONE) ? ACCESS_NO_TONE : ACCESS_NO_SUBSCRIPTION, ret);
}

static void judge_release(const struct door *door, const struct usable *grant, struct access_decision *ret)
{
    static const enum access_reason reasons[] = {
        [GRANT_TIMER] = ACCESS_TIMER, [GRANT_ROUTINE] = ACCESS_ROUTINE, [GRANT_PASSCODE] = ACCESS_PASSCODE};
    judge(door, ACCESS_RELEASE, reasons[grant->type], ret);
    ret->grant_id = grant->id;
    ret->grant_label = grant->label;
}

/* Judges a call to a door that no grant can open, because of the door, the caller or the call. */
static bool judge_shut(const struct door *door, struct str from, struct access_decision *ret)
{
    if (door->lacks)
        judge_not_ready(door, ret);
    else if (!callers_allow(&door->callers, from))
        judge(door, door->callers.others == CALLERS_REJECT ? ACCESS_REJECT : ACCESS_FORWARD, ACCESS_NOT_LISTED, ret);
    else if (door->audio == AUDIO_REFUSED && door->decision.release.mode != RELEASE_INFO)
        judge(door, ACCESS_FORWARD, ACCESS_ONE_WAY, ret);
    else
        return false;
    return true;
}

/* ---- a call arrives ---- */

static bool judge_open(const struct usable *grant, int64_t now_us)
{
    const struct schedule s = door_schedule(grant);
    return schedule_contains(&s, now_us);
}

/* The oldest open timer, else the oldest routine in its window, else NULL. */
static enum err judge_find_open(struct tx *tx, const struct door *door, const struct usable **ret)
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
    while (i < count && !judge_open(&list[i], tx->now_us))
        i++;
    *ret = i < count ? &list[i] : NULL;
    return ERR_NONE;
}

/* Collects a code if the building has a usable passcode and the keypad is open. */
static enum err judge_collect(struct tx *tx, const struct door *door, struct access_decision *ret)
{
    if (guard_closed(&door->guard, tx->now_us)) {
        judge(door, ACCESS_FORWARD, ACCESS_KEYPAD_CLOSED, ret);
        return ERR_NONE;
    }
    CURSOR c;
    enum err e =
        db_one(tx->db, SQL(access_passcodes, .building_id = &door->decision.building_id, .now = tx->now_us), &c);
    if (e)
        return e;
    const struct row_access_passcodes row = row_access_passcodes(&c, NULL);
    const bool usable = row.usable != 0;
    judge(door, usable ? ACCESS_COLLECT : ACCESS_FORWARD, usable ? ACCESS_NO_CODE : ACCESS_NO_GRANT, ret);
    ret->voice = row.spoken > 0 && !guard_speech_closed(&door->guard, tx->now_us);
    ret->lengths = (int)row.lengths;
    return ERR_NONE;
}

static bool judge_same_number(struct str a, struct str b)
{
    return a.n && str_eq(a, b);
}

enum err judge_arrival(struct tx *tx, const struct door *door, struct str from, struct access_decision *ret,
                       const struct usable **ret_grant)
{
    *ret_grant = NULL;
    if (judge_same_number(door->owner_phone, from) || judge_same_number(door->forward_phone, from)) {
        judge(door, ACCESS_SELF_CALL, ACCESS_OWNER, ret);
        return ERR_NONE;
    }
    if (judge_shut(door, from, ret))
        return ERR_NONE;
    enum err e = judge_find_open(tx, door, ret_grant);
    if (e)
        return e;
    if (!*ret_grant)
        return judge_collect(tx, door, ret);
    if (door->audio == AUDIO_UNKNOWN && door->decision.release.mode != RELEASE_INFO) {
        *ret_grant = NULL;
        judge(door, ACCESS_ANSWER, ACCESS_UNDECIDED, ret);
        return ERR_NONE;
    }
    judge_release(door, *ret_grant, ret);
    return ERR_NONE;
}

/* ---- a code was entered ---- */

/* The first passcode with these digits, or NULL. Compares every passcode in constant time, also after a match. */
static const struct usable *judge_match_code(const struct usable *list, size_t count, struct str digits, bool spoken)
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

/* The passcode with these digits that opens now, or NULL. *ret_closed is one that opens at other times alone, or NULL.
 * An earlier program may have given its code to another one. */
static const struct usable *judge_match_now(const struct usable *list, size_t count, struct str digits, bool spoken,
                                            int64_t now_us, const struct usable **ret_closed)
{
    const struct usable *found = judge_match_code(list, count, digits, spoken);
    *ret_closed = NULL;
    while (found && !judge_open(found, now_us)) {
        *ret_closed = found++;
        found = judge_match_code(found, (size_t)(list + count - found), digits, spoken);
    }
    return found;
}

/* The lengths of the codes, as in struct access_decision. */
static int judge_lengths(const struct usable *list, size_t count, bool spoken)
{
    int lengths = 0;
    for (size_t i = 0; i < count; i++)
        if (list[i].voice || !spoken)
            lengths |= 1 << strlen(list[i].code);
    return lengths;
}

static bool is_incomplete(struct str digits, int lengths)
{
    return digits.n < GRANT_CODE_MAX && !(lengths & ((2 << digits.n) - 1));
}

/* A code that opens nothing. */
static void judge_miss(const struct tx *tx, const struct door *door, struct str digits, enum access_way way,
                       int lengths, struct access_decision *ret)
{
    if (way != ACCESS_UNCLEAR && is_incomplete(digits, lengths)) {
        judge(door, ACCESS_INCOMPLETE, ACCESS_NO_CODE, ret);
        return;
    }
    const struct guard_closing closing = guard_next_closing(&door->guard, way != ACCESS_KEYS, tx->now_us);
    judge(door, ACCESS_WRONG, closing.minutes ? ACCESS_KEYPAD_CLOSED : ACCESS_WRONG_CODE, ret);
    ret->closing = closing;
}

/* A right code outside its window. It is a wrong one of a caller who has not opened this door before: the guard must
 * not tell guesses that they are right. */
static void judge_outside(const struct tx *tx, const struct door *door, const struct usable *grant, enum access_way way,
                          struct access_decision *ret)
{
    struct guard_closing closing = {.minutes = 0};
    if (!door->guard.released_us)
        closing = guard_next_closing(&door->guard, way != ACCESS_KEYS, tx->now_us);
    judge(door, ACCESS_WRONG, closing.minutes ? ACCESS_KEYPAD_CLOSED : ACCESS_OUTSIDE_WINDOW, ret);
    ret->closing = closing;
    ret->grant_id = grant->id;
    ret->grant_label = grant->label;
    ret->near[0] = near_outside(grant, tx->now_us);
    ret->near_count = 1;
}

/* Decides with the usable passcodes. */
static const struct usable *judge_with(const struct tx *tx, const struct door *door, const struct usable *list,
                                       size_t count, struct str digits, enum access_way way,
                                       struct access_decision *ret)
{
    const bool spoken = way != ACCESS_KEYS;
    const int speakable = guard_speech_closed(&door->guard, tx->now_us) ? 0 : judge_lengths(list, count, true);
    const struct usable *grant = NULL, *closed = NULL;
    if (!count)
        judge(door, ACCESS_FORWARD, ACCESS_NO_GRANT, ret);
    else if (spoken && !speakable)
        judge(door, ACCESS_COLLECT, ACCESS_NO_CODE, ret);
    else if (way != ACCESS_UNCLEAR && (grant = judge_match_now(list, count, digits, spoken, tx->now_us, &closed)))
        judge_release(door, grant, ret);
    else if (closed)
        judge_outside(tx, door, closed, way, ret);
    else
        judge_miss(tx, door, digits, way, spoken ? speakable : judge_lengths(list, count, false), ret);
    ret->voice = speakable && !ret->closing.speech;
    ret->lengths = judge_lengths(list, count, false);
    return grant;
}

enum err judge_code(struct tx *tx, const struct door *door, struct str digits, enum access_way way,
                    struct access_decision *ret, const struct usable **ret_grant)
{
    const struct usable *list;
    size_t count;
    *ret_grant = NULL;
    if (judge_shut(door, door->guard.caller, ret))
        return ERR_NONE;
    if (guard_closed(&door->guard, tx->now_us)) {
        judge(door, ACCESS_FORWARD, ACCESS_KEYPAD_CLOSED, ret);
        return ERR_NONE;
    }
    enum err e = door_usable(tx, door, GRANT_PASSCODE, &list, &count);
    if (!e)
        *ret_grant = judge_with(tx, door, list, count, digits, way, ret);
    if (!e && ret->verdict == ACCESS_WRONG && ret->reason != ACCESS_OUTSIDE_WINDOW && way != ACCESS_UNCLEAR)
        e = near_with_code(tx, &door->decision.building_id, digits, ret->near, &ret->near_count);
    return e == ERR_NOT_FOUND ? ERR_NONE : e;
}
