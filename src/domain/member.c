#include "domain/member.h"

#include "domain/list.h"
#include "domain/owner.h"
#include "domain/owner_mail.h"
#include "domain/push.h"

#define DAY_US (86400 * US_PER_S)

static struct member member_read(const struct row_membership *row)
{
    return (struct member){
        .id = row->id,
        .building_id = row->building_id,
        .account_id = row->account_id,
        .name = row->name,
        .email = row->email,
        .phone = row->phone,
        .phone_verified_us = row->phone_verified_at,
        .role = (enum member_role)row->role,
        .language = row->language,
        .created_us = row->created_at,
        .invited_until_us = v_int_or(row->invited_until, 0),
    };
}

static enum err member_found(enum err e, const struct cursor *c, struct arena *a, struct member *ret)
{
    if (e)
        return e;
    const struct row_membership row = row_membership(c, a);
    *ret = member_read(&row);
    return ERR_NONE;
}

enum err member_at(struct tx *tx, const struct id *building, struct str email, struct member *ret)
{
    CURSOR c;
    const enum err e = db_one(tx->db, SQL(member_by_email, .building_id = building, .email = email), &c);
    return member_found(e, &c, tx->arena, ret);
}

static enum err check_new(struct tx *tx, const struct id *building, struct str email)
{
    struct member unused = {0};
    enum err e = member_at(tx, building, email, &unused);
    return e == ERR_NOT_FOUND ? ERR_NONE : e ? e : ERR_MEMBER_EXISTS;
}

static enum err check_room(struct tx *tx, const struct id *building)
{
    int64_t count;
    enum err e = member_count(tx, building, &count);
    return e ? e : count < MEMBERS_MAX ? ERR_NONE : ERR_MEMBER_LIMIT;
}

enum err member_create(struct tx *tx, const struct member *m, struct id *ret)
{
    struct id account, id = id_new(tx->now_us);
    enum err e = building_owner(tx, &m->building_id, &account);
    if (!e)
        e = check_new(tx, &m->building_id, m->email);
    if (!e)
        e = check_room(tx, &m->building_id);
    if (e)
        return e;
    e = db_exec(tx->db,
                SQL(member_insert, .building_id = &m->building_id, .id = &id, .account_id = &account, .name = m->name,
                    .email = m->email, .phone = m->phone, .role = m->role, .language = m->language,
                    .created_at = tx->now_us,
                    .invited_until = m->invited_until_us ? v_time(m->invited_until_us) : v_null()),
                NULL);
    if (!e)
        *ret = id;
    return e;
}

/* Locks the account's row, so that invitations of an account are counted one after the other. */
static enum err spend_invitation(struct tx *tx, const struct id *account)
{
    int64_t spent;
    enum err e =
        db_exec(tx->db, SQL(member_invited, .id = account, .day = tx->now_us / DAY_US, .max = INVITATIONS_MAX), &spent);
    if (e || spent)
        return e;
    tx->retry_after_s = (DAY_US - tx->now_us % DAY_US + US_PER_S - 1) / US_PER_S;
    return tx_fail(tx, ERR_RATE_LIMIT_EXCEEDED, "An account can invite 10 people a day.");
}

static enum err check_not_owner(struct tx *tx, const struct member *m)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(account_get, .id = &m->account_id), &c);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_ACCOUNT_NOT_FOUND : e;
    return str_eq(row_account_get(&c, tx->arena).email, m->email)
               ? tx_fail(tx, ERR_MEMBER_EXISTS, "This is the e-mail address of the building's owner.")
               : ERR_NONE;
}

enum err member_invite(struct tx *tx, struct member *m)
{
    m->invited_until_us = tx->now_us + MEMBER_INVITED_S * US_PER_S;
    enum err e = check_not_owner(tx, m);
    if (!e)
        e = spend_invitation(tx, &m->account_id);
    if (!e)
        e = member_create(tx, m, &m->id);
    return e ? e : owner_mail_invitation(tx, &m->building_id, m->email, m->language);
}

enum err member_list(struct tx *tx, const struct member **ret, size_t *ret_count)
{
    CURSOR c;
    enum err e = db_query(tx->db, SQL(member_list), &c);
    if (e)
        return e;
    struct member *list = NULL;
    size_t count = 0, room = 0;
    for (bool more; !(e = db_next(&c, &more)) && more;) {
        list = list_room(tx->arena, list, count, &room, sizeof *list);
        const struct row_member_list row = row_member_list(&c, tx->arena);
        list[count] = member_read(&row.membership);
        list[count++].building_label = row.label;
    }
    if (e)
        return e;
    *ret = list;
    *ret_count = count;
    return ERR_NONE;
}

