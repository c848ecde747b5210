#include "domain/access_door.h"

#include "domain/activity.h"
#include "domain/destination.h"
#include "domain/event.h"
#include "domain/grant_row.h"
#include "domain/list.h"
#include "domain/notice.h"
#include "domain/push.h"
#include "domain/quiet.h"
#include "domain/ready.h"
#include "domain/settings.h"

#define NOTICED_IN_BROWSERS 2 /* as in store/sql/access.sql */

/* ---- reading ---- */

/* Leaves out the phones that may not be called. */
static void bar_phones(const struct config *c, struct access_decision *d)
{
    struct ring *r = &d->ring;
    size_t kept = 0;
    for (size_t i = 0; i < r->count; i++)
        if (destination_allowed(c, r->numbers[i]))
            r->numbers[kept++] = r->numbers[i];
    const bool barred = d->forward_to.p && !destination_allowed(c, d->forward_to);
    if (barred)
        d->forward_to = STR_NONE;
    if (barred || kept < r->count)
        d->barred = BARRED_DESTINATION;
    r->count = kept;
}

/* The phones of persons who are in their quiet hours. */
struct resting {
    struct str numbers[1 + RING_MEMBERS_MAX];
    size_t count;
};

static bool rests(const struct resting *r, struct str number)
{
    for (size_t i = 0; i < r->count; i++)
        if (str_eq(r->numbers[i], number))
            return true;
    return false;
}

static bool rings(const struct access_decision *d, struct str number)
{
    for (size_t i = 0; i < d->ring.count; i++)
        if (str_eq(d->ring.numbers[i], number))
            return true;
    return str_eq(d->forward_to, number);
}

/* Adds the phones of members, each number once. */
static enum err add_members(struct tx *tx, const struct row_door *door, struct access_decision *d,
                            struct resting *resting)
{
    CURSOR c;
    struct ring *r = &d->ring;
    enum err e = db_query(tx->db, SQL(member_phones, .building_id = &d->building_id, .limit = RING_MEMBERS_MAX), &c);
    for (bool more; !e && !(e = db_next(&c, &more)) && more && r->count < RING_PHONES_MAX;) {
        const struct row_member_phones row = row_member_phones(&c, tx->arena);
        if (quiet_is(row.quiet_from, row.quiet_to, door->timezone, tx->now_us))
            resting->numbers[resting->count++] = row.phone;
        if (!rings(d, row.phone))
            r->numbers[r->count++] = row.phone;
    }
    return e;
}

/* Leaves out the phones of those who rest, and their browsers: `awake` of `browsers` remain. If nobody else would ring,
 * all do. */
static void leave_out(struct access_decision *d, const struct resting *resting, size_t browsers, size_t awake)
{
    struct ring kept = d->ring;
    struct str left[1 + RING_PHONES_MAX] = {STR_NONE};
    size_t n = 0;
    kept.count = 0;
    const bool forward = d->forward_to.p && !rests(resting, d->forward_to);
    if (d->forward_to.p && !forward)
        left[n++] = d->forward_to;
    for (size_t i = 0; i < d->ring.count; i++)
        if (rests(resting, d->ring.numbers[i]))
            left[n++] = d->ring.numbers[i];
        else
            kept.numbers[kept.count++] = d->ring.numbers[i];
    if (!forward && !kept.count && !awake)
        return;
    memcpy(kept.numbers + kept.count, left, n * sizeof *left);
    kept.quiet = n;
    kept.quiet_browsers = awake < browsers;
    kept.resting = true;
    d->ring = kept;
    d->browsers = awake > 0;
    if (!forward)
        d->forward_to = STR_NONE;
}

static enum err count_browsers(struct tx *tx, const struct row_door *row, bool quiet, size_t *ret)
{
    const struct notice_moment ring = {
        .building_id = row->id, .notices = NOTICE_BIT(RING), .at_us = tx->now_us, .quiet = quiet};
    *ret = 0;
    return row->noticed == NOTICED_IN_BROWSERS ? push_count(tx, &ring, ret) : ERR_NONE;
}

