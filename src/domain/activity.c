#include "domain/activity.h"

#include <glib.h>

#include "domain/activity_cursor.h"
#include "domain/list.h"

#define MS_US 1000

/* The combining accents of Unicode. */
#define ACCENTS_FIRST 0x300
#define ACCENTS_LAST  0x36f

/* Limits on the rows that a search reads. */
#define KINDS_MAX   20000 /* kinds compared with the filters */
#define MERGE_MAX   1000  /* matching kinds merged: each costs a seek */
#define GLANCE_MAX  500   /* entries read before a merge of many kinds */
#define GLANCE_FROM 50    /* this many kinds are many */
#define ALONG_MAX   10000 /* entries read in order; the page then ends, full or not */

const char *const activity_type_names[] = {"unlock", "call", NULL};

bool activity_fold(struct arena *a, struct str text, struct str *ret)
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

bool activity_fold_plain(struct arena *a, struct str text, struct str *ret)
{
    struct str folded;
    if (!activity_fold(a, text, &folded))
        return false;
    char *apart = g_utf8_normalize(folded.p, (gssize)folded.n, G_NORMALIZE_DEFAULT);
    char *plain = arena_alloc(a, strlen(apart) + 1);
    size_t n = 0;
    for (const char *p = apart, *next; *p; p = next) {
        const gunichar c = g_utf8_get_char(p);
        next = g_utf8_next_char(p);
        if (c >= ACCENTS_FIRST && c <= ACCENTS_LAST)
            continue;
        memcpy(plain + n, p, (size_t)(next - p));
        n += (size_t)(next - p);
    }
    g_free(apart);
    *ret = str_n(plain, n);
    return true;
}

/* Finds or inserts the row of an entry's kind. */
static enum err activity_kind(struct tx *tx, const struct id *building, const struct activity *entry, int64_t *ret)
{
    const struct str type = str_z(activity_type_names[entry->type]);
    const struct str unlock_type = entry->unlock_type.p ? entry->unlock_type : STR("");
    struct str folded;
    CURSOR c;
    enum err e = db_one(tx->db,
                        SQL(activity_kind_get, .building_id = building, .name = entry->name, .type = type,
                            .unlock_type = unlock_type, .succeeded = entry->succeeded),
                        &c);
    if (e == ERR_NOT_FOUND && !activity_fold(tx->arena, entry->name, &folded))
        return tx_fail(tx, ERR_INTERNAL_ERROR, "a name that is not UTF-8");
    if (e == ERR_NOT_FOUND)
        e = db_one(tx->db,
                   SQL(activity_kind_insert, .building_id = building, .name = entry->name, .type = type,
                       .unlock_type = unlock_type, .succeeded = entry->succeeded, .name_folded = folded),
                   &c);
    if (!e)
        *ret = row_activity_kind(&c, NULL).kind;
    return e;
}

enum err activity_add(struct tx *tx, const struct id *building, const struct activity *entry)
{
    const struct id id = id_new(tx->now_us);
    int64_t kind = 0;
    enum err e = activity_kind(tx, building, entry, &kind);
    return e ? e
             : db_exec(tx->db,
                       SQL(activity_insert, .building_id = building, .created_at = tx->now_us - tx->now_us % MS_US,
                           .id = &id, .kind = kind, .unlock_id = &entry->unlock_id, .call_id = tx->call),
                       NULL);
}

enum err activity_relabel(struct tx *tx, const struct id *building, const struct id *grant, struct str name,
                          int64_t limit, bool *ret_more)
{
    int64_t kind = 0;
    CURSOR c;
    enum err e =
        db_one(tx->db, SQL(activity_other_name, .building_id = building, .unlock_id = grant, .name = name), &c);
    *ret_more = !e;
    if (e)
        return e == ERR_NOT_FOUND ? ERR_NONE : e;
    const struct row_activity_other_name row = row_activity_other_name(&c, tx->arena);
    const struct activity entry = {.type = str_eq(row.type, STR("call")) ? ACTIVITY_CALL : ACTIVITY_UNLOCK,
                                   .unlock_type = row.unlock_type,
                                   .name = name,
                                   .succeeded = row.succeeded};
    e = activity_kind(tx, building, &entry, &kind);
    if (!e)
        e = db_exec(tx->db,
                    SQL(activity_relabel, .building_id = building, .unlock_id = grant, .kind = row.kind, .other = kind,
                        .limit = limit),
                    NULL);
    return e ? e : db_exec(tx->db, SQL(activity_kind_end, .building_id = building, .kind = row.kind), NULL);
}

