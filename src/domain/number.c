#include "domain/number.h"

#include "domain/job.h"
#include "domain/list.h"
#include "domain/owner_mail.h"

/* Jobs that wait for a number try again at once, and buildings without such a job get one. */
enum err number_look(struct tx *tx)
{
    enum err e = job_reschedule_all(tx, JOB_PROVISION, tx->now_us);
    return e ? e : job_add_again(tx, STR(JOB_NUMBERS), JOB_NUMBERS, tx->now_us, STR(""));
}

/* A known number is not an error if the pool has it with the same country. */
static enum err check_pooled(struct tx *tx, struct str number, struct str country)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(number_get, .number = number), &c);
    if (e)
        return e;
    const struct row_number_get row = row_number_get(&c, NULL);
    if (!row.pooled)
        return tx_fail(tx, ERR_BAD_REQUEST, "the number belongs to a provider");
    return str_eq(row.country, country)
               ? ERR_NONE
               : tx_fail(tx, ERR_BAD_REQUEST, "the pool has the number with the other country");
}

enum err number_add(struct tx *tx, struct str number, struct str country)
{
    int64_t added;
    enum err e = db_exec(tx->db, SQL(number_insert, .number = number, .country = country), &added);
    if (e || !added)
        return e ? e : check_pooled(tx, number, country);
    return number_look(tx);
}

enum err number_list_by(struct tx *tx, const struct db_call *call, const struct number **ret, size_t *ret_count)
{
    CURSOR c;
    enum err e = db_query(tx->db, call, &c);
    if (e)
        return e;
    struct number *list = NULL;
    size_t count = 0, room = 0;
    for (bool more; !(e = db_next(&c, &more)) && more;) {
        list = list_room(tx->arena, list, count, &room, sizeof *list);
        const struct row_number_list row = row_number_list(&c, tx->arena);
        list[count++] = (struct number){
            .number = row.number,
            .country = row.country,
            .building_id = row.building_id,
            .held_since_us = v_int_or(row.held_since, 0),
            .pooled = row.pooled,
            .account_id = row.account_id,
            .building_label = row.label,
            .email = row.email,
        };
    }
    if (e)
        return e;
    *ret = list;
    *ret_count = count;
    return ERR_NONE;
}

enum err number_list(struct tx *tx, const struct number **ret, size_t *ret_count)
{
    return number_list_by(tx, SQL(number_list), ret, ret_count);
}

/* ---- a building's number ---- */

struct need {
    struct id account_id;
    struct str number, country;
    bool had_one; /* a tone is set only with a number */
};

static enum err read_need(struct tx *tx, const struct id *building, struct need *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(building_for_number, .id = building), &c);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_BUILDING_NOT_FOUND : e;
    const struct row_building_for_number row = row_building_for_number(&c, tx->arena);
    *ret = (struct need){
        .account_id = row.account_id,
        .number = row.virtual_number,
        .country = row.country.p ? row.country : STR("US"),
        .had_one = row.unlock_tone.p != NULL,
    };
    return ERR_NONE;
}

static enum err set_building(struct tx *tx, const struct id *account, const struct id *building, struct str number)
{
    db_doors(tx->db, account);
    return db_exec(tx->db, SQL(building_set_number, .account_id = account, .id = building, .virtual_number = number),
                   NULL);
}

static enum err give_building(struct tx *tx, const struct id *account, const struct id *building, struct str number)
{
    db_doors(tx->db, account);
    return db_exec(tx->db, SQL(building_give_number, .account_id = account, .id = building, .virtual_number = number),
                   NULL);
}

/* Tells the owner of a number that comes by itself, in place of one that went. */
static enum err tell_new(struct tx *tx, const struct need *need, const struct id *building, struct str number)
{
    return need->had_one ? owner_mail_number_new(tx, building, number) : ERR_NONE;
}

/* ---- out of the pool ---- */

/* *ret is STR_NONE if no number is free. */
static enum err find_free(struct tx *tx, struct str country, struct str *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(number_free, .country = country), &c);
    *ret = e ? STR_NONE : row_number_free(&c, tx->arena).number;
    return e == ERR_NOT_FOUND ? ERR_NONE : e;
}

static enum err hold_pooled(struct tx *tx, const struct need *need, const struct id *building, struct str number)
{
    int64_t changed;
    enum err e = db_exec(
        tx->db, SQL(number_hold_pooled, .number = number, .building_id = building, .held_since = tx->now_us), &changed);
    if (!e && !changed)
        e = ERR_RETRY; /* lost to another transaction */
    return e ? e : give_building(tx, &need->account_id, building, number);
}

enum err number_claim(struct tx *tx, const struct id *building, struct number_claim *ret)
{
    struct need need;
    enum err e = read_need(tx, building, &need);
    if (!e && !need.number.p && !tx->config->unbilled) {
        e = find_free(tx, need.country, &need.number);
        if (!e && need.number.p)
            e = hold_pooled(tx, &need, building, need.number);
        if (!e && need.number.p)
            e = tell_new(tx, &need, building, need.number);
    }
    if (!e)
        *ret = (struct number_claim){need.number, need.country};
    return e;
}

