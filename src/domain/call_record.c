#include "domain/call_record.h"

#include <stdio.h>

#include "domain/feed.h"
#include "domain/list.h"
#include "domain/visit.h"

#define MS_US    1000
#define OVER_US  (1800 * US_PER_S) /* a call that began before is over */
#define READ_MAX 10000             /* records that a filtered list reads; the page then ends, full or not */

/* ---- writing ---- */

enum err call_record_write(struct tx *tx, const struct call_arrival *arrival, const struct call_end *end)
{
    const bool ended = end->ended_us != 0;
    enum err e = db_exec(tx->db,
                         SQL(call_record_write, .building_id = &end->building_id, .id = &arrival->id,
                             .account_id = &end->account_id, .started_at = arrival->started_us,
                             .ended_at = ended ? v_time(end->ended_us) : v_null(),
                             .front_end = str_z(call_front_names[arrival->front]), .source = str_z(arrival->source),
                             .dialled = str_z(arrival->dialled), .caller = str_z(arrival->caller),
                             .outcome = str_z(call_record_outcome_names[end->outcome]),
                             .reason = str_z(access_reason_names[end->reason]), .grant_id = &end->grant_id,
                             .resident_opened = end->resident_opened,
                             .ended_by = ended ? str_z(call_ended_by_names[end->ended_by]) : STR_NONE,
                             .steps = end->steps.p ? end->steps : STR(""), .minutes = end->minutes),
                         NULL);
    return e ? e : visit_write(tx, arrival, end);
}

struct open_call {
    struct call_arrival arrival;
    struct call_end end;
};

static enum call_record_outcome outcome_named(struct str name)
{
    enum call_record_outcome o = CALL_RECORD_NONE;
    while (o < CALL_RECORD_UNREACHABLE && !str_eq(name, str_z(call_record_outcome_names[o])))
        o++;
    return o;
}

static struct open_call read_open(const struct cursor *c, int64_t now_us)
{
    const struct row_call_record_open row = row_call_record_open(c, NULL);
    const int64_t started_us = row.started_at;
    const int64_t last_us = started_us + CALL_RECORD_LONGEST_US;
    struct open_call call = {.arrival = {.id = row.id, .started_us = started_us},
                             .end = {.building_id = row.building_id,
                                     .outcome = outcome_named(row.outcome),
                                     .ended_us = now_us > started_us && now_us < last_us ? now_us : last_us,
                                     .ended_by = CALL_ENDED_RESTARTED}};
    (void)snprintf(call.arrival.caller, sizeof call.arrival.caller, "%.*s", STR_ARG(row.caller));
    return call;
}

static enum err close_call(struct tx *tx, const struct open_call *call)
{
    const struct call_end *end = &call->end;
    enum err e = db_exec(tx->db,
                         SQL(call_record_close, .building_id = &end->building_id, .id = &call->arrival.id,
                             .ended_at = end->ended_us, .ended_by = str_z(call_ended_by_names[end->ended_by])),
                         NULL);
    if (!e)
        e = visit_close(tx, &call->arrival, end);
    return e ? e : feed_ended(tx, &call->arrival, end);
}

static enum err list_open(struct tx *tx, int64_t before_us, int64_t limit, struct open_call **ret, size_t *ret_count)
{
    struct open_call *calls = arena_array(tx->arena, struct open_call, (size_t)limit);
    size_t n = 0;
    bool more;
    CURSOR c;
    enum err e = db_query(tx->db, SQL(call_record_open, .before = before_us, .limit = limit), &c);
    if (e)
        return e;
    while (!(e = db_next(&c, &more)) && more)
        calls[n++] = read_open(&c, tx->now_us);
    *ret = calls;
    *ret_count = n;
    return e;
}

enum err call_record_close(struct tx *tx, bool alone, int64_t limit, int64_t *ret_count)
{
    struct open_call *calls;
    size_t n = 0;
    enum err e = list_open(tx, alone ? INT64_MAX : tx->now_us - OVER_US, limit, &calls, &n);
    for (size_t i = 0; !e && i < n; i++)
        e = close_call(tx, &calls[i]);
    if (!e)
        *ret_count = (int64_t)n;
    return e;
}

enum err call_record_append(struct tx *tx, const struct id *building, const struct id *id, const struct call_step *step)
{
    char line[CALL_STEP_LINE_MAX];
    const size_t n = call_step_write(step, line);
    return db_exec(tx->db, SQL(call_record_append, .building_id = building, .id = id, .step = str_n(line, n)), NULL);
}

/* The line ends with the word and the key, after its time. */
static enum err append_once(struct tx *tx, const struct recorded_call *call, const struct call_step *step)
{
    char line[CALL_STEP_LINE_MAX];
    const struct str all = str_n(line, call_step_write(step, line));
    struct str words;
    (void)str_cut(all, ' ', &words);
    return db_exec(
        tx->db,
        SQL(call_record_append_once, .building_id = &call->building_id, .id = &call->id, .step = all, .words = words),
        NULL);
}

enum err call_record_fetched(struct tx *tx, const struct id *building, const struct id *id, const struct id *key)
{
    struct recorded_call call;
    enum err e = call_record_get(tx, building, id, &call);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_NONE : e;
    return append_once(tx, &call,
                       &(struct call_step){.at_ms = (tx->now_us - call.started_us) / MS_US,
                                           .kind = CALL_STEP_MESSAGE_FETCHED,
                                           .ref = id_str(key)});
}