/* ---- lists ---- */

/* A LIKE pattern that matches the text literally, at any position. */
static struct str name_pattern(struct arena *a, struct str folded)
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
    return str_n(p, n);
}

struct search {
    const struct id *building;
    int64_t since_us, before_us, limit;
    struct str since_id, before_id;
    struct str type, name, unlock_id; /* STR_NONE: any */
    struct val succeeded;
};

/* The arguments that statements on a range of entries have in common, and these with the filters. One row more than the
 * limit, to know whether there are more. */
#define RANGE_ARGS(s)                                                                                                  \
    .building_id = (s)->building, .since = (s)->since_us, .since_id = (s)->since_id, .before = (s)->before_us,         \
    .before_id = (s)->before_id
#define LIST_ARGS(s)                                                                                                   \
    RANGE_ARGS(s), .limit = (s)->limit + 1, .type = (s)->type, .succeeded = (s)->succeeded, .name = (s)->name

static enum err search_position(struct tx *tx, const struct id *building, const struct activity_filter *f,
                                struct search *s)
{
    struct activity_position at;
    if (!v_set(f->cursor))
        return ERR_NONE;
    if (!activity_cursor_read(tx->arena, f->cursor.s, building, f, &at))
        return ERR_INVALID_CURSOR;
    s->before_us = at.created_us;
    s->before_id = arena_str(tx->arena, id_str(&at.id));
    return ERR_NONE;
}

static enum err search_init(struct tx *tx, const struct id *building, const struct activity_filter *f, int64_t limit,
                            struct search *ret)
{
    enum err e = list_check_period(tx, f->since, f->until);
    if (e)
        return e;
    struct search s = {
        .building = building,
        .since_us = v_set(f->since) ? f->since.i : INT64_MIN,
        .since_id = STR(""),
        .before_us = v_set(f->until) ? f->until.i + 1 : INT64_MAX,
        .before_id = STR(""),
        .limit = limit,
        .type = v_set(f->type) ? f->type.s : STR_NONE,
        .succeeded = v_set(f->succeeded) ? v_bool(f->succeeded.b) : v_null(),
        .unlock_id = v_set(f->unlock_id) ? f->unlock_id.s : STR_NONE,
    };
    if (v_set(f->q)) {
        struct str folded;
        if (!activity_fold(tx->arena, f->q.s, &folded))
            return tx_fail(tx, ERR_INVALID_QUERY, "q must be UTF-8");
        s.name = name_pattern(tx->arena, folded);
    }
    *ret = s;
    return search_position(tx, building, f, ret);
}

/* ---- query plans ---- */

/* The query plan of a page, so that it reads a bounded number of rows. */
enum way {
    WAY_ALL,    /* every entry matches: read the newest ones */
    WAY_ALONG,  /* read at most ALONG_MAX entries, newest first, and filter them */
    WAY_GLANCE, /* the same for GLANCE_MAX entries; merge if the page is not full */
    WAY_MERGE,  /* merge the entries of the matching kinds */
    WAY_EMPTY   /* no kind matches */
};

static enum err choose_way(struct tx *tx, const struct search *s, enum way *ret)
{
    if (!s->type.p && !v_set(s->succeeded) && !s->name.p) {
        *ret = WAY_ALL;
        return ERR_NONE;
    }
    CURSOR c;
    enum err e = db_one(tx->db,
                        SQL(activity_kinds, .building_id = s->building, .limit = KINDS_MAX + 1, .type = s->type,
                            .succeeded = s->succeeded, .name = s->name),
                        &c);
    if (e)
        return e;
    const struct row_activity_kinds row = row_activity_kinds(&c, NULL);
    const int64_t kinds = row.kinds, matching = row.matching;
    if (kinds > KINDS_MAX)
        *ret = WAY_ALONG;
    else if (matching == 0)
        *ret = WAY_EMPTY;
    else if (matching == kinds)
        *ret = WAY_ALL;
    else
        *ret = matching > MERGE_MAX || s->unlock_id.p ? WAY_ALONG : matching > GLANCE_FROM ? WAY_GLANCE : WAY_MERGE;
    return ERR_NONE;
}

