#include "jobs/building_saga.h"

#include "domain/number.h"
#include "domain/removal.h"
#include "jobs/number.h"

#define REPEAT_US (20 * US_PER_S) /* a slower call is not repeated at once: the job's lease must hold */

struct step {
    /* The call to a provider; NULL without one. Its transactions may be repeated. */
    enum outcome (*call)(struct building_saga *s);
    /* Our change, in the transaction that records the step as done; NULL without one. */
    enum err (*apply)(struct tx *tx, struct building_saga *s, struct operation *o);
    enum err refused; /* the error of a refusal that has no alternative */
};

static struct str reference(const struct building_saga *s)
{
    return id_str(&s->o.building_id);
}

/* ---- the subscription's quantity ---- */

static enum outcome saga_set_quantity(struct building_saga *s, int64_t quantity)
{
    struct billing *b = s->providers->billing;
    const struct operation_billing *at = &s->o.billing;
    struct str key = arena_printf(s->work->arena, "%s-%s-%lld", s->o.id.text, operation_step_text(s->o.step),
                                  (long long)s->o.attempt);
    return b->ops->set_quantity(b, key, at->subscription_id, quantity, at->proration_s, s->work->arena);
}

static enum outcome call_increase(struct building_saga *s)
{
    return saga_set_quantity(s, s->o.billing.new_quantity);
}

/* A canceled subscription has no quantity to set, so that the step is done. */
static enum outcome check_canceled(struct building_saga *s)
{
    struct billing *b = s->providers->billing;
    struct billing_subscription now;
    enum outcome o = b->ops->subscription_get(b, s->o.billing.subscription_id, s->work->arena, &now);
    return o == OUTCOME_DONE && now.status != BILLING_CANCELED ? OUTCOME_REFUSED : o;
}

/* For steps that have no alternative. */
static enum outcome set_required_quantity(struct building_saga *s, int64_t quantity)
{
    enum outcome o = saga_set_quantity(s, quantity);
    return o == OUTCOME_REFUSED ? check_canceled(s) : o;
}

static enum outcome call_restore(struct building_saga *s)
{
    return set_required_quantity(s, s->o.billing.current_quantity);
}

static enum outcome call_decrease(struct building_saga *s)
{
    return set_required_quantity(s, s->o.billing.new_quantity);
}

/* ---- a new building ---- */

static enum err apply_building(struct tx *tx, struct building_saga *s, struct operation *o)
{
    (void)s;
    return operation_insert_building(tx, o);
}

static enum err apply_no_building(struct tx *tx, struct building_saga *s, struct operation *o)
{
    (void)s;
    return removal_finish(tx, &o->account_id, &o->building_id);
}

/* ---- its number ---- */

static enum err claim_from_inventory(struct tx *tx, void *arg)
{
    return number_claim(tx, &((struct building_saga *)arg)->o.building_id, &((struct building_saga *)arg)->claim);
}

/* Finds a number that an earlier run was given, but whose answer it lost. */
static enum outcome find_provided(struct building_saga *s)
{
    struct number_source *n = s->providers->numbers;
    enum outcome o = n->ops->find(n, reference(s), s->work->arena, &s->number);
    s->provided = o == OUTCOME_DONE && s->number.p;
    return o == OUTCOME_DONE ? OUTCOME_DONE : OUTCOME_UNKNOWN;
}

static enum outcome call_acquire_number(struct building_saga *s)
{
    struct number_source *n = s->providers->numbers;
    enum outcome o = s->resumed ? find_provided(s) : OUTCOME_DONE;
    if (o != OUTCOME_DONE || s->provided || s->work->config->assigned)
        return o; /* the operator assigns one */
    if (work_write(s->work, claim_from_inventory, s))
        return OUTCOME_UNKNOWN;
    s->number = s->claim.number;
    if (s->number.p)
        return OUTCOME_DONE;
    s->resumed = true; /* from now on the provider may have acted */
    o = n->ops->acquire(n, reference(s), s->claim.country, s->until_us, s->work->arena, &s->number);
    s->provided = o == OUTCOME_DONE;
    return o;
}