enum err call_record_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count)
{
    const struct id first = id_first(before_us);
    return db_exec(tx->db, SQL(call_record_purge, .before = &first, .limit = limit), ret_count);
}

/* ---- reading ---- */

static struct recorded_call read_call(const struct row_call_record_listed *listed)
{
    const struct row_call_record *r = &listed->call_record;
    return (struct recorded_call){
        .building_id = r->building_id,
        .id = r->id,
        .account_id = r->account_id,
        .grant_id = r->grant_id,
        .started_us = r->started_at,
        .ended_us = v_int_or(r->ended_at, 0),
        .front = r->front_end,
        .source = r->source,
        .dialled = r->dialled,
        .caller = r->caller,
        .outcome = r->outcome,
        .reason = r->reason,
        .ended_by = r->ended_by,
        .resident_opened = r->resident_opened,
        .message_seconds = v_int_or(listed->message_seconds, 0),
    };
}

static enum err read_one(struct tx *tx, const struct db_call *call, struct recorded_call *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, call, &c);
    if (e)
        return e;
    const struct row_call_record_whole row = row_call_record_whole(&c, tx->arena);
    *ret = read_call(&row.call_record_listed);
    ret->steps = row.steps;
    return ERR_NONE;
}

enum err call_record_get(struct tx *tx, const struct id *building, const struct id *id, struct recorded_call *ret)
{
    return read_one(tx, SQL(call_record_get, .building_id = building, .id = id), ret);
}

enum err call_record_find(struct tx *tx, const struct id *id, struct recorded_call *ret)
{
    return read_one(tx, SQL(call_record_find, .id = id), ret);
}

/* ---- lists ---- */

struct listing {
    const struct id *building; /* NULL: all */
    struct str before, first;  /* IDs below `before` and not below `first` */
    int64_t limit;
};

/* Raises l->first to the lowest ID that a filtered list may read. *ret_cut: there are lower ones. */
static enum err list_cut(struct tx *tx, struct listing *l, bool *ret_cut)
{
    CURSOR c;
    enum err e =
        l->building
            ? db_one(tx->db, SQL(call_record_last, .before = l->before, .most = READ_MAX, .building_id = l->building),
                     &c)
            : db_one(tx->db, SQL(call_record_last_all, .before = l->before, .most = READ_MAX), &c);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_NONE : e;
    const struct row_call_record_last row = row_call_record_last(&c, NULL);
    const struct str last = row.id;
    *ret_cut = last.n == ID_LEN && memcmp(last.p, l->first.p, ID_LEN) > 0;
    if (*ret_cut)
        l->first = arena_str(tx->arena, last);
    return ERR_NONE;
}

/* The arguments that both lists take. One row more than the limit, to set `more`; times are shown in whole
 * milliseconds. */
#define LIST_ARGS(l, f)                                                                                                \
    .before = (l)->before, .first = (l)->first, .since = v_set((f)->since) ? (f)->since.i : INT64_MIN,                 \
    .until = v_set((f)->until) ? (f)->until.i + MS_US - 1 : INT64_MAX,                                                 \
    .outcome = v_set((f)->outcome) ? (f)->outcome.s : STR_NONE,                                                        \
    .number = v_set((f)->number) ? (f)->number.s : STR_NONE, .limit = (l)->limit + 1

static enum err list_read(struct tx *tx, const struct listing *l, const struct call_record_filter *f,
                          struct call_record_page *ret)
{
    struct recorded_call *items = arena_array(tx->arena, struct recorded_call, (size_t)l->limit);
    size_t n = 0;
    bool more;
    CURSOR c;
    enum err e = l->building ? db_query(tx->db, SQL(call_record_list, .building_id = l->building, LIST_ARGS(l, f)), &c)
                             : db_query(tx->db, SQL(call_record_list_all, LIST_ARGS(l, f)), &c);
    if (e)
        return e;
    while (!(e = db_next(&c, &more)) && more && n < (size_t)l->limit) {
        const struct row_call_record_listed row = row_call_record_listed(&c, tx->arena);
        items[n++] = read_call(&row);
    }
    if (!e)
        *ret = (struct call_record_page){.items = items, .count = n, .more = more};
    if (!e && more)
        ret->end = items[n - 1].id;
    return e;
}

bool call_record_searches(const struct call_record_filter *f)
{
    return v_set(f->outcome) || v_set(f->until) || v_set(f->number);
}

enum err call_record_list(struct tx *tx, const struct id *building, const struct call_record_filter *f,
                          struct call_record_page *ret)
{
    bool is_cut = false;
    enum err e = list_check_period(tx, f->since, f->until);
    if (e)
        return e;
    const struct id first = id_first(v_set(f->since) ? f->since.i : 0);
    struct listing l = {
        .building = building,
        .before = v_set(f->cursor) ? f->cursor.s : ID_ABOVE_ALL,
        .first = arena_str(tx->arena, id_str(&first)),
        .limit = v_set(f->limit) ? f->limit.i : CALL_RECORD_PAGE_DEFAULT,
    };
    /* IDs may run ahead of the clock, so `until` does not limit them. */
    if (call_record_searches(f))
        e = list_cut(tx, &l, &is_cut);
    if (!e)
        e = list_read(tx, &l, f, ret);
    if (e || ret->more || !is_cut)
        return e;
    ret->more = true;
    memcpy(ret->end.text, l.first.p, ID_LEN);
    return ERR_NONE;
}