/* Limits the search to the newest `most` entries. *ret_cut: there are more. */
static enum err activity_cut(struct tx *tx, struct search *s, int64_t most, bool *ret_cut)
{
    CURSOR c;
    enum err e =
        db_one(tx->db,
               s->unlock_id.p ? SQL(activity_last_unlock, RANGE_ARGS(s), .most = most, .unlock_id = s->unlock_id)
                              : SQL(activity_last, RANGE_ARGS(s), .most = most),
               &c);
    *ret_cut = !e;
    if (!e) {
        const struct row_activity_last row = row_activity_last(&c, tx->arena);
        s->since_us = row.created_at;
        s->since_id = row.id;
    }
    return e == ERR_NOT_FOUND ? ERR_NONE : e;
}

static struct activity activity_read(const struct cursor *c, struct arena *a)
{
    const struct row_activity row = row_activity(c, a);
    return (struct activity){
        .id = row.id,
        .created_us = row.created_at,
        .type = str_eq(row.type, STR("call")) ? ACTIVITY_CALL : ACTIVITY_UNLOCK,
        .call_id = row.call_id,
        .unlock_id = row.unlock_id,
        .unlock_type = row.unlock_type.n ? row.unlock_type : STR_NONE,
        .name = row.name,
        .succeeded = row.succeeded,
    };
}

/* Sets *ret_end if there are more entries. */
static enum err activity_read_page(struct tx *tx, enum way way, const struct search *s, struct activity_page *ret,
                                   struct activity_position *ret_end)
{
    const size_t limit = (size_t)s->limit;
    CURSOR c;
    enum err e = db_query(tx->db,
                          way == WAY_MERGE ? SQL(activity_merge, LIST_ARGS(s))
                          : s->unlock_id.p ? SQL(activity_list_unlock, LIST_ARGS(s), .unlock_id = s->unlock_id)
                                           : SQL(activity_list, LIST_ARGS(s)),
                          &c);
    if (e)
        return e;
    struct activity *items = arena_alloc(tx->arena, limit * sizeof *items);
    size_t n = 0;
    bool more;
    while (!(e = db_next(&c, &more)) && more && n < limit)
        items[n++] = activity_read(&c, tx->arena);
    if (!e)
        *ret = (struct activity_page){.items = items, .count = n, .more = more};
    if (!e && more)
        *ret_end = (struct activity_position){items[n - 1].created_us, items[n - 1].id};
    return e;
}

/* Reads at most `most` entries; if the limit ends the page, it has `more`, and *ret_end is the limit. */
static enum err read_along(struct tx *tx, const struct search *whole, int64_t most, struct activity_page *ret,
                           struct activity_position *ret_end)
{
    struct search s = *whole;
    bool is_cut = false;
    enum err e = activity_cut(tx, &s, most, &is_cut);
    if (!e)
        e = activity_read_page(tx, WAY_ALONG, &s, ret, ret_end);
    if (!e && !ret->more && is_cut) {
        ret->more = true;
        ret_end->created_us = s.since_us;
        memcpy(ret_end->id.text, s.since_id.p, ID_LEN);
    }
    return e;
}

static enum err activity_search(struct tx *tx, const struct search *s, struct activity_page *ret,
                                struct activity_position *ret_end)
{
    enum way way;
    enum err e = choose_way(tx, s, &way);
    if (e || way == WAY_EMPTY)
        return e;
    if (way == WAY_ALONG)
        return read_along(tx, s, ALONG_MAX, ret, ret_end);
    if (way == WAY_GLANCE) {
        e = read_along(tx, s, GLANCE_MAX, ret, ret_end);
        if (e || !ret->more || (int64_t)ret->count == s->limit)
            return e;
        way = WAY_MERGE;
    }
    return activity_read_page(tx, way, s, ret, ret_end);
}

enum err activity_list(struct tx *tx, const struct id *building, const struct activity_filter *filter,
                       struct activity_page *ret)
{
    const int64_t limit = v_set(filter->limit) ? filter->limit.i : ACTIVITY_PAGE_DEFAULT;
    struct search s;
    struct activity_position end = {.created_us = 0};
    struct activity_page page = {.count = 0};
    enum err e = search_init(tx, building, filter, limit, &s);
    if (!e)
        e = activity_search(tx, &s, &page, &end);
    if (e)
        return e;
    if (page.more)
        page.cursor = activity_cursor_write(tx->arena, &end, building, filter);
    *ret = page;
    return ERR_NONE;
}