/* ---- from a provider ---- */

enum err number_provision(struct tx *tx, const struct id *building)
{
    if (tx->config->assigned)
        return ERR_NONE;
    struct str name = arena_printf(tx->arena, JOB_PROVISION "-%s", building->text);
    enum err e = job_add_once(tx, name, JOB_PROVISION, tx->now_us, id_str(building));
    return e ? e : job_reschedule(tx, name, tx->now_us);
}

enum err number_look_batch(struct tx *tx, const struct id *after, int64_t limit, struct id *ret_last)
{
    CURSOR c;
    struct id *list = arena_array(tx->arena, struct id, (size_t)limit);
    struct id last = {{0}};
    size_t count = 0;
    int64_t seen = 0;
    enum err e =
        db_query(tx->db, SQL(building_waiting, .after = id_given(after) ? id_str(after) : STR(""), .limit = limit), &c);
    for (bool more; !e && !(e = db_next(&c, &more)) && more && seen < limit; seen++) {
        const struct row_building_waiting row = row_building_waiting(&c, NULL);
        last = row.id;
        if (row.entitled && !row.expected)
            list[count++] = last;
    }
    for (size_t i = 0; !e && i < count; i++)
        e = number_provision(tx, &list[i]);
    if (seen < limit)
        last.text[0] = '\0';
    if (!e)
        *ret_last = last;
    return e;
}

struct entry {
    bool known, pooled;
    struct id building_id;
};

static enum err read_entry(struct tx *tx, struct str number, struct entry *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(number_get, .number = number), &c);
    *ret = (struct entry){0};
    if (e)
        return e == ERR_NOT_FOUND ? ERR_NONE : e;
    const struct row_number_get row = row_number_get(&c, NULL);
    *ret = (struct entry){.known = true, .pooled = row.pooled, .building_id = row.building_id};
    return ERR_NONE;
}

static enum err number_insert_provided(struct tx *tx, struct str number, struct str country, const struct id *holder)
{
    return db_exec(tx->db,
                   SQL(number_insert_provided, .number = number, .country = country, .building_id = holder,
                       .held_since = holder ? v_time(tx->now_us) : v_null()),
                   NULL);
}

static enum err queue_release(struct tx *tx, struct str number)
{
    return job_add(tx, JOB_RELEASE_NUMBER, tx->now_us, number);
}

static enum err number_add_new(struct tx *tx, const struct id *building, struct str number, struct str *ret_held)
{
    struct need need = {.country = STR("US")};
    enum err e = read_need(tx, building, &need);
    if (e && e != ERR_BUILDING_NOT_FOUND)
        return e;
    bool wanted = !e && !need.number.p;
    e = number_insert_provided(tx, number, need.country, wanted ? building : NULL);
    if (!e)
        e = wanted ? give_building(tx, &need.account_id, building, number) : queue_release(tx, number);
    if (!e && wanted)
        e = tell_new(tx, &need, building, number);
    if (!e)
        *ret_held = wanted ? number : need.number;
    return e;
}

enum err number_add_provided(struct tx *tx, const struct id *building, struct str number, struct str *ret_held)
{
    struct entry entry;
    enum err e = read_entry(tx, number, &entry);
    if (e)
        return e;
    if (!entry.known)
        return number_add_new(tx, building, number, ret_held);
    if (!id_equal(&entry.building_id, building))
        return ERR_NUMBER_NOT_PROVISIONED;
    *ret_held = number;
    return ERR_NONE;
}

/* ---- release ---- */

/* Takes a number from its building; `account` is empty if the building is deleted. */
static enum err number_clear_holder(struct tx *tx, struct str number, const struct id *account,
                                    const struct id *building)
{
    enum err e = db_exec(tx->db, SQL(number_release, .number = number, .released_at = tx->now_us), NULL);
    return e || !id_given(account) ? e : set_building(tx, account, building, STR_NONE);
}

enum err number_release(struct tx *tx, struct str number)
{
    struct id building, account;
    bool pooled;
    {
        CURSOR c;
        enum err e = db_one(tx->db, SQL(number_holder, .number = number), &c);
        if (e)
            return e == ERR_NOT_FOUND ? ERR_NUMBER_NOT_FOUND : e;
        const struct row_number_holder row = row_number_holder(&c, NULL);
        building = row.building_id;
        pooled = row.pooled;
        account = row.account_id;
    }
    if (!id_given(&building))
        return ERR_NUMBER_NOT_FOUND;
    enum err e = number_clear_holder(tx, number, &account, &building);
    if (!e && !pooled)
        e = queue_release(tx, number);
    return e ? e : number_look(tx);
}

/* ---- by the operator ---- */