static enum err apply_number(struct tx *tx, struct building_saga *s, struct operation *o)
{
    struct str held = s->number;
    enum err e = s->provided ? number_add_provided(tx, &o->building_id, s->number, &held) : ERR_NONE;
    return e ? e : operation_set_number(tx, o, held);
}

/* ---- releasing the number ---- */

struct detachment {
    struct building_saga *s;
    struct operation after;
    bool leaving;
};

/* Detaches the number from the building, or reads the one that an earlier run detached. A number that the building got
 * since then is deleted with its row. */
static enum err detach_number_run(struct tx *tx, void *arg)
{
    struct detachment *d = arg;
    struct str number;
    d->after = d->s->o;
    if (d->after.result_number.p)
        return number_leaving(tx, d->after.result_number, &d->leaving);
    enum err e = number_detach(tx, &d->after.building_id, &number, &d->leaving);
    return e || !number.p ? e : operation_set_number(tx, &d->after, number);
}

static enum outcome release_to_provider(struct building_saga *s, struct str number)
{
    struct number_source *n = s->providers->numbers;
    return n->ops->release(n, number);
}

static enum outcome release_recorded(struct building_saga *s, bool *ret_leaving)
{
    struct detachment d = {.s = s};
    if (work_write(s->work, detach_number_run, &d))
        return OUTCOME_UNKNOWN;
    s->o = d.after;
    *ret_leaving = d.leaving;
    return d.leaving ? release_to_provider(s, s->o.result_number) : OUTCOME_DONE;
}

static enum outcome call_release_number(struct building_saga *s)
{
    bool leaving;
    return release_recorded(s, &leaving);
}

static enum err apply_release(struct tx *tx, struct building_saga *s, struct operation *o)
{
    (void)s;
    return o->result_number.p ? number_forget(tx, o->result_number) : ERR_NONE;
}

/* The same for a new building: its number may have been bought without being in the inventory. */
static enum outcome call_release_new_number(struct building_saga *s)
{
    bool leaving;
    enum outcome o = release_recorded(s, &leaving);
    if (o != OUTCOME_DONE || leaving)
        return o;
    o = find_provided(s);
    return o == OUTCOME_DONE && s->number.p ? release_to_provider(s, s->number) : o;
}

static enum err apply_no_number(struct tx *tx, struct building_saga *s, struct operation *o)
{
    enum err e = apply_release(tx, s, o);
    return e ? e : operation_set_number(tx, o, STR_NONE);
}

/* ---- keeping the number after all ---- */

static enum err read_leaving(struct tx *tx, void *arg)
{
    struct detachment *d = arg;
    return number_leaving(tx, d->s->o.result_number, &d->leaving);
}

/* Does the provider still hold it for us? */
static enum outcome call_keep_number(struct building_saga *s)
{
    struct detachment d = {.s = s};
    if (!s->o.result_number.p)
        return OUTCOME_DONE;
    if (work_write(s->work, read_leaving, &d))
        return OUTCOME_UNKNOWN;
    enum outcome o = d.leaving ? find_provided(s) : OUTCOME_DONE;
    s->lost = d.leaving && !str_eq(s->number, s->o.result_number);
    return o;
}

/* Gives the building its number back, or has a job get another one if it is gone. */
static enum err apply_release_undone(struct tx *tx, struct building_saga *s, struct operation *o)
{
    bool again = false;
    enum err e = ERR_NONE;
    if (!o->result_number.p)
        return ERR_NONE;
    if (s->lost)
        e = number_forget(tx, o->result_number);
    else
        e = number_reattach(tx, &o->building_id, o->result_number, &again);
    if (!e && !again)
        e = number_provision(tx, &o->building_id);
    return e ? e : operation_set_number(tx, o, STR_NONE);
}

/* ---- deleting ---- */

