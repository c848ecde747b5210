#include "domain/billing.h"

#include "base/log.h"
#include "domain/checkout.h"
#include "domain/job.h"
#include "domain/row.h"
#include "domain/subscription.h"

/* ---- events ---- */

enum err billing_event_note(struct tx *tx, struct str event_id, bool *ret_fresh)
{
    int64_t fresh;
    enum err e = db_exec(tx->db, SQL_BILLING_EVENT_INSERT, DB_ARGS(v_str(event_id), v_int(tx->now_us)), &fresh);
    if (!e)
        *ret_fresh = fresh > 0;
    return e;
}

enum err billing_event_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count)
{
    return db_exec(tx->db, SQL_BILLING_EVENT_PURGE, DB_ARGS(v_int(before_us), v_int(limit)), ret_count);
}

static const char *const subjects[] = {
    [BILLING_SUBJECT_SESSION] = "session", [BILLING_SUBJECT_SUBSCRIPTION] = "subscription"};

enum err billing_sync_queue(struct tx *tx, enum billing_subject subject, struct str object_id)
{
    struct str payload = arena_printf(tx->arena, "%s %.*s", subjects[subject], STR_ARG(object_id));
    struct str name = arena_printf(tx->arena, "billing %.*s", STR_ARG(payload));
    return job_add_again(tx, name, JOB_BILLING_SYNC, tx->now_us, payload);
}

bool billing_sync_parse(struct str payload, enum billing_subject *ret_subject, struct str *ret_object)
{
    struct str object, subject = str_cut(payload, ' ', &object);
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        if (object.n > 0 && str_eq(subject, str_z(subjects[i]))) {
            *ret_subject = (enum billing_subject)i;
            *ret_object = object;
            return true;
        }
    return false;
}

/* ---- accounts ---- */

enum err billing_account_get(struct tx *tx, const struct id *account, struct billing_account *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL_BILLING_ACCOUNT, DB_ARGS(v_str(id_str(account))), &c);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_ACCOUNT_NOT_FOUND : e;
    struct billing_account a = {
        .email = col_copy(&c, COL_BILLING_ACCOUNT_EMAIL, tx->arena),
        .customer_id = col_copy(&c, COL_BILLING_ACCOUNT_CUSTOMER_ID, tx->arena),
        .subscription_id = col_copy(&c, COL_BILLING_ACCOUNT_SUBSCRIPTION_ID, tx->arena),
        .plan = col_copy(&c, COL_BILLING_ACCOUNT_PLAN, tx->arena),
        .building_count = col_int(&c, COL_BILLING_ACCOUNT_BUILDINGS),
    };
    if (!str_eq(col_str(&c, COL_BILLING_ACCOUNT_SUBSCRIPTION_STATUS), STR("none")) &&
        !subscription_status_parse(col_str(&c, COL_BILLING_ACCOUNT_SUBSCRIPTION_STATUS), &a.status))
        return ERR_INTERNAL_ERROR;
    *ret = a;
    return ERR_NONE;
}

enum err billing_account_set_customer(struct tx *tx, const struct id *account, struct str customer_id)
{
    return db_exec(tx->db, SQL_BILLING_ACCOUNT_SET_CUSTOMER, DB_ARGS(v_str(id_str(account)), v_str(customer_id)), NULL);
}

static enum err set_subscription(struct tx *tx, const struct id *account, struct str subscription_id)
{
    return db_exec(tx->db, SQL_BILLING_ACCOUNT_SET_SUBSCRIPTION,
                   DB_ARGS(v_str(id_str(account)), v_str(subscription_id)), NULL);
}

/* ---- subscriptions ---- */

/* Whose it is: the account that has it, else the one its checkout named. ERR_ACCOUNT_NOT_FOUND. */
static enum err owner(struct tx *tx, const struct billing_facts *facts, struct id *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL_BILLING_ACCOUNT_BY_SUBSCRIPTION, DB_ARGS(v_str(facts->id)), &c);
    if (!e)
        *ret = col_id(&c, COL_BILLING_ACCOUNT_BY_SUBSCRIPTION_ID);
    if (e == ERR_NOT_FOUND)
        e = id_parse(facts->account_id, ret) ? ERR_NONE : ERR_ACCOUNT_NOT_FOUND;
    return e;
}

enum err billing_known(struct tx *tx, struct str subscription_id)
{
    CURSOR c;
    return db_one(tx->db, SQL_BILLING_SUBSCRIPTION_KNOWN, DB_ARGS(v_str(subscription_id)), &c);
}

/* It ended: the account is without one, and may buy again. */
static enum err apply_end(struct tx *tx, const struct id *account)
{
    enum err e = subscription_set(tx, account, SUBSCRIPTION_NONE, STR_NONE);
    return e ? e : set_subscription(tx, account, STR_NONE);
}

static bool known(const struct billing_account *a, const struct billing_facts *facts)
{
    return a->status == facts->status && a->subscription_id.p && str_eq(a->subscription_id, facts->id) &&
           str_eq(a->customer_id, facts->customer_id) && (!facts->plan.p || str_eq(a->plan, facts->plan));
}

static enum err apply_state(struct tx *tx, const struct id *account, const struct billing_facts *facts)
{
    enum err e = subscription_set(tx, account, facts->status, facts->plan);
    if (!e)
        e = billing_account_set_customer(tx, account, facts->customer_id);
    return e ? e : set_subscription(tx, account, facts->id);
}

/* *live, false before, is set if the subscription is. */
static enum err apply(struct tx *tx, const struct billing_facts *facts, bool *live)
{
    struct id account;
    struct billing_account a;
    enum err e = owner(tx, facts, &account);
    if (!e)
        e = billing_account_get(tx, &account, &a);
    if (e == ERR_ACCOUNT_NOT_FOUND) {
        log_warn("billing subscription=%.*s ignored=no such account", STR_ARG(facts->id));
        return ERR_NONE;
    }
    bool ended = facts->status == SUBSCRIPTION_NONE && !facts->unpaid;
    if (!e && ended)
        e = checkout_subscription_ended(tx, &account, facts->id);
    if (e)
        return e;
    *live = !ended;
    if (facts->unpaid)
        return ERR_NONE;
    if (a.subscription_id.p && !str_eq(a.subscription_id, facts->id)) {
        if (!ended)
            log_error("billing subscription=%.*s account=%s ignored=the account lives on another one",
                      STR_ARG(facts->id), account.text);
        return ERR_NONE;
    }
    if (facts->untold && known(&a, facts))
        return ERR_NONE;
    return ended ? apply_end(tx, &account) : apply_state(tx, &account, facts);
}

enum err billing_apply(struct tx *tx, const struct billing_facts *facts, bool *ret_live)
{
    bool live = false;
    enum err e = apply(tx, facts, &live);
    if (!e)
        *ret_live = live;
    return e;
}