/* The phones and browsers that ring. */
static enum err read_ring(struct tx *tx, const struct row_door *row, struct door *door)
{
    struct access_decision *d = &door->decision;
    struct resting resting = {.count = 0};
    size_t browsers = 0, awake = 0;
    const bool quiet = quiet_is(row->quiet_from, row->quiet_to, row->timezone, tx->now_us);
    d->forward_to = row->forward_phone.p ? row->forward_phone : row->phone;
    d->ring = ring_read(&row->ring, (d->forward_to.p != NULL) + (size_t)row->members);
    if (quiet && d->forward_to.p)
        resting.numbers[resting.count++] = d->forward_to;
    enum err e = row->members ? add_members(tx, row, d, &resting) : ERR_NONE;
    bar_phones(tx->config, d);
    door->forward_phone = d->forward_to;
    if (!e)
        e = count_browsers(tx, row, false, &browsers);
    d->browsers = browsers > 0;
    if (e || (!quiet && !row->quiet_members))
        return e;
    e = count_browsers(tx, row, true, &awake);
    if (!e)
        leave_out(d, &resting, browsers, awake);
    return e;
}

static enum err read_row(struct tx *tx, enum sql statement, struct str key, struct str caller, struct row_door *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL_AS(statement, access_by_number, .key = key, .caller = caller), &c);
    if (!e)
        *ret = row_door(&c, tx->arena);
    return e;
}

static enum err door_load(struct tx *tx, enum sql statement, struct str key, struct str from, struct door *ret)
{
    const struct str caller = guard_caller(from);
    struct row_door row = {0};
    enum err e = read_row(tx, statement, key, caller, &row);
    if (e)
        return e;
    struct door door = {
        .decision = {.account_id = row.account_id,
                     .building_id = row.id,
                     .greeting_welcome = greeting_or_default(tx->config, GREETING_WELCOME, row.greeting_welcome),
                     .greeting_granted = greeting_or_default(tx->config, GREETING_GRANTED, row.greeting_granted),
                     .greeting_denied = greeting_or_default(tx->config, GREETING_DENIED, row.greeting_denied),
                     .greeting_forwarding =
                         greeting_or_default(tx->config, GREETING_FORWARDING, row.greeting_forwarding),
                     .greeting_message = greeting_or_default(tx->config, GREETING_MESSAGE, row.greeting_message)},
        .label = row.label,
        .owner_phone = row.phone,
        .guard = guard_read(&row, caller),
        .noticed = row.noticed != 0,
    };
    door.decision.recordings[GREETING_WELCOME] = row.recorded_welcome;
    door.decision.recordings[GREETING_GRANTED] = row.recorded_granted;
    door.decision.recordings[GREETING_DENIED] = row.recorded_denied;
    door.decision.recordings[GREETING_FORWARDING] = row.recorded_forwarding;
    door.decision.recordings[GREETING_MESSAGE] = row.recorded_message;
    const struct str tones = row.unlock_tone;
    if (tones.n < sizeof door.decision.tones)
        memcpy(door.decision.tones, tones.n ? tones.p : "", tones.n);
    door.decision.release = release_read(&row.release, tx->config);
    door.callers = callers_read(&row.callers);
    door.say_opening = v_bool_or(row.say_opening, false);
    door.decision.known_caller =
        door.guard.released_us != 0 || (door.callers.mode == CALLERS_LISTED && callers_allow(&door.callers, caller));
    e = read_ring(tx, &row, &door);
    const struct ready facts = {
        .subscription = row.subscription_status, .number = row.virtual_number, .tone = str_z(door.decision.tones)};
    door.lacks = ready_lacks(&facts) & READY_DOOR;
    if (!e)
        *ret = door;
    return e;
}

enum err door_by_number(struct tx *tx, struct str number, struct str from, struct door *ret)
{
    return door_load(tx, SQL_ACCESS_BY_NUMBER, number, from, ret);
}

