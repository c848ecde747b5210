#include "domain/member.h"

#include "domain/list.h"
#include "domain/owner.h"

static enum err check_new(struct tx *tx, const struct id *building, struct str email)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(member_by_email, .building_id = building, .email = email), &c);
    if (e == ERR_NOT_FOUND)
        return ERR_NONE;
    return e ? e : tx_fail(tx, ERR_BAD_REQUEST, "the building already has a member with that e-mail");
}

enum err member_create(struct tx *tx, const struct id *building, struct str name, struct str email, struct str phone,
                       struct id *ret)
{
    struct id account, id = id_new(tx->now_us);
    enum err e = building_owner(tx, building, &account);
    if (!e)
        e = check_new(tx, building, email);
    if (e)
        return e;
    e = db_exec(tx->db,
                SQL(member_insert, .building_id = building, .id = &id, .account_id = &account, .name = name,
                    .email = email, .phone = phone, .created_at = tx->now_us),
                NULL);
    if (!e)
        *ret = id;
    return e;
}

static struct member member_read(const struct row_membership *row)
{
    return (struct member){
        .id = row->id,
        .building_id = row->building_id,
        .account_id = row->account_id,
        .name = row->name,
        .email = row->email,
        .phone = row->phone,
        .created_us = row->created_at,
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
    const enum err e = db_one(tx->db, SQL(member_first, .email = email), &c);
    return member_found(e, &c, tx->arena, ret);
}

enum err member_remove(struct tx *tx, const struct id *member)
{
    struct member m;
    db_notify(tx->db, TOPIC_KEYS);
    enum err e = member_get(tx, member, &m);
    if (!e)
        e = db_exec(tx->db, SQL(member_delete, .building_id = &m.building_id, .id = &m.id), NULL);
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
