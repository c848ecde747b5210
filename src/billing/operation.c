#include "billing/operation.h"

#include "billing/operation_row.h"
#include "domain/account.h"
#include "domain/destination.h"
#include "domain/job.h"
#include "domain/phone.h"

/* ---- the account ---- */

struct standing {
    bool active, subscribed;           /* subscribed: active or past due */
    struct str subscription_id, phone; /* STR_NONE: not set */
    int64_t building_count;
};

static enum err read_standing(struct tx *tx, const struct id *account, struct standing *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(operation_account, .id = account), &c);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_ACCOUNT_NOT_FOUND : e;
    const struct row_operation_account row = row_operation_account(&c, tx->arena);
    *ret = (struct standing){
        .active = str_eq(row.subscription_status, str_z(subscription_status_text(SUBSCRIPTION_ACTIVE))),
        .subscribed = !str_eq(row.subscription_status, str_z(subscription_status_text(SUBSCRIPTION_NONE))),
        .subscription_id = row.subscription_id,
        .phone = row.phone,
        .building_count = row.buildings,
    };
    if (tx->config->unbilled) /* as providers/no_billing.c names it */
        ret->subscription_id = id_str(account);
    return ERR_NONE;
}

enum err operation_current(struct tx *tx, const struct id *account, struct operation *ret)
{
    return operation_one(tx, SQL(operation_current, .account_id = account), ret);
}

/* ---- preview ---- */

static enum err draft_phone(struct tx *tx, const struct id *account, const struct standing *now, struct str given,
                            struct str *ret)
{
    bool verified = true;
    if (!given.p && !now->phone.p)
        return ERR_PHONE_VERIFICATION_REQUIRED;
    if (given.p && !destination_allowed(tx->config, given))
        return tx_fail(tx, ERR_INVALID_PHONE_NUMBER, DESTINATION_REFUSED);
    enum err e = given.p ? phone_verified_before(tx, account, given, &verified) : ERR_NONE;
    if (e || !verified)
        return e ? e : ERR_FORWARDING_PHONE_NOT_VERIFIED;
    *ret = given.p ? given : now->phone;
    return ERR_NONE;
}

static enum err draft_add(struct tx *tx, const struct id *account, const struct standing *now,
                          const struct operation_input *input, struct operation *ret)
{
    if (now->building_count >= BUILDING_MAX)
        return ERR_BUILDING_LIMIT;
    ret->label = input->label;
    ret->address = input->address;
    ret->unlock_tone = input->unlock_tone;
    ret->phone_given = input->phone_number.p != NULL;
    ret->timezone = input->timezone.p ? input->timezone : str_z(building_zones(&input->address)[0]);
    return draft_phone(tx, account, now, input->phone_number, &ret->phone_number);
}

static enum err draft_remove(struct tx *tx, const struct id *account, const struct operation_input *input,
                             struct operation *ret)
{
    struct building b;
    enum err e = building_get(tx, account, &input->building_id, &b);
    if (e)
        return e;
    if (b.primary)
        return tx_fail(tx, ERR_INVALID_BUILDING_INPUT, "the primary building cannot be removed");
    ret->building_id = b.id;
    ret->label = b.label;
    ret->virtual_number = b.number;
    return ERR_NONE;
}

static enum err operation_make_draft(struct tx *tx, const struct id *account, const struct operation_input *input,
                                     struct operation *ret)
{
    struct standing now;
    enum err e = read_standing(tx, account, &now);
    if (!e && !now.active)
        e = ERR_MULTI_BUILDING_REQUIRED;
    if (e)
        return e;
    *ret = (struct operation){.id = id_new(tx->now_us),
                              .account_id = *account,
                              .action = input->action,
                              .created_us = tx->now_us,
                              .expires_us = tx->now_us + OPERATION_QUOTE_TTL_S * US_PER_S,
                              .building_count = now.building_count,
                              .billing = {.subscription_id = now.subscription_id}};
    e = input->action == OPERATION_ADD ? draft_add(tx, account, &now, input, ret)
                                       : draft_remove(tx, account, input, ret);
    return e || now.subscription_id.p ? e : ERR_BUILDING_BILLING_MISMATCH;
}

enum err operation_draft(struct tx *tx, const struct id *account, const struct operation_input *input,
                         struct str *ret_subscription)
{
    struct operation o;
    enum err e = operation_make_draft(tx, account, input, &o);
    if (!e)
        *ret_subscription = o.billing.subscription_id;
    return e;
}