enum err door_by_building(struct tx *tx, const struct id *building, struct str from, struct door *ret)
{
    return door_load(tx, SQL_ACCESS_BY_BUILDING, id_str(building), from, ret);
}

static struct usable read_usable(const struct cursor *c, enum grant_type type, struct arena *a)
{
    const struct row_access_usable row = row_access_usable(c, a);
    struct usable u = {
        .id = row.id,
        .type = type,
        .label = row.label,
        .remaining_uses = (int)v_int_or(row.remaining_uses, GRANT_UNLIMITED),
        .voice = row.voice,
        .ends_us = row.ends_at,
    };
    const struct str code = row.access_code;
    if (code.n && code.n <= GRANT_CODE_MAX)
        memcpy(u.code, code.p, code.n);
    u.pass = row.windows.p;
    u.times = row.schedule;
    u.windows = row.windows;
    return u;
}

struct schedule door_schedule(const struct usable *grant)
{
    return grant->pass || grant->type == GRANT_ROUTINE ? grant_row_schedule(&grant->times, grant->windows)
                                                       : (struct schedule){.count = 0};
}

enum err door_usable(struct tx *tx, const struct door *door, enum grant_type type, const struct usable **ret,
                     size_t *ret_count)
{
    CURSOR c;
    struct usable *list = NULL;
    size_t count = 0, room = 0;
    bool more;
    enum err e = db_query(
        tx->db, SQL(access_usable, .building_id = &door->decision.building_id, .type = type, .now = tx->now_us), &c);
    if (e)
        return e;
    while (!(e = db_next(&c, &more)) && more) {
        list = list_room(tx->arena, list, count, &room, sizeof *list);
        list[count++] = read_usable(&c, type, tx->arena);
    }
    if (e)
        return e;
    *ret = list;
    *ret_count = count;
    return ERR_NONE;
}

/* ---- recording ---- */

static struct event_data place_data(const struct door *door, int64_t at_us)
{
    return (struct event_data){
        .building_id = v_str(id_str(&door->decision.building_id)),
        .building_label = v_str(door->label),
        .occurred_at = v_time(at_us),
    };
}

static enum err add_event(struct tx *tx, const struct door *door, enum event_type type, const struct event_data *data)
{
    return event_write(tx, type, &door->decision.account_id, &door->decision.building_id, data, NULL);
}

static enum err add_release_events(struct tx *tx, const struct door *door, const struct usable *grant, int remaining)
{
    struct event_data data = place_data(door, tx->now_us);
    data.unlock_id = v_str(id_str(&grant->id));
    data.unlock_type = v_str(str_z(grant_type_names[grant->type]));
    data.label = v_str(grant->label);
    data.remaining_uses = remaining == GRANT_UNLIMITED ? v_null() : v_int(remaining);
    enum err e = add_event(tx, door, EVENT_ACCESS_GRANTED, &data);
    if (e || remaining != 0)
        return e;
    /* Receivers sort events by occurred_at, in milliseconds: this one must sort after the other. */
    data.occurred_at = v_time(tx->now_us + 1000);
    return add_event(tx, door, EVENT_UNLOCK_NO_USES_REMAINING, &data);
}

/* Takes a use. The grant was read in this transaction, so that a missing row means a lost race. */
static enum err take_use(struct tx *tx, const struct door *door, const struct usable *grant, int *ret_remaining)
{
    int64_t changed;
    if (grant->remaining_uses == GRANT_UNLIMITED) {
        *ret_remaining = GRANT_UNLIMITED;
        return ERR_NONE;
    }
    const struct id_bytes id = id_to_bytes(&grant->id);
    enum err e = db_exec(tx->db,
                         SQL_AS(grant->pass ? SQL_ACCESS_TAKE_PASS_USE : SQL_ACCESS_TAKE_USE, access_take_use,
                                .building_id = &door->decision.building_id, .id = &id, .used_at = tx->now_us),
                         &changed);
    if (e)
        return e;
    if (changed != 1)
        return ERR_RETRY;
    *ret_remaining = grant->remaining_uses - 1;
    return ERR_NONE;
}

