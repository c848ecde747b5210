#include "billing/operation_step.h"

#include <assert.h>

/* The transitions of both operations, and of their undoing. */
static const struct {
    enum operation_step next, refused, backward, forward;
} transitions[STEP_COUNT] = {
    [STEP_ADD_QUANTITY] = {STEP_ADD_BUILDING, STEP_PAYMENT_FAILED, STEP_ADD_UNDO_QUANTITY, STEP_ADD_QUANTITY},
    [STEP_ADD_BUILDING] = {STEP_ADD_NUMBER, STEP_ADD_BUILDING, STEP_ADD_UNDO_BUILDING, STEP_ADD_BUILDING},
    [STEP_ADD_NUMBER] = {STEP_SUCCEEDED, STEP_ADD_UNDO_BUILDING, STEP_ADD_UNDO_NUMBER, STEP_ADD_NUMBER},
    [STEP_ADD_UNDO_NUMBER] = {STEP_ADD_UNDO_BUILDING, STEP_ADD_UNDO_NUMBER, STEP_ADD_UNDO_NUMBER, STEP_ADD_NUMBER},
    [STEP_ADD_UNDO_BUILDING] = {STEP_ADD_UNDO_QUANTITY, STEP_ADD_UNDO_BUILDING, STEP_ADD_UNDO_BUILDING,
                                STEP_ADD_BUILDING},
    [STEP_ADD_UNDO_QUANTITY] = {STEP_ADD_FAILED, STEP_ADD_UNDO_QUANTITY, STEP_ADD_UNDO_QUANTITY, STEP_ADD_QUANTITY},
    [STEP_REMOVE_RELEASE] = {STEP_REMOVE_DELETE, STEP_REMOVE_RELEASE, STEP_REMOVE_UNDO_RELEASE, STEP_REMOVE_RELEASE},
    [STEP_REMOVE_DELETE] = {STEP_REMOVE_QUANTITY, STEP_REMOVE_DELETE, STEP_NONE, STEP_REMOVE_DELETE},
    [STEP_REMOVE_QUANTITY] = {STEP_SUCCEEDED, STEP_REMOVE_QUANTITY, STEP_NONE, STEP_REMOVE_QUANTITY},
    [STEP_REMOVE_UNDO_RELEASE] = {STEP_REMOVE_UNDONE, STEP_REMOVE_UNDO_RELEASE, STEP_REMOVE_UNDO_RELEASE,
                                  STEP_REMOVE_RELEASE},
};

/* The status and the error of each end. */
static const struct {
    enum operation_status status;
    enum err error;
} ends[STEP_COUNT] = {
    [STEP_SUCCEEDED] = {OPERATION_SUCCEEDED, ERR_NONE},
    [STEP_PAYMENT_FAILED] = {OPERATION_FAILED, ERR_PAYMENT_FAILED},
    [STEP_ADD_FAILED] = {OPERATION_FAILED, ERR_BUILDING_ADD_FAILED},
    [STEP_REMOVE_UNDONE] = {OPERATION_FAILED, ERR_NONE},
};

enum operation_step operation_next(enum operation_step step, enum step_outcome outcome)
{
    assert(step < STEP_COUNT);
    return outcome == STEP_DID ? transitions[step].next : transitions[step].refused;
}

bool operation_step_is_end(enum operation_step step)
{
    return step >= STEP_SUCCEEDED;
}

enum operation_step operation_forward(enum operation_step step)
{
    assert(step < STEP_COUNT);
    return transitions[step].forward;
}

enum operation_step operation_backward(enum operation_step step)
{
    assert(step < STEP_COUNT);
    return transitions[step].backward;
}

/* ---- the record ---- */

static enum err operation_end(struct tx *tx, struct operation *o, enum operation_step end)
{
    int64_t changed;
    const enum err error = ends[end].error;
    enum err e = db_exec(tx->db,
                         SQL(operation_end, .account_id = &o->account_id, .id = &o->id,
                             .status_before = str_z(operation_status_text(o->status)),
                             .step = str_z(operation_step_text(o->step)),
                             .status = str_z(operation_status_text(ends[end].status)),
                             .error = error ? str_z(err_info(error)->code) : STR_NONE, .progressed_at = tx->now_us),
                         &changed);
    if (e || !changed)
        return e ? e : ERR_NOT_FOUND;
    o->status = ends[end].status;
    o->error = error;
    o->step = STEP_NONE;
    o->progressed_us = tx->now_us;
    return ERR_NONE;
}

static enum err operation_set_step(struct tx *tx, struct operation *o, enum operation_step next, int64_t attempt,
                                   int64_t progressed_us)
{
    int64_t changed;
    enum err e = db_exec(
        tx->db,
        SQL(operation_step, .account_id = &o->account_id, .id = &o->id,
            .status = str_z(operation_status_text(o->status)), .step_before = str_z(operation_step_text(o->step)),
            .step = str_z(operation_step_text(next)), .attempt = attempt, .progressed_at = progressed_us),
        &changed);
    if (e || !changed)
        return e ? e : ERR_NOT_FOUND;
    o->step = next;
    o->attempt = attempt;
    o->progressed_us = progressed_us;
    return ERR_NONE;
}

enum err operation_record(struct tx *tx, struct operation *o, enum operation_step next)
{
    if (operation_step_is_end(next))
        return operation_end(tx, o, next);
    if (next == o->step)
        return operation_set_step(tx, o, next, o->attempt + 1, o->progressed_us);
    return operation_set_step(tx, o, next, o->attempt, tx->now_us);
}

enum err operation_turn(struct tx *tx, struct operation *o, enum operation_step next)
{
    return operation_set_step(tx, o, next, o->attempt + 1, o->progressed_us);
}

enum err operation_progress(struct tx *tx, struct operation *o)
{
    return operation_set_step(tx, o, o->step, o->attempt, tx->now_us);
}

enum err operation_set_number(struct tx *tx, struct operation *o, struct str number)
{
    enum err e = db_exec(
        tx->db, SQL(operation_set_number, .account_id = &o->account_id, .id = &o->id, .result_number = number), NULL);
    if (!e)
        o->result_number = number;
    return e;
}

enum err operation_insert_building(struct tx *tx, const struct operation *o)
{
    const struct building_address *a = &o->address;
    db_notify(tx->db, TOPIC_KEYS);
    return db_exec(tx->db,
                   SQL(operation_insert_building, .account_id = &o->account_id, .id = &o->building_id,
                       .created_at = tx->now_us, .label = o->label, .street = a->street, .city = a->city,
                       .state = a->state, .zip = a->zip, .country = a->country,
                       .phone = o->phone_given ? o->phone_number : STR_NONE, .unlock_tone = o->unlock_tone,
                       .timezone = o->timezone),
                   NULL);
}
