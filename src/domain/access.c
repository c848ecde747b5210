#include "domain/access.h"

#include "domain/access_judge.h"
#include "domain/access_near.h"
#include "domain/access_opening.h"
#include "domain/minutes.h"
#include "domain/notice.h"
#include "domain/owner_mail.h"

static enum err access_reject(struct access_decision *ret)
{
    *ret = (struct access_decision){.verdict = ACCESS_REJECT, .reason = ACCESS_UNKNOWN_NUMBER};
    return ERR_NONE;
}

/* The door of a dialled number. A call box may dial an extension, which the front end took for E.164. */
static enum err access_find_door(struct tx *tx, struct str to, struct str from, struct door *ret)
{
    enum err e = door_by_number(tx, to, from, ret);
    if (e == ERR_NOT_FOUND && str_starts(to, STR("+")))
        e = door_by_number(tx, str_from(to, 1), from, ret);
    return e;
}

enum err access_arrive(struct tx *tx, struct str to, struct str from, enum access_audio audio,
                       struct access_decision *ret)
{
    struct door door;
    struct access_decision decision;
    const struct usable *grant;
    enum err e = access_find_door(tx, to, from, &door);
    if (e)
        return e == ERR_NOT_FOUND ? access_reject(ret) : e;
    door.audio = audio;
    e = judge_arrival(tx, &door, from, &decision, &grant);
    if (!e && grant)
        e = door_record_release(tx, &door, grant);
    decision.remaining_uses = door.remaining_uses;
    if (!e && decision.verdict != ACCESS_SELF_CALL && decision.verdict != ACCESS_REJECT &&
        decision.verdict != ACCESS_ANSWER) {
        door.notices |= NOTICE_BIT(RING);
        e = door_tell(tx, &door);
    }
    if (!e)
        *ret = decision;
    return e;
}

enum err access_look(struct tx *tx, struct str to, struct str from, struct access_decision *ret)
{
    struct door door;
    const struct usable *grant;
    enum err e = access_find_door(tx, to, from, &door);
    if (e)
        return e == ERR_NOT_FOUND ? access_reject(ret) : e;
    struct access_decision decision = door.decision;
    decision.verdict = ACCESS_FORWARD;
    if (from.p)
        e = judge_arrival(tx, &door, from, &decision, &grant);
    if (e)
        return e;
    if (decision.verdict == ACCESS_RELEASE || decision.verdict == ACCESS_COLLECT) {
        decision.verdict = ACCESS_FORWARD;
        decision.grant_id = (struct id){.text = ""};
    }
    if (decision.verdict == ACCESS_FORWARD)
        decision.reason = ACCESS_FAILED;
    *ret = decision;
    return ERR_NONE;
}

enum err access_code(struct tx *tx, const struct id *building, struct str from, enum access_audio audio,
                     struct str digits, enum access_way way, struct access_decision *ret)
{
    struct door door;
    struct access_decision decision;
    const struct usable *grant;
    enum err e = door_by_building(tx, building, from, &door);
    if (e)
        return e == ERR_NOT_FOUND ? access_reject(ret) : e;
    door.audio = audio;
    e = judge_code(tx, &door, digits, way, &decision, &grant);
    if (!e && grant)
        e = door_record_release(tx, &door, grant);
    else if (!e && decision.reason == ACCESS_OUTSIDE_WINDOW && door.guard.released_us)
        e = door_record_outside(tx, &door, &decision);
    else if (!e && decision.verdict == ACCESS_WRONG)
        e = door_record_wrong_code(tx, &door, way != ACCESS_KEYS, &decision.closing);
    decision.remaining_uses = door.remaining_uses;
    if (door.say_opening && decision.verdict == ACCESS_WRONG && decision.near_count)
        decision.opening = opening_text(&decision.near[0], tx->now_us, tx->arena);
    if (!e)
        e = door_tell(tx, &door);
    if (!e)
        *ret = decision;
    return e;
}

/* A phone that answers takes a minute at least, so no more may ring than minutes are left. */
static enum err access_reserve(struct tx *tx, struct door *door)
{
    struct access_decision *d = &door->decision;
    const int64_t phones = (int64_t)d->ring.count + (d->forward_to.p != NULL);
    int64_t minutes;
    enum err e = minutes_left(tx, &d->account_id, &minutes);
    if (e || !phones || minutes == INT64_MAX)
        return e;
    const int64_t most = MINUTES_TALK + phones;
    d->minutes = minutes < most ? minutes : most;
    d->spent = minutes < phones;
    return minutes ? ERR_NONE : owner_mail_minutes(tx, &d->account_id, &d->building_id);
}

static enum err record_forwarding(struct tx *tx, const struct id *building, int64_t at_us, struct door *ret)
{
    enum err e = door_by_building(tx, building, STR_NONE, ret);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_BUILDING_NOT_FOUND : e;
    ret->decision.verdict = ACCESS_FORWARD;
    ret->decision.reason = ACCESS_UNDECIDED;
    return door_record_forward(tx, ret, at_us);
}

enum err access_forwarded(struct tx *tx, const struct id *building, struct access_decision *ret)
{
    struct door door;
    enum err e = record_forwarding(tx, building, tx->now_us, &door);
    if (!e)
        e = access_reserve(tx, &door);
    if (!e && !door.lacks)
        e = near_find(tx, building, door.decision.near, &door.decision.near_count);
    if (!e)
        *ret = door.decision;
    return e;
}

enum err access_forwarded_late(struct tx *tx, const struct id *building, int64_t at_us, struct access_decision *ret)
{
    struct door door;
    enum err e = record_forwarding(tx, building, at_us, &door);
    if (!e)
        *ret = door.decision;
    return e;
}