int64_t operation_new_quantity(enum operation_action action, const struct operation_facts *facts)
{
    return action == OPERATION_ADD ? facts->quantity + 1 : facts->quantity - 1;
}

/* One unit for each building. While an operation has not ended, it may be either of its two quantities: a quote is
 * still given, but cannot be executed before. */
static enum err check_quantity(struct tx *tx, const struct operation *o, int64_t quantity)
{
    struct operation current;
    if (quantity == o->building_count)
        return ERR_NONE;
    enum err e = operation_current(tx, &o->account_id, &current);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_BUILDING_BILLING_MISMATCH : e;
    bool its = quantity == current.billing.current_quantity || quantity == current.billing.new_quantity;
    return its ? ERR_NONE : ERR_BUILDING_BILLING_MISMATCH;
}

static enum err operation_insert(struct tx *tx, const struct operation *o)
{
    const struct building_address *a = &o->address;
    const struct operation_billing *b = &o->billing;
    return db_exec(
        tx->db,
        SQL(operation_insert, .account_id = &o->account_id, .id = &o->id,
            .action = str_z(operation_action_text(o->action)), .created_at = o->created_us, .expires_at = o->expires_us,
            .building_id = &o->building_id, .label = o->label, .street = a->street, .city = a->city, .state = a->state,
            .zip = a->zip, .country = a->country, .unlock_tone = o->unlock_tone, .phone_number = o->phone_number,
            .virtual_number = o->virtual_number, .building_count = o->building_count,
            .subscription_id = b->subscription_id, .price_id = b->price_id, .current_quantity = b->current_quantity,
            .new_quantity = b->new_quantity, .currency = b->currency, .next_invoice_minor = b->next_invoice_minor,
            .per_building_minor = b->per_building_minor < 0 ? v_null() : v_int(b->per_building_minor),
            .billing_interval = b->interval, .proration_s = b->proration_s, .phone_given = o->phone_given,
            .timezone = o->timezone),
        NULL);
}

enum err operation_quote(struct tx *tx, const struct id *account, const struct operation_input *input,
                         const struct operation_offer *offer, struct operation *ret)
{
    const struct operation_facts *facts = offer->facts;
    struct operation o;
    enum err e = operation_make_draft(tx, account, input, &o);
    if (e)
        return e;
    if (!facts)
        return ERR_BUILDING_BILLING_MISMATCH;
    if (!facts->active)
        return ERR_MULTI_BUILDING_REQUIRED;
    o.billing = (struct operation_billing){
        .subscription_id = o.billing.subscription_id,
        .price_id = facts->price_id,
        .currency = facts->currency,
        .interval = facts->interval,
        .current_quantity = facts->quantity,
        .new_quantity = operation_new_quantity(input->action, facts),
        .next_invoice_minor = offer->next_invoice_minor,
        .per_building_minor = facts->amount_minor,
        .proration_s = offer->proration_s,
    };
    e = check_quantity(tx, &o, facts->quantity);
    if (!e)
        e = operation_insert(tx, &o);
    if (!e)
        *ret = o;
    return e;
}

/* ---- execution ---- */

enum err operation_replay(struct tx *tx, const struct operation_request *r, struct operation *ret)
{
    struct operation o;
    enum err e = operation_one(tx, SQL(operation_by_request, .account_id = &r->account_id, .request_id = r->key), &o);
    if (e)
        return e;
    bool same = memcmp(o.request_hash, r->hash, SHA256_LEN) == 0 && o.action == r->action &&
                (r->action == OPERATION_ADD || id_equal(&o.building_id, &r->building_id));
    if (!same)
        return ERR_IDEMPOTENCY_CONFLICT;
    *ret = o;
    return ERR_NONE;
}

static enum err check_quote(const struct operation_request *r, const struct operation *o)
{
    if (o->action != r->action || (r->action == OPERATION_REMOVE && !id_equal(&o->building_id, &r->building_id)))
        return ERR_INVALID_QUOTE_CONFLICT;
    if (o->status == OPERATION_EXPIRED)
        return ERR_QUOTE_EXPIRED;
    return o->status == OPERATION_QUOTED ? ERR_NONE : ERR_INVALID_QUOTE_CONFLICT; /* executed under another key */
}

