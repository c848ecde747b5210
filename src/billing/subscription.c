#include "billing/subscription.h"

#include "billing/plan.h"
#include "domain/job.h"
#include "domain/number.h"
#include "domain/owner_mail.h"

#define PLAN_DEFAULT "weekly"
#define KEPT_US      (SUBSCRIPTION_NUMBER_KEPT_S * US_PER_S)
#define TOLD_US      (SUBSCRIPTION_NUMBER_TOLD_S * US_PER_S)

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
    const struct str name = arena_printf(tx->arena, JOB_RELEASE_NUMBERS "-%s", a->id.text);
    return e ? e : job_add_again(tx, name, JOB_RELEASE_NUMBERS, tx->now_us + KEPT_US - TOLD_US, id_str(&a->id));
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
    *ret_us = v_set(ended_at) ? ended_at.i + KEPT_US : 0;
    return ERR_NONE;
}

static enum err end_number(struct tx *tx, const struct building *b)
{
    enum err e = number_release(tx, b->number);
    return e ? e : owner_mail_number_ended(tx, &b->id, b->number);
}

enum err subscription_release_numbers(struct tx *tx, const struct id *account, int64_t *ret_due_us)
{
    int64_t due_us;
    const struct building *buildings;
    size_t count;
    enum err e = release_due(tx, account, &due_us);
    if (e)
        return e;
    const bool over = due_us <= tx->now_us, early = due_us - TOLD_US > tx->now_us;
    *ret_due_us = !due_us || over ? 0 : early ? due_us - TOLD_US : due_us;
    if (!due_us || early)
        return ERR_NONE;
    e = building_list(tx, account, &buildings, &count);
    for (size_t i = 0; !e && i < count; i++)
        if (buildings[i].number.p)
            e = over ? end_number(tx, &buildings[i])
                     : owner_mail_number_ends(tx, &buildings[i].id, buildings[i].number, due_us);
    return e;
}
