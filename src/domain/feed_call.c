/* The events of calls. */
#include "domain/feed.h"

#include "domain/grant.h"

static struct feed_data data_of(const struct call_arrival *call)
{
    return (struct feed_data){.call_id = v_str(id_str(&call->id)),
                              .caller = *call->caller ? v_str(str_z(call->caller)) : v_null()};
}

static enum err add_decision(struct tx *tx, const struct call_arrival *call, enum feed_type type,
                             const struct access_decision *d, enum access_reason reason)
{
    struct feed_data data = data_of(call);
    if (d->ring.resting)
        data.quiet = v_bool(true);
    data.reason = v_str(str_z(access_reason_names[reason]));
    data.unlock_id = v_str(id_str(&d->grant_id));
    data.label = v_str(d->grant_label);
    data.remaining_uses = d->remaining_uses == GRANT_UNLIMITED ? v_null() : v_int(d->remaining_uses);
    return feed_add(tx, &d->building_id, type, tx->now_us, &data);
}

enum err feed_decided(struct tx *tx, const struct call_arrival *call, enum feed_decision what,
                      const struct access_decision *d, enum access_reason reason)
{
    enum err e = ERR_NONE;
    if (d->verdict == ACCESS_REJECT || d->verdict == ACCESS_SELF_CALL || d->verdict == ACCESS_ANSWER)
        return ERR_NONE;
    if (what == FEED_ARRIVAL)
        e = add_decision(tx, call, FEED_CALL_RING, d, reason);
    if (!e && d->verdict == ACCESS_RELEASE)
        e = add_decision(tx, call, FEED_CALL_RELEASED, d, d->reason);
    if (!e && d->verdict == ACCESS_WRONG)
        e = add_decision(tx, call, FEED_CALL_CODE_WRONG, d, reason);
    if (!e && what == FEED_FORWARDING)
        e = add_decision(tx, call, FEED_CALL_FORWARDED, d, reason);
    return e;
}

/* The type of a step's event; FEED_TYPE_COUNT: it has none, or a decision wrote it. */
static enum feed_type type_of(const struct call_step *s)
{
    switch (s->kind) {
    case CALL_STEP_SAID:
        return str_eq(s->text, STR("welcome")) ? FEED_CALL_GREETING : FEED_TYPE_COUNT;
    case CALL_STEP_RINGING:
        return FEED_CALL_RINGING;
    case CALL_STEP_CONNECTED:
        return FEED_CALL_ANSWERED;
    case CALL_STEP_LISTENING:
        return FEED_CALL_LISTENING;
    case CALL_STEP_RESIDENT_OPENED:
        return str_eq(s->text, STR("no_tone")) ? FEED_TYPE_COUNT : FEED_CALL_OPENED;
    case CALL_STEP_UNANSWERED:
        return FEED_CALL_UNANSWERED;
    case CALL_STEP_MESSAGE:
        return str_eq(s->text, STR("lost")) ? FEED_TYPE_COUNT : FEED_CALL_MESSAGE;
    default:
        return FEED_TYPE_COUNT;
    }
}

enum err feed_steps(struct tx *tx, const struct call_arrival *call, const struct id *building, struct str steps)
{
    struct call_step step;
    enum err e = ERR_NONE;
    while (!e && call_step_read(&steps, &step)) {
        const enum feed_type type = type_of(&step);
        struct feed_data data = data_of(call);
        data.reason = v_str(step.text.p ? step.text : STR(""));
        data.number = v_str(step.ref);
        data.key_id = v_str(step.ref);
        if (type != FEED_TYPE_COUNT)
            e = feed_add_again(tx, building, type, call->started_us + step.at_ms * 1000, &data);
    }
    return e;
}

bool feed_tells(struct str steps)
{
    struct call_step step;
    while (call_step_read(&steps, &step))
        if (type_of(&step) != FEED_TYPE_COUNT)
            return true;
    return false;
}

enum err feed_ended(struct tx *tx, const struct call_arrival *call, const struct call_end *end)
{
    struct feed_data data = data_of(call);
    data.outcome = v_str(str_z(call_record_outcome_names[end->outcome]));
    data.ended_by = v_str(str_z(call_ended_by_names[end->ended_by]));
    return feed_add_again(tx, &end->building_id, FEED_CALL_ENDED, end->ended_us, &data);
}
