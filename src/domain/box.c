#include "domain/box.h"

#include "domain/list.h"
#include "domain/master.h"

enum err box_add(struct tx *tx, struct str name, struct str number, struct str *ret_password)
{
    char *password = arena_alloc(tx->arena, BOX_PASSWORD_LEN + 1);
    struct str sealed;
    int64_t added;
    crypto_base62(password, BOX_PASSWORD_LEN);
    enum err e = master_seal(tx, BOX_PURPOSE, str_z(password), &sealed);
    if (!e)
        e = db_exec(tx->db, SQL(box_insert, .name = name, .number = number, .secret = sealed, .created_at = tx->now_us),
                    &added);
    if (!e && !added)
        e = tx_fail(tx, ERR_BAD_REQUEST, "a box with this name already exists");
    if (!e)
        *ret_password = str_z(password);
    return e;
}

static struct box box_read(const struct cursor *c, struct arena *a)
{
    const struct row_box_list row = row_box_list(c, a);
    return (struct box){
        .name = row.name,
        .number = row.number,
        .created_us = row.created_at,
        .registered_until_us = row.registered_until,
        .registered_from = row.registered_from,
    };
}

enum err box_list(struct tx *tx, const struct box **ret, size_t *ret_count)
{
    CURSOR c;
    enum err e = db_query(tx->db, SQL(box_list), &c);
    if (e)
        return e;
    struct box *list = NULL;
    size_t count = 0, room = 0;
    for (bool more; !(e = db_next(&c, &more)) && more;) {
        list = list_room(tx->arena, list, count, &room, sizeof *list);
        list[count++] = box_read(&c, tx->arena);
    }
    if (e)
        return e;
    *ret = list;
    *ret_count = count;
    return ERR_NONE;
}

enum err box_remove(struct tx *tx, struct str name)
{
    int64_t removed;
    enum err e = db_exec(tx->db, SQL(box_delete, .name = name), &removed);
    return e ? e : removed ? ERR_NONE : ERR_NOT_FOUND;
}

enum err box_find(struct tx *tx, struct str name, struct box_login *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(box_secret, .name = name), &c);
    if (e)
        return e;
    struct box_login login;
    const struct row_box_secret row = row_box_secret(&c, tx->arena);
    if (!crypto_open(BOX_PURPOSE, row.secret, tx->arena, &login.password))
        return ERR_SECRET_DECRYPT_FAILED;
    login.number = row.number;
    *ret = login;
    return ERR_NONE;
}

enum err box_registered(struct tx *tx, struct str name, struct str from, int64_t until_us)
{
    return db_exec(tx->db, SQL(box_registered, .name = name, .registered_until = until_us, .registered_from = from),
                   NULL);
}
