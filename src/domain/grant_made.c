#include "domain/grant_made.h"

#include "domain/member.h"

/* Reads one more than GRANTS_ENDED_MAX, so that the rest is noticed. */
static enum err list_made(struct tx *tx, const struct id *account, const struct id *member,
                          struct row_grant_made_by *list, int64_t *ret_count)
{
    const struct id_bytes bytes = member ? id_to_bytes(member) : (struct id_bytes){0};
    int64_t n = 0;
    bool more;
    CURSOR c;
    enum err e = db_query(tx->db,
                          SQL(grant_made_by, .account_id = account, .member_id = member ? &bytes : NULL,
                              .now = tx->now_us, .limit = GRANTS_ENDED_MAX + 1),
                          &c);
    if (e)
        return e;
    while (!(e = db_next(&c, &more)) && more)
        list[n++] = row_grant_made_by(&c, NULL);
    *ret_count = n;
    return e;
}

enum err grant_made_leave(struct tx *tx, const struct id *account, const struct id *member, bool end,
                          struct grants_left *ret)
{
    struct row_grant_made_by *list = arena_array(tx->arena, struct row_grant_made_by, GRANTS_ENDED_MAX + 1);
    int64_t count = 0, ended = 0;
    enum err e = list_made(tx, account, member, list, &count);
    for (; end && !e && ended < count && ended < GRANTS_ENDED_MAX; ended++)
        e = grant_revoke(tx, account, &list[ended].building_id, &list[ended].id);
    if (!e)
        *ret = (struct grants_left){.left = count - ended, .ended = ended};
    return e;
}

static struct str name_of(const struct member *members, size_t count, const struct id *member)
{
    for (size_t i = 0; i < count; i++)
        if (id_equal(&members[i].id, member))
            return members[i].name;
    return STR_NONE;
}

enum err grant_name_makers(struct tx *tx, const struct id *building, struct grant *grants, size_t count)
{
    const struct member *members = NULL;
    size_t members_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!id_given(&grants[i].member_id))
            continue;
        enum err e = members ? ERR_NONE : member_of_building(tx, building, &members, &members_count);
        if (e)
            return e;
        grants[i].maker = name_of(members, members_count, &grants[i].member_id);
    }
    return ERR_NONE;
}