static enum err check_busy(struct tx *tx, const struct operation *o)
{
    struct operation current;
    enum err e = operation_current(tx, &o->account_id, &current);
    if (!e)
        return ERR_BUILDING_BUSY;
    return e == ERR_NOT_FOUND ? ERR_NONE : e;
}

/* The building must still have the number that the quote promises to release. */
static enum err check_removed(struct tx *tx, const struct operation *o)
{
    struct building b;
    enum err e = building_get(tx, &o->account_id, &o->building_id, &b);
    if (e)
        return e;
    return str_eq(b.number, o->virtual_number) ? ERR_NONE : ERR_QUOTE_STALE;
}

static enum err check_standing(struct tx *tx, const struct operation *o)
{
    struct standing now;
    enum err e = read_standing(tx, &o->account_id, &now);
    if (e)
        return e;
    if (!now.subscribed)
        return ERR_MULTI_BUILDING_REQUIRED;
    if (!now.active || now.building_count != o->building_count ||
        !str_eq(now.subscription_id, o->billing.subscription_id))
        return ERR_QUOTE_STALE;
    return o->action == OPERATION_ADD ? ERR_NONE : check_removed(tx, o);
}

static enum err check_execution(struct tx *tx, const struct operation_request *r, struct operation *ret)
{
    enum err e = operation_one(tx, SQL(operation_get, .account_id = &r->account_id, .id = &r->quote_id), ret);
    if (!e)
        e = check_quote(r, ret);
    if (!e)
        e = check_busy(tx, ret);
    return e ? e : check_standing(tx, ret);
}

enum err operation_check(struct tx *tx, const struct operation_request *request, struct operation *ret,
                         bool *ret_replayed)
{
    struct operation o;
    enum err e = operation_replay(tx, request, &o);
    const bool replayed = !e;
    if (e == ERR_NOT_FOUND)
        e = check_execution(tx, request, &o);
    if (e)
        return e;
    *ret = o;
    *ret_replayed = replayed;
    return ERR_NONE;
}

static enum err check_facts(const struct operation *o, const struct operation_facts *facts)
{
    const struct operation_billing *b = &o->billing;
    if (!facts || !facts->active || facts->quantity != b->current_quantity ||
        facts->amount_minor != b->per_building_minor || !str_eq(facts->price_id, b->price_id) ||
        !str_eq(facts->currency, b->currency) || !str_eq(facts->interval, b->interval))
        return ERR_QUOTE_STALE;
    return facts->quantity == o->building_count ? ERR_NONE : ERR_BUILDING_BILLING_MISMATCH;
}

struct str operation_job(const struct id *operation, struct arena *a)
{
    return arena_printf(a, JOB_OPERATION "-%s", operation->text);
}

static enum err operation_set_running(struct tx *tx, const struct operation_request *request, struct operation *o)
{
    o->status = OPERATION_RUNNING;
    o->step = o->action == OPERATION_ADD ? STEP_ADD_QUANTITY : STEP_REMOVE_RELEASE;
    o->progressed_us = tx->now_us;
    o->request_id = request->key;
    memcpy(o->request_hash, request->hash, SHA256_LEN);
    if (o->action == OPERATION_ADD)
        o->building_id = id_new(tx->now_us);
    int64_t changed;
    enum err e = db_exec(tx->db,
                         SQL(operation_start, .account_id = &o->account_id, .id = &o->id,
                             .step = str_z(operation_step_text(o->step)), .progressed_at = tx->now_us,
                             .building_id = &o->building_id, .request_id = o->request_id,
                             .request_hash = str_bytes(o->request_hash, SHA256_LEN)),
                         &changed);
    if (!e && !changed)
        e = ERR_RETRY; /* it was a quote a moment ago: a lost race */
    return e ? e : job_add_once(tx, operation_job(&o->id, tx->arena), JOB_OPERATION, tx->now_us, id_str(&o->id));
}

enum err operation_start(struct tx *tx, const struct operation_request *request, const struct operation_facts *facts,
                         struct operation *ret, bool *ret_replayed)
{
    struct operation o;
    bool replayed;
    enum err e = operation_check(tx, request, &o, &replayed);
    if (!e && !replayed)
        e = check_facts(&o, facts);
    if (!e && !replayed)
        e = operation_set_running(tx, request, &o);
    if (e)
        return e;
    *ret = o;
    *ret_replayed = replayed;
    return ERR_NONE;
}