struct deletion {
    struct building_saga *s;
    struct operation after;
    bool more;
};

static enum err delete_batch(struct tx *tx, void *arg)
{
    struct deletion *w = arg;
    w->after = w->s->o;
    enum err e = removal_sweep(tx, &w->after.building_id, &w->more);
    return e ? e : operation_progress(tx, &w->after);
}

static enum outcome call_delete_data(struct building_saga *s)
{
    struct deletion w = {.s = s, .more = true};
    while (w.more) {
        if (work_write(s->work, delete_batch, &w))
            return OUTCOME_UNKNOWN;
        s->o = w.after;
    }
    return OUTCOME_DONE;
}

/* ---- one step ---- */

static const struct step steps[STEP_COUNT] = {
    [STEP_ADD_QUANTITY] = {call_increase, NULL, ERR_PAYMENT_FAILED},
    [STEP_ADD_BUILDING] = {NULL, apply_building, ERR_NONE},
    [STEP_ADD_NUMBER] = {call_acquire_number, apply_number, ERR_NUMBER_NOT_PROVISIONED},
    [STEP_ADD_UNDO_NUMBER] = {call_release_new_number, apply_no_number, ERR_NUMBER_NOT_PROVISIONED},
    [STEP_ADD_UNDO_BUILDING] = {NULL, apply_no_building, ERR_NONE},
    [STEP_ADD_UNDO_QUANTITY] = {call_restore, NULL, ERR_PAYMENT_FAILED},
    [STEP_REMOVE_RELEASE] = {call_release_number, apply_release, ERR_NUMBER_NOT_PROVISIONED},
    [STEP_REMOVE_DELETE] = {call_delete_data, apply_no_building, ERR_NONE},
    [STEP_REMOVE_QUANTITY] = {call_decrease, NULL, ERR_PAYMENT_FAILED},
    [STEP_REMOVE_UNDO_RELEASE] = {call_keep_number, apply_release_undone, ERR_NUMBER_NOT_PROVISIONED},
};

struct step_record {
    struct building_saga *s;
    const struct step *step; /* NULL after a refusal */
    enum operation_step next;
    struct operation after;
};

static enum err record_step(struct tx *tx, void *arg)
{
    struct step_record *r = arg;
    r->after = r->s->o;
    enum err e = r->step && r->step->apply ? r->step->apply(tx, r->s, &r->after) : ERR_NONE;
    return e ? e : operation_record(tx, &r->after, r->next);
}

static enum outcome call_provider(struct building_saga *s, const struct step *step)
{
    int64_t until_us = clock_monotonic_us() + REPEAT_US;
    enum outcome o = OUTCOME_DONE;
    int tries = 0;
    s->number = STR_NONE;
    s->provided = s->lost = false;
    do
        o = !tenure_holds(&s->tenure) ? OUTCOME_UNKNOWN : step->call ? step->call(s) : OUTCOME_DONE;
    while (clock_monotonic_us() < until_us && outcome_again(o, &tries));
    return o;
}

enum err building_saga_step(struct building_saga *s)
{
    const enum operation_step from = s->o.step;
    const struct step *step = &steps[from];
    enum outcome o = call_provider(s, step);
    if (o == OUTCOME_UNKNOWN)
        return ERR_PROVIDER_UNAVAILABLE;
    struct step_record r = {.s = s, .step = o == OUTCOME_DONE ? step : NULL};
    r.next = operation_next(from, o == OUTCOME_DONE ? STEP_DID : STEP_REFUSED);
    if (o == OUTCOME_REFUSED && s->onward)
        r.next = from;
    enum err e = work_write(s->work, record_step, &r);
    if (e)
        return e;
    s->o = r.after;
    s->resumed = false;
    if (from == STEP_ADD_NUMBER && s->o.result_number.p)
        jobs_log_assigned(s->o.result_number, &s->o.building_id, &s->o.account_id);
    return r.next == from ? step->refused : ERR_NONE;
}
