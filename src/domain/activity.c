#include "domain/activity.h"

#include <glib.h>

#include "domain/activity_cursor.h"
#include "domain/row.h"

#define MS_US 1000

const char *const activity_type_names[] = {"unlock", "call", NULL};

/* The form in which names are searched: case folded, characters composed. False if the text is not UTF-8. */
static bool fold(struct arena *a, struct str text, struct str *ret)
{
    if (text.n == 0) {
        *ret = STR("");
        return true;
    }
    if (!g_utf8_validate(text.p, (gssize)text.n, NULL))
        return false;
    char *folded = g_utf8_casefold(text.p, (gssize)text.n);
    char *composed = g_utf8_normalize(folded, -1, G_NORMALIZE_DEFAULT_COMPOSE);
    *ret = arena_str(a, str_z(composed));
    g_free(composed);
    g_free(folded);
    return true;
}

enum err activity_add(struct op *op, const struct id *building, const struct activity *entry)
{
    const struct id id = id_new(op->now_us);
    struct str folded;
    if (!fold(op->arena, entry->name, &folded))
        return op_fail(op, ERR_INTERNAL_ERROR, "a name that is not UTF-8");
    return db_exec(op->db, SQL_ACTIVITY_INSERT,
                   DB_ARGS(v_str(id_str(building)), v_int(op->now_us - op->now_us % MS_US), v_str(id_str(&id)),
                           v_str(str_z(activity_type_names[entry->type])), v_str(id_str(&entry->unlock_id)),
                           v_str(entry->unlock_type), v_str(entry->name), v_str(folded), v_int(entry->succeeded)),
                   NULL);
}

/* ---- lists ---- */

/* A LIKE pattern that finds the folded text anywhere, literally. */
static struct val name_pattern(struct arena *a, struct str folded)
{
    char *p = arena_alloc(a, 2 * folded.n + 2);
    size_t n = 0;
    p[n++] = '%';
    for (size_t i = 0; i < folded.n; i++) {
        if (strchr("%_!", folded.p[i]))
            p[n++] = '!';
        p[n++] = folded.p[i];
    }
    p[n++] = '%';
    return v_str(str_n(p, n));
}

/* The statement's arguments $1 to $10, in its order. */
struct search {
    struct val building, since, until, before_us, after_id, type, succeeded, name, limit, unlock_id;
};

static enum err search_position(struct op *op, const struct id *building, const struct activity_filter *f,
                                struct search *s)
{
    struct activity_position at;
    if (!v_set(f->cursor))
        return ERR_NONE;
    if (!activity_cursor_read(op->arena, f->cursor.s, building, f, &at))
        return ERR_INVALID_CURSOR;
    s->before_us = v_int(at.created_us);
    s->after_id = v_str(arena_str(op->arena, id_str(&at.id)));
    if (at.created_us < s->until.i)
        s->until.i = at.created_us;
    return ERR_NONE;
}

static enum err search_init(struct op *op, const struct id *building, const struct activity_filter *f, int64_t limit,
                            struct search *ret)
{
    struct search s = {
        .building = v_str(id_str(building)),
        .since = v_int(v_set(f->since) ? f->since.i : INT64_MIN),
        .until = v_int(v_set(f->until) ? f->until.i : INT64_MAX),
        .before_us = v_int(INT64_MAX),
        .after_id = v_str(STR("")),
        .type = v_set(f->type) ? f->type : v_null(),
        .succeeded = v_set(f->succeeded) ? v_int(f->succeeded.b) : v_null(),
        .limit = v_int(limit),
        .unlock_id = f->unlock_id,
    };
    if (s.since.i > s.until.i)
        return op_fail(op, ERR_INVALID_DATE, "since must not be later than until");
    if (v_set(f->q)) {
        struct str folded;
        if (!fold(op->arena, f->q.s, &folded))
            return op_fail(op, ERR_INVALID_QUERY, "q must be UTF-8");
        s.name = name_pattern(op->arena, folded);
    } else {
        s.name = v_null();
    }
    *ret = s;
    return search_position(op, building, f, ret);
}

static struct activity read_row(const struct cursor *c, struct arena *a)
{
    return (struct activity){
        .id = col_id(c, 0),
        .created_us = col_int(c, 1),
        .type = str_eq(col_str(c, 2), STR("call")) ? ACTIVITY_CALL : ACTIVITY_UNLOCK,
        .unlock_id = col_id(c, 3),
        .unlock_type = col_copy(c, 4, a),
        .name = col_copy(c, 5, a),
        .succeeded = col_int(c, 6) != 0,
    };
}

static enum err read_page(struct op *op, const struct search *s, size_t limit, struct activity_page *ret)
{
    const bool one_grant = v_set(s->unlock_id);
    const struct db_args args = {(const struct val *)s, one_grant ? 10 : 9};
    CURSOR c;
    enum err e = db_query(op->db, one_grant ? SQL_ACTIVITY_LIST_UNLOCK : SQL_ACTIVITY_LIST, args, &c);
    if (e)
        return e;
    struct activity *items = arena_alloc(op->arena, limit * sizeof *items);
    size_t n = 0;
    bool more;
    while (!(e = db_next(&c, &more)) && more && n < limit)
        items[n++] = read_row(&c, op->arena);
    if (!e)
        *ret = (struct activity_page){.items = items, .count = n, .more = more};
    return e;
}

enum err activity_list(struct op *op, const struct id *building, const struct activity_filter *filter,
                       struct activity_page *ret)
{
    const int64_t limit = v_set(filter->limit) ? filter->limit.i : ACTIVITY_PAGE_DEFAULT;
    struct search s;
    struct activity_page page;
    enum err e = search_init(op, building, filter, limit + 1, &s); /* one more, to know whether there is one */
    if (!e)
        e = read_page(op, &s, (size_t)limit, &page);
    if (e)
        return e;
    if (page.more) {
        const struct activity *last = &page.items[page.count - 1];
        page.cursor =
            activity_cursor_write(op->arena, &(struct activity_position){last->created_us, last->id}, building, filter);
    }
    *ret = page;
    return ERR_NONE;
}
