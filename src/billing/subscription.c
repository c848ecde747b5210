#include "billing/subscription.h"

#include "billing/plan.h"
#include "domain/job.h"
#include "domain/number.h"
#include "domain/owner_mail.h"

#define PLAN_DEFAULT "weekly"

bool subscription_status_parse(struct str text, enum subscription_status *ret)
{
    static const struct {
        const char *text;
        enum subscription_status status;
    } known[] = {
        {"active", SUBSCRIPTION_ACTIVE},
        {"past_due", SUBSCRIPTION_PAST_DUE},
        {"canceled", SUBSCRIPTION_NONE},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_eq(text, str_z(known[i].text))) {
            *ret = known[i].status;
            return true;
        }
    return false;
}

enum err subscription_provision(struct tx *tx, const struct id *account)
{
    const struct building *buildings;
    size_t count;
    enum err e = building_list(tx, account, &buildings, &count);
    for (size_t i = 0; !e && i < count; i++)
        if (!buildings[i].number.p)
            e = number_provision(tx, &buildings[i].id);
    return e;
}

static enum err subscribe(struct tx *tx, const struct account *a, enum subscription_status status, struct str plan)
{
    if (!plan.p)
        plan = a->plan.p ? a->plan : STR(PLAN_DEFAULT);
    if (!plan_find(tx->config, plan))
        return ERR_INVALID_PLAN;
    enum err e = db_exec(tx->db,
                         SQL(account_subscribe, .id = &a->id, .plan = plan,
                             .subscription_status = str_z(subscription_status_text(status))),
                         NULL);
    return e || status != SUBSCRIPTION_ACTIVE ? e : subscription_provision(tx, &a->id);
}

static enum err unsubscribe(struct tx *tx, const struct account *a)
{
    if (a->status == SUBSCRIPTION_NONE)
        return ERR_NONE;
    enum err e = db_exec(tx->db, SQL(account_unsubscribe, .id = &a->id, .subscription_ended_at = tx->now_us), NULL);
    return e ? e : job_add(tx, JOB_RELEASE_NUMBERS, tx->now_us + SUBSCRIPTION_NUMBER_KEPT_S * US_PER_S, id_str(&a->id));
}

enum err subscription_set(struct tx *tx, const struct id *account, enum subscription_status status, struct str plan)
{
    struct account a;
    db_notify(tx->db, TOPIC_KEYS);
    enum err e = account_get(tx, account, &a);
    if (e)
        return e;
    return status == SUBSCRIPTION_NONE ? unsubscribe(tx, &a) : subscribe(tx, &a, status, plan);
}

/* *ret_us: when the numbers may be released; 0: the account has a subscription, or never had one. */
static enum err release_due(struct tx *tx, const struct id *account, int64_t *ret_us)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(account_ended, .id = account), &c);
    if (e && e != ERR_NOT_FOUND)
        return e;
    const struct val ended_at = e ? v_null() : row_account_ended(&c, NULL).subscription_ended_at;
    *ret_us = v_set(ended_at) ? ended_at.i + SUBSCRIPTION_NUMBER_KEPT_S * US_PER_S : 0;
    return ERR_NONE;
}

enum err subscription_release_numbers(struct tx *tx, const struct id *account, int64_t *ret_due_us)
{
    int64_t due_us;
    const struct building *buildings;
    size_t count;
    enum err e = release_due(tx, account, &due_us);
    if (e)
        return e;
    *ret_due_us = due_us > tx->now_us ? due_us : 0;
    if (!due_us || *ret_due_us)
        return ERR_NONE;
    e = building_list(tx, account, &buildings, &count);
    for (size_t i = 0; !e && i < count; i++) {
        if (!buildings[i].number.p)
            continue;
        e = number_release(tx, buildings[i].number);
        if (!e)
            e = owner_mail_number_ended(tx, &buildings[i].id, buildings[i].number);
    }
    return e;
}
