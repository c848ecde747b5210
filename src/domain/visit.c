#include "domain/visit.h"

#include "domain/activity.h"
#include "domain/key_life.h"
#include "domain/list.h"

#define MS_US    1000
#define READ_MAX 10000 /* visits that a filtered list reads; the page then ends, full or not */
#define CHUNK    500   /* of them at once */

/* ---- writing ---- */

static enum err visit_grant_name(struct tx *tx, const struct id *building, const struct id *grant, struct str *ret)
{
    CURSOR c;
    const struct id_bytes id = id_to_bytes(grant);
    enum err e = db_one(tx->db, SQL(visit_grant, .building_id = building, .id = &id), &c);
    if (!e)
        *ret = row_visit_grant(&c, tx->arena).label;
    return e == ERR_NOT_FOUND ? ERR_NONE : e;
}

/* The member whose phone has these last digits, "...1234"; STR_NONE: nobody's alone. */
static enum err person_of_phone(struct tx *tx, const struct id *building, struct str number, struct str *ret)
{
    const int n = (int)number.n - 3;
    size_t count = 0;
    if (n <= 0)
        return ERR_NONE;
    CURSOR c;
    enum err e = db_query(tx->db,
                          SQL(member_of_phone, .building_id = building,
                              .number = arena_printf(tx->arena, "%%%.*s", n, number.p + 3),
                              .among = arena_printf(tx->arena, "%%%.*s %%", n, number.p + 3)),
                          &c);
    struct str name = STR_NONE;
    for (bool more; !e && !(e = db_next(&c, &more)) && more; count++)
        name = row_member_of_phone(&c, tx->arena).name;
    if (!e)
        *ret = count == 1 ? name : STR_NONE;
    return e;
}

/* The visit is in progress, and the code that opened nothing has told why. */
static bool is_told(const struct call_end *end)
{
    return !end->ended_us && !end->resident_opened && end->outcome == CALL_RECORD_FORWARDED &&
           (end->reason == ACCESS_WRONG_CODE || end->reason == ACCESS_OUTSIDE_WINDOW);
}

enum err visit_write(struct tx *tx, const struct call_arrival *arrival, const struct call_end *end)
{
    const struct visit_facts f = visit_of(end);
    struct str grant_name = STR_NONE, opener = f.number, person = STR_NONE;
    enum err e = ERR_NONE;
    if (is_told(end))
        return ERR_NONE;
    if (id_given(&f.grant_id))
        e = visit_grant_name(tx, &end->building_id, &f.grant_id, &grant_name);
    if (!e && f.opened_by >= VISIT_BY_BROWSER)
        e = key_name(tx, &end->account_id, &end->opener_id, &opener);
    if (!e && f.opened_by == VISIT_BY_PHONE && f.number.p)
        e = person_of_phone(tx, &end->building_id, f.number, &person);
    if (!e)
        e = db_exec(tx->db,
                    SQL(visit_write, .building_id = &end->building_id, .id = &arrival->id,
                        .started_at = arrival->started_us - arrival->started_us % MS_US,
                        .outcome = str_z(visit_outcome_names[f.outcome]),
                        .opened_by = f.opened_by ? str_z(visit_opener_names[f.opened_by]) : STR_NONE, .opener = opener,
                        .person = person, .reason = f.reason, .grant_id = &f.grant_id, .grant_name = grant_name),
                    NULL);
    return e;
}

enum err visit_close(struct tx *tx, const struct call_arrival *arrival, const struct call_end *end)
{
    const enum visit_outcome outcome = end->outcome == CALL_RECORD_NONE ? VISIT_REFUSED : VISIT_FORWARDED;
    return db_exec(tx->db,
                   SQL(visit_end, .building_id = &end->building_id, .id = &arrival->id,
                       .outcome = str_z(visit_outcome_names[outcome])),
                   NULL);
}

enum err visit_relabel(struct tx *tx, const struct id *building, const struct id *grant, struct str name, int64_t limit,
                       bool *ret_more)
{
    int64_t changed;
    enum err e = db_exec(
        tx->db, SQL(visit_relabel, .building_id = building, .grant_id = grant, .grant_name = name, .limit = limit),
        &changed);
    if (!e)
        *ret_more = changed == limit;
    return e;
}

enum err visit_purge(struct tx *tx, const struct id *building, int64_t before_us, int64_t limit, int64_t *ret_count)
{
    const struct id first = id_first(before_us);
    return db_exec(tx->db, SQL(visit_purge, .building_id = building, .before = &first, .limit = limit), ret_count);
}

/* ---- reading ---- */

enum err visit_opened_by(struct tx *tx, const struct id *building, const struct id *call, struct str *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(visit_opener, .building_id = building, .id = call), &c);
    if (e && e != ERR_NOT_FOUND)
        return e;
    *ret = e ? STR_NONE : row_visit_opener(&c, tx->arena).name;
    return ERR_NONE;
}

