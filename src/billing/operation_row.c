#include "billing/operation_row.h"

#include <assert.h>

#include "domain/list.h"

static const char *const statuses[] = {
    [OPERATION_QUOTED] = "quoted",
    [OPERATION_EXPIRED] = "expired",
    [OPERATION_RUNNING] = "running",
    [OPERATION_SUCCEEDED] = "succeeded",
    [OPERATION_RECONCILIATION_REQUIRED] = "reconciliation_required",
    [OPERATION_FAILED] = "failed",
};

static const char *const steps[STEP_COUNT] = {
    [STEP_ADD_QUANTITY] = "add_quantity",
    [STEP_ADD_BUILDING] = "add_building",
    [STEP_ADD_NUMBER] = "add_number",
    [STEP_ADD_UNDO_NUMBER] = "add_undo_number",
    [STEP_ADD_UNDO_BUILDING] = "add_undo_building",
    [STEP_ADD_UNDO_QUANTITY] = "add_undo_quantity",
    [STEP_REMOVE_RELEASE] = "remove_release",
    [STEP_REMOVE_DELETE] = "remove_delete",
    [STEP_REMOVE_QUANTITY] = "remove_quantity",
    [STEP_REMOVE_UNDO_RELEASE] = "remove_undo_release",
};

const char *operation_action_text(enum operation_action action)
{
    return action == OPERATION_ADD ? "add" : "remove";
}

const char *operation_status_text(enum operation_status status)
{
    return statuses[status];
}

const char *operation_step_text(enum operation_step step)
{
    assert(step < STEP_COUNT);
    return steps[step];
}

static enum operation_status operation_status_of(struct str text)
{
    enum operation_status s = OPERATION_FAILED;
    while (s > OPERATION_QUOTED && !str_eq(text, str_z(statuses[s])))
        s--;
    return s;
}

static enum operation_step step_of(struct str text)
{
    for (enum operation_step s = STEP_NONE + 1; text.p && s < STEP_COUNT; s++)
        if (steps[s] && str_eq(text, str_z(steps[s])))
            return s;
    return STEP_NONE;
}

/* The error that the execution of a failed operation answers with. */
static enum err error_of(struct str code)
{
    static const enum err known[] = {ERR_PAYMENT_FAILED, ERR_BUILDING_ADD_FAILED};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_eq(code, str_z(err_info(known[i])->code)))
            return known[i];
    return ERR_NONE;
}

static struct operation_billing read_billing(const struct row_operation *r)
{
    return (struct operation_billing){
        .subscription_id = r->subscription_id,
        .price_id = r->price_id,
        .currency = r->currency,
        .interval = r->billing_interval,
        .current_quantity = r->current_quantity,
        .new_quantity = r->new_quantity,
        .next_invoice_minor = r->next_invoice_minor,
        .per_building_minor = v_int_or(r->per_building_minor, -1),
        .proration_s = r->proration_s,
    };
}

static struct operation operation_read(const struct row_operation *r, int64_t now_us)
{
    struct operation o = {
        .id = r->id,
        .account_id = r->account_id,
        .action = str_eq(r->action, STR("add")) ? OPERATION_ADD : OPERATION_REMOVE,
        .status = operation_status_of(r->status),
        .created_us = r->created_at,
        .expires_us = r->expires_at,
        .building_id = r->building_id,
        .label = r->label,
        .address = {.street = r->street, .city = r->city, .state = r->state, .zip = r->zip, .country = r->country},
        .unlock_tone = r->unlock_tone,
        .phone_number = r->phone_number,
        .phone_given = r->phone_given,
        .timezone = r->timezone,
        .virtual_number = r->virtual_number,
        .building_count = r->building_count,
        .billing = read_billing(r),
        .request_id = r->request_id,
        .step = step_of(r->step),
        .attempt = r->attempt,
        .progressed_us = v_int_or(r->progressed_at, 0),
        .error = error_of(r->error),
        .result_number = r->result_number,
    };
    if (o.action == OPERATION_ADD && !o.timezone.p) /* quoted by a program before 0049.sql */
        o.timezone = str_z(building_zones(&o.address)[0]);
    const struct str hash = r->request_hash;
    if (hash.n == SHA256_LEN)
        memcpy(o.request_hash, hash.p, SHA256_LEN);
    if (o.status == OPERATION_QUOTED && o.expires_us <= now_us)
        o.status = OPERATION_EXPIRED;
    return o;
}

enum err operation_one(struct tx *tx, const struct db_call *call, struct operation *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, call, &c);
    if (e)
        return e;
    const struct row_operation row = row_operation(&c, tx->arena);
    *ret = operation_read(&row, tx->now_us);
    return ERR_NONE;
}

/* ---- reading ---- */

static enum err operation_stall(struct tx *tx, const struct id *operation)
{
    return db_exec(tx->db, SQL(operation_stall, .id = operation, .before = tx->now_us - OPERATION_STALLED_S * US_PER_S),
                   NULL);
}

enum err operation_find(struct tx *tx, const struct id *operation, struct operation *ret)
{
    enum err e = operation_stall(tx, operation);
    return e ? e : operation_one(tx, SQL(operation_find, .id = operation), ret);
}

enum err operation_get(struct tx *tx, const struct id *account, const struct id *operation, struct operation *ret)
{
    struct operation o;
    enum err e = operation_find(tx, operation, &o);
    if (!e && !id_equal(&o.account_id, account))
        e = ERR_NOT_FOUND;
    if (!e)
        *ret = o;
    return e;
}

enum err operation_list_current(struct tx *tx, const struct operation **ret, const struct str **ret_emails,
                                size_t *ret_count)
{
    CURSOR c = {0};
    enum err e = db_exec(tx->db, SQL(operation_stall_all, .before = tx->now_us - OPERATION_STALLED_S * US_PER_S), NULL);
    if (!e)
        e = db_query(tx->db, SQL(operation_list_current), &c);
    if (e)
        return e;
    struct operation *list = NULL;
    struct str *emails = NULL;
    size_t count = 0, room = 0, email_room = 0;
    for (bool more; !(e = db_next(&c, &more)) && more; count++) {
        list = list_room(tx->arena, list, count, &room, sizeof *list);
        emails = list_room(tx->arena, emails, count, &email_room, sizeof *emails);
        const struct row_operation_list_current row = row_operation_list_current(&c, tx->arena);
        list[count] = operation_read(&row.operation, tx->now_us);
        emails[count] = row.email;
    }
    if (e)
        return e;
    *ret = list;
    *ret_emails = emails;
    *ret_count = count;
    return ERR_NONE;
}

void operation_effects(const struct operation *o, struct arena *a, struct str ret[static OPERATION_EFFECTS])
{
    ret[0] = o->virtual_number.p ? arena_printf(a, "The number %.*s is released for good.", STR_ARG(o->virtual_number))
                                 : STR("No number is released: the building has no number.");
    ret[1] = STR("The building's grants and activity log are deleted.");
    ret[2] = STR("Keys bound to the building are revoked, and its members lose their access.");
    ret[3] = arena_printf(a, "The subscription goes from %lld to %lld units.", (long long)o->billing.current_quantity,
                          (long long)o->billing.new_quantity);
}