enum err member_of_building(struct tx *tx, const struct id *building, const struct member **ret, size_t *ret_count)
{
    CURSOR c;
    enum err e = db_query(tx->db, SQL(member_of_building, .building_id = building, .limit = MEMBERS_LISTED), &c);
    if (e)
        return e;
    struct member *list = arena_array(tx->arena, struct member, MEMBERS_LISTED);
    size_t count = 0;
    for (bool more; !(e = db_next(&c, &more)) && more;) {
        const struct row_membership row = row_membership(&c, tx->arena);
        list[count++] = member_read(&row);
    }
    if (e)
        return e;
    *ret = list;
    *ret_count = count;
    return ERR_NONE;
}

enum err member_of_address(struct tx *tx, struct str email, const struct member **ret, size_t *ret_count)
{
    CURSOR c;
    enum err e =
        db_query(tx->db, SQL(member_of_address, .email = email, .now = tx->now_us, .limit = MEMBERS_LISTED), &c);
    if (e)
        return e;
    struct member *list = arena_array(tx->arena, struct member, MEMBERS_LISTED);
    size_t count = 0;
    for (bool more; !(e = db_next(&c, &more)) && more;) {
        const struct row_member_of_address row = row_member_of_address(&c, tx->arena);
        list[count] = member_read(&row.membership);
        list[count++].building_label = row.label;
    }
    if (e)
        return e;
    *ret = list;
    *ret_count = count;
    return ERR_NONE;
}

enum err member_get(struct tx *tx, const struct id *member, struct member *ret)
{
    CURSOR c;
    const enum err e = db_one(tx->db, SQL(member_get, .id = member), &c);
    return member_found(e, &c, tx->arena, ret);
}

uint32_t member_scopes(enum member_role role)
{
    const uint32_t codes = SCOPE(ACCOUNT_READ) | SCOPE(ACCESS_READ) | SCOPE(ACCESS_WRITE) | SCOPE(LOGS_READ);
    return role == MEMBER_RESIDENT ? codes | SCOPE(CALLS_LISTEN) : codes;
}

enum err member_first(struct tx *tx, struct str email, struct member *ret)
{
    CURSOR c;
    const enum err e = db_one(tx->db, SQL(member_first, .email = email, .now = tx->now_us), &c);
    return member_found(e, &c, tx->arena, ret);
}

enum err member_accept(struct tx *tx, const struct member *m)
{
    int64_t accepted = 0;
    if (!m->invited_until_us)
        return ERR_NONE;
    enum err e =
        db_exec(tx->db, SQL(member_accept, .building_id = &m->building_id, .id = &m->id, .now = tx->now_us), &accepted);
    if (e)
        return e;
    return accepted ? owner_mail_joined(tx, &m->building_id, m->name, m->email) : ERR_NOT_FOUND;
}

enum err member_change(struct tx *tx, const struct member *m)
{
    db_notify(tx->db, TOPIC_KEYS);
    db_doors(tx->db, &m->account_id);
    enum err e = db_exec(
        tx->db, SQL(member_update, .building_id = &m->building_id, .id = &m->id, .name = m->name, .role = m->role),
        NULL);
    if (!e)
        e = db_exec(tx->db,
                    SQL(key_change_member, .account_id = &m->account_id, .member_id = &m->id, .name = m->name,
                        .scopes = member_scopes(m->role)),
                    NULL);
    return e;
}

enum err member_remove(struct tx *tx, const struct id *member)
{
    struct member m;
    db_notify(tx->db, TOPIC_KEYS);
    enum err e = member_get(tx, member, &m);
    if (e)
        return e;
    db_doors(tx->db, &m.account_id);
    e = db_exec(tx->db, SQL(member_delete, .building_id = &m.building_id, .id = &m.id), NULL);
    if (!e)
        e = push_end_member(tx, &m.building_id, &m.id);
    if (!e)
        e = db_exec(tx->db, SQL(phone_end_member, .account_id = &m.account_id, .member_id = &m.id), NULL);
    if (!e)
        e = db_exec(tx->db,
                    SQL(key_revoke_member, .account_id = &m.account_id, .member_id = &m.id, .revoked_at = tx->now_us),
                    NULL);
    return e;
}

enum err member_count(struct tx *tx, const struct id *building, int64_t *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(member_count, .building_id = building), &c);
    if (!e)
        *ret = row_member_count(&c, NULL).members;
    return e;
}