static struct visit visit_read(const struct cursor *c, struct arena *a)
{
    const struct row_visit row = row_visit(c, a);
    return (struct visit){
        .id = row.id,
        .call_id = row.call_id,
        .started_us = row.started_at,
        .ended_us = v_int_or(row.ended_at, 0),
        .caller = row.caller,
        .outcome = row.outcome,
        .opened_by = row.opened_by,
        .opener = row.opener,
        .person = row.person,
        .reason = row.reason,
        .grant_id = row.grant_id,
        .grant_name = row.grant_name,
        .message_seconds = v_int_or(row.message_seconds, 0),
    };
}

struct visit_search {
    const struct id *building;
    const struct visit_filter *filter;
    struct str q;             /* folded; STR_NONE: any */
    struct str before, first; /* IDs below `before` and not below `first` */
    size_t limit, chunk, read;
};

static bool has_text(struct tx *tx, struct str text, struct str part)
{
    struct str folded;
    return text.n && activity_fold_plain(tx->arena, text, &folded) && memmem(folded.p, folded.n, part.p, part.n);
}

static bool is_wanted(struct tx *tx, const struct visit_search *s, const struct visit *v)
{
    const struct visit_filter *f = s->filter;
    if ((v_set(f->since) && v->started_us < f->since.i) || (v_set(f->until) && v->started_us > f->until.i) ||
        (v_set(f->outcome) && !str_eq(f->outcome.s, v->outcome)) ||
        (v_set(f->reason) && !str_eq(f->reason.s, v->reason)) ||
        (v_set(f->opened_by) && !str_eq(f->opened_by.s, v->opener) && !str_eq(f->opened_by.s, v->person)) ||
        (v_set(f->unlock_id) && !str_eq(f->unlock_id.s, id_str(&v->grant_id))))
        return false;
    return !s->q.p || has_text(tx, v->grant_name, s->q) || has_text(tx, v->opener, s->q) ||
           has_text(tx, v->person, s->q) || has_text(tx, v->caller, s->q);
}

/* Reads the next visits of the search into the page. *ret_end: they end it. */
static enum err read_chunk(struct tx *tx, struct visit_search *s, struct visit *items, struct visit_page *ret,
                           bool *ret_end)
{
    size_t n = 0;
    bool more;
    CURSOR c;
    enum err e = db_query(
        tx->db,
        SQL(visit_list, .building_id = s->building, .before = s->before, .first = s->first, .limit = (int64_t)s->chunk),
        &c);
    if (e)
        return e;
    for (; !(e = db_next(&c, &more)) && more; n++) {
        const struct visit v = visit_read(&c, tx->arena);
        const bool wanted = is_wanted(tx, s, &v);
        if (wanted && ret->count == s->limit) {
            ret->more = true;
            break;
        }
        if (wanted)
            items[ret->count++] = v;
        ret->end = v.id;
    }
    s->read += n;
    s->before = arena_str(tx->arena, id_str(&ret->end));
    *ret_end = ret->more || n < s->chunk;
    return e;
}

static enum err search_begin(struct tx *tx, const struct id *building, const struct visit_filter *f,
                             struct visit_search *ret)
{
    enum err e = list_check_period(tx, f->since, f->until);
    if (e)
        return e;
    const struct id first = id_first(v_set(f->since) ? f->since.i : 0);
    const size_t limit = v_set(f->limit) ? (size_t)f->limit.i : VISIT_PAGE_DEFAULT;
    *ret = (struct visit_search){
        .building = building,
        .filter = f,
        .before = v_set(f->cursor) ? f->cursor.s : ID_ABOVE_ALL,
        .first = arena_str(tx->arena, id_str(&first)),
        .limit = limit,
        .chunk = visit_searches(f) ? CHUNK : limit + 1,
    };
    if (v_set(f->q) && !activity_fold_plain(tx->arena, f->q.s, &ret->q))
        return tx_fail(tx, ERR_INVALID_QUERY, "q must be UTF-8");
    return ERR_NONE;
}

bool visit_searches(const struct visit_filter *f)
{
    return v_set(f->until) || v_set(f->outcome) || v_set(f->reason) || v_set(f->unlock_id) || v_set(f->opened_by) ||
           v_set(f->q);
}

enum err visit_list(struct tx *tx, const struct id *building, const struct visit_filter *filter, struct visit_page *ret)
{
    struct visit_search s;
    enum err e = search_begin(tx, building, filter, &s);
    if (e)
        return e;
    struct visit *items = arena_array(tx->arena, struct visit, s.limit);
    struct visit_page page = {.items = items};
    for (bool end = false; !e && !end;) {
        e = read_chunk(tx, &s, items, &page, &end);
        if (!e && !end && s.read >= READ_MAX)
            page.more = end = true;
    }
    if (!e)
        *ret = page;
    return e;
}
