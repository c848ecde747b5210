#include "domain/account.h"

#include <assert.h>

#include "domain/key.h"
#include "domain/list.h"
#include "domain/member.h"
#include "domain/number.h"

static const char *const status_texts[] = {
    [SUBSCRIPTION_NONE] = "none",
    [SUBSCRIPTION_ACTIVE] = "active",
    [SUBSCRIPTION_PAST_DUE] = "past_due",
};

const char *subscription_status_text(enum subscription_status status)
{
    assert(status <= SUBSCRIPTION_PAST_DUE);
    return status_texts[status];
}

static enum subscription_status account_status_of(struct str text)
{
    enum subscription_status s = SUBSCRIPTION_PAST_DUE;
    while (s > SUBSCRIPTION_NONE && !str_eq(text, str_z(status_texts[s])))
        s--;
    return s;
}

enum err account_find(struct tx *tx, struct str email, struct id *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(account_by_email, .email = email), &c);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_ACCOUNT_NOT_FOUND : e;
    const struct row_account_by_email row = row_account_by_email(&c, NULL);
    *ret = row.id;
    return ERR_NONE;
}

enum err account_unbill(struct tx *tx, const struct id *account)
{
    return db_exec(tx->db, SQL(account_unbill, .id = account, .plan = str_z(tx->config->billing_free_plan)), NULL);
}

static enum err account_create(struct tx *tx, struct str email, struct id *ret)
{
    struct id id = id_new(tx->now_us), primary;
    enum err e = db_exec(tx->db, SQL(account_insert, .id = &id, .email = email, .created_at = tx->now_us), NULL);
    if (!e)
        e = building_create_primary(tx, &id, &primary);
    if (!e && tx->config->unbilled)
        e = account_unbill(tx, &id);
    if (!e && tx->config->unbilled)
        e = number_provision(tx, &primary);
    if (!e)
        *ret = id;
    return e;
}

enum err account_ensure(struct tx *tx, struct str email, struct id *ret)
{
    enum err e = account_find(tx, email, ret);
    return e == ERR_ACCOUNT_NOT_FOUND ? account_create(tx, email, ret) : e;
}

enum err account_list(struct tx *tx, struct str after, int64_t limit, const struct account_row **ret, size_t *ret_count)
{
    CURSOR c;
    enum err e = db_query(tx->db, SQL(account_list, .after = after, .limit = limit), &c);
    if (e)
        return e;
    struct account_row *list = NULL;
    size_t count = 0, room = 0;
    for (bool more; !(e = db_next(&c, &more)) && more;) {
        list = list_room(tx->arena, list, count, &room, sizeof *list);
        const struct row_account_list row = row_account_list(&c, tx->arena);
        list[count++] = (struct account_row){
            .id = row.id,
            .email = row.email,
            .number = row.virtual_number,
            .created_us = row.created_at,
            .signed_in = row.signed_in,
        };
    }
    if (e)
        return e;
    *ret = list;
    *ret_count = count;
    return ERR_NONE;
}

enum err account_used(struct tx *tx, const struct id *account, bool *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(account_used, .id = account), &c);
    if (e && e != ERR_NOT_FOUND)
        return e;
    *ret = !e;
    return ERR_NONE;
}

enum err account_get(struct tx *tx, const struct id *account, struct account *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(account_get, .id = account), &c);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_ACCOUNT_NOT_FOUND : e;
    const struct row_account_get row = row_account_get(&c, tx->arena);
    *ret = (struct account){
        .id = *account,
        .email = row.email,
        .created_us = row.created_at,
        .plan = row.plan,
        .status = account_status_of(row.subscription_status),
        .phone = row.phone,
        .earlier_revision = row.earlier_revision,
    };
    return ERR_NONE;
}

struct ready account_ready(const struct account *account, const struct building *building)
{
    return (struct ready){
        .subscription = str_z(subscription_status_text(account->status)),
        .number = building->number,
        .tone = building->unlock_tone,
        .last_buzz_us = building->last_buzz_us,
    };
}

enum err account_set_revision(struct tx *tx, const struct id *account, bool earlier)
{
    int64_t changed;
    db_notify(tx->db, TOPIC_KEYS);
    enum err e = db_exec(tx->db, SQL(account_set_revision, .id = account, .earlier_revision = earlier), &changed);
    if (!e && !changed)
        e = ERR_ACCOUNT_NOT_FOUND;
    return e || earlier ? e : key_revoke_owners(tx, account);
}

static enum err read_usage(struct tx *tx, const struct principal *who, struct account_view *v)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(account_usage, .account_id = &who->account_id, .id = &who->building_id), &c);
    if (e)
        return e;
    const struct row_account_usage row = row_account_usage(&c, NULL);
    v->total_unlocks = row.unlocks;
    v->active_grants = row.grants;
    return ERR_NONE;
}

/* Counts the owner and the members who share the building's number; 0 without a number. */
static enum err count_users(struct tx *tx, struct account_view *v)
{
    if (!v->building.number.p)
        return ERR_NONE;
    enum err e = member_count(tx, &v->building.id, &v->shared_users);
    v->shared_users += 1;
    return e;
}

enum err account_view(struct tx *tx, const struct principal *who, struct account_view *ret)
{
    bool bound = id_given(&who->building_id);
    struct account_view v = {
        .building_count = bound ? 1 : who->building_count,
        .selection_required = !bound && who->building_count > 1,
    };
    enum err e = account_get(tx, &who->account_id, &v.account);
    if (!e)
        e = building_get(tx, &who->account_id, bound ? &who->building_id : &who->primary_id, &v.building);
    if (!e)
        e = read_usage(tx, who, &v);
    if (!e)
        e = count_users(tx, &v);
    if (!e)
        *ret = v;
    return e;
}