enum err door_record_release(struct tx *tx, struct door *door, const struct usable *grant)
{
    const struct access_decision *d = &door->decision;
    int remaining;
    enum err e = take_use(tx, door, grant, &remaining);
    if (!e)
        e = activity_add(tx, &d->building_id,
                         &(struct activity){.type = ACTIVITY_UNLOCK,
                                            .unlock_id = grant->id,
                                            .unlock_type = str_z(grant_type_names[grant->type]),
                                            .name = grant->label,
                                            .succeeded = true});
    if (!e)
        e = db_exec(
            tx->db,
            SQL(access_released, .account_id = &d->account_id, .id = &d->building_id, .last_buzz_at = tx->now_us),
            NULL);
    if (!e)
        e = guard_released(tx, &door->guard, &d->building_id);
    if (e)
        return e;
    door->notices |= remaining == 0 ? NOTICE_BIT(OPENED) | NOTICE_BIT(LAST_USE) : NOTICE_BIT(OPENED);
    door->used = grant->label;
    door->remaining_uses = remaining;
    return add_release_events(tx, door, grant, remaining);
}

enum err door_record_wrong_code(struct tx *tx, struct door *door, bool spoken, struct guard_closing *ret)
{
    const struct access_decision *d = &door->decision;
    enum err e = activity_add(tx, &d->building_id,
                              &(struct activity){.type = ACTIVITY_UNLOCK,
                                                 .unlock_type = str_z(grant_type_names[GRANT_PASSCODE]),
                                                 .name = STR("Wrong passcode")});
    if (!e)
        e = db_exec(tx->db, SQL(access_refused, .account_id = &d->account_id, .id = &d->building_id), NULL);
    const struct event_data data = place_data(door, tx->now_us);
    if (!e)
        e = add_event(tx, door, EVENT_ACCESS_DENIED, &data);
    if (!e)
        e = guard_fail(tx, &door->guard, spoken, &d->account_id, &d->building_id, door->label, ret);
    if (e)
        return e;
    door->notices |= ret->minutes ? NOTICE_BIT(REFUSED) | NOTICE_BIT(GUESSING) : NOTICE_BIT(REFUSED);
    door->closed_minutes = ret->minutes;
    return ERR_NONE;
}

enum err door_record_outside(struct tx *tx, const struct door *door, const struct access_decision *d)
{
    enum err e = activity_add(tx, &d->building_id,
                              &(struct activity){.type = ACTIVITY_UNLOCK,
                                                 .unlock_id = d->grant_id,
                                                 .unlock_type = str_z(grant_type_names[GRANT_PASSCODE]),
                                                 .name = d->grant_label});
    return e ? e
             : db_exec(tx->db, SQL(access_refused, .account_id = &door->decision.account_id, .id = &d->building_id),
                       NULL);
}

enum err door_record_forward(struct tx *tx, const struct door *door, int64_t at_us)
{
    const struct event_data data = place_data(door, at_us);
    struct tx then = *tx;
    then.now_us = at_us;
    enum err e =
        activity_add(&then, &door->decision.building_id,
                     &(struct activity){.type = ACTIVITY_CALL, .name = STR("Forwarded call"), .succeeded = true});
    return e ? e : add_event(tx, door, EVENT_ACCESS_CALL_FORWARDED, &data);
}

enum err door_tell(struct tx *tx, const struct door *door)
{
    if (!door->noticed || !door->notices)
        return ERR_NONE;
    return notice_record(tx, &(struct notice_moment){.building_id = door->decision.building_id,
                                                     .notices = door->notices,
                                                     .at_us = tx->now_us,
                                                     .label = door->used,
                                                     .minutes = door->closed_minutes,
                                                     .quiet = door->decision.ring.resting});
}