/* A number of the pool. */
static enum err read_pooled(struct tx *tx, struct str number, struct entry *ret)
{
    enum err e = read_entry(tx, number, ret);
    if (!e && !ret->known)
        e = tx_fail(tx, ERR_NUMBER_NOT_FOUND, "the pool does not have the number");
    if (!e && !ret->pooled)
        e = tx_fail(tx, ERR_BAD_REQUEST, "the number belongs to a provider");
    return e;
}

/* Tells the owner. */
static enum err take_from(struct tx *tx, struct str number, const struct id *building)
{
    enum err e = number_release(tx, number);
    return e ? e : owner_mail_number(tx, building, STR_NONE, number);
}

/* Tells the owner. */
static enum err give_pooled(struct tx *tx, const struct need *need, const struct id *building, struct str number)
{
    enum err e = hold_pooled(tx, need, building, number);
    return e ? e : owner_mail_number(tx, building, number, need->number);
}

enum err number_take(struct tx *tx, struct str number)
{
    struct entry entry;
    enum err e = read_entry(tx, number, &entry);
    if (e)
        return e;
    return id_given(&entry.building_id) ? take_from(tx, number, &entry.building_id) : ERR_NUMBER_NOT_FOUND;
}

enum err number_assign(struct tx *tx, struct str number, const struct id *building)
{
    struct need need;
    struct entry entry;
    enum err e = read_need(tx, building, &need);
    if (!e)
        e = read_pooled(tx, number, &entry);
    if (e)
        return e;
    if (id_equal(&entry.building_id, building))
        return ERR_NONE;
    if (need.number.p)
        e = number_release(tx, need.number);
    if (!e && id_given(&entry.building_id))
        e = take_from(tx, number, &entry.building_id);
    return e ? e : give_pooled(tx, &need, building, number);
}

enum err number_add_for(struct tx *tx, struct str number, struct str country, const struct id *building)
{
    struct need need;
    struct entry entry;
    enum err e = read_need(tx, building, &need);
    if (!e)
        e = number_add(tx, number, country);
    if (!e)
        e = read_pooled(tx, number, &entry);
    if (e)
        return e;
    if (need.number.p && !str_eq(need.number, number))
        return tx_fail(tx, ERR_BAD_REQUEST,
                       "the building has another number, which `porterod admin number assign` replaces");
    if (id_given(&entry.building_id) && !id_equal(&entry.building_id, building))
        return tx_fail(tx, ERR_BAD_REQUEST,
                       "another building has the number, from which `porterod admin number assign` takes it");
    return id_given(&entry.building_id) ? ERR_NONE : give_pooled(tx, &need, building, number);
}

enum err number_remove(struct tx *tx, struct str number)
{
    struct entry entry;
    enum err e = read_pooled(tx, number, &entry);
    if (!e && id_given(&entry.building_id))
        e = take_from(tx, number, &entry.building_id);
    return e ? e : db_exec(tx->db, SQL(number_delete_pooled, .number = number), NULL);
}

enum err number_detach(struct tx *tx, const struct id *building, struct str *ret_number, bool *ret_leaving)
{
    struct need need = {.number = STR_NONE};
    struct entry entry = {0};
    enum err e = read_need(tx, building, &need);
    if (!e && need.number.p)
        e = read_entry(tx, need.number, &entry);
    if (!e && need.number.p)
        e = number_clear_holder(tx, need.number, &need.account_id, building);
    if (e && e != ERR_BUILDING_NOT_FOUND)
        return e;
    *ret_number = need.number;
    *ret_leaving = entry.known && !entry.pooled;
    return ERR_NONE;
}

enum err number_known(struct tx *tx, struct str number, bool *ret)
{
    struct entry entry;
    enum err e = read_entry(tx, number, &entry);
    if (!e)
        *ret = entry.known;
    return e;
}

enum err number_leaving(struct tx *tx, struct str number, bool *ret)
{
    struct entry entry;
    enum err e = read_entry(tx, number, &entry);
    if (!e)
        *ret = entry.known && !entry.pooled && !id_given(&entry.building_id);
    return e;
}

enum err number_forget(struct tx *tx, struct str number)
{
    return db_exec(tx->db, SQL(number_delete_leaving, .number = number), NULL);
}

enum err number_reattach(struct tx *tx, const struct id *building, struct str number, bool *ret)
{
    struct need need;
    int64_t changed = 0;
    enum err e = read_need(tx, building, &need);
    if (!e && !need.number.p)
        e = db_exec(tx->db, SQL(number_hold_again, .number = number, .building_id = building, .held_since = tx->now_us),
                    &changed);
    if (!e)
        e = changed ? set_building(tx, &need.account_id, building, number) : queue_release(tx, number);
    if (!e)
        *ret = changed > 0;
    return e;
}

enum err number_purchase_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count)
{
    return db_exec(tx->db, SQL(number_purchase_purge, .before = before_us, .limit = limit), ret_count);
}
