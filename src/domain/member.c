#include "domain/member.h"

#include "domain/owner.h"
#include "domain/row.h"

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

static struct member member_read(const struct cursor *c, struct arena *a)
{
    return (struct member){
        .id = col_id(c, COL_MEMBER_LIST_ID),
        .building_id = col_id(c, COL_MEMBER_LIST_BUILDING_ID),
        .account_id = col_id(c, COL_MEMBER_LIST_ACCOUNT_ID),
        .name = col_copy(c, COL_MEMBER_LIST_NAME, a),
        .email = col_copy(c, COL_MEMBER_LIST_EMAIL, a),
        .phone = col_copy(c, COL_MEMBER_LIST_PHONE, a),
        .created_us = col_int(c, COL_MEMBER_LIST_CREATED_AT),
        .building_label = col_copy(c, COL_MEMBER_LIST_LABEL, a),
    };
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
        list[count++] = member_read(&c, tx->arena);
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
    enum err e = db_one(tx->db, SQL(member_get, .id = member), &c);
    if (e)
        return e;
    *ret = (struct member){.id = *member,
                           .building_id = col_id(&c, COL_MEMBER_GET_BUILDING_ID),
                           .account_id = col_id(&c, COL_MEMBER_GET_ACCOUNT_ID)};
    return ERR_NONE;
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
        *ret = col_int(&c, COL_MEMBER_COUNT_MEMBERS);
    return e;
}
