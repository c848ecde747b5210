#include "domain/grant.h"

#include "domain/event.h"
#include "domain/feed.h"
#include "domain/grant_code.h"
#include "domain/grant_label.h"
#include "domain/grant_row.h"
#include "domain/grant_rules.h"

#define ABOVE_ALL_IDS str_bytes("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", ID_BYTES_LEN + 1)

enum err grant_check_place(struct tx *tx, const struct grant_place *place)
{
    if (!place->linked)
        return ERR_NONE;
    CURSOR c;
    enum err e = db_one(tx->db, SQL(grant_building_paid, .id = place->building), &c);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_BUILDING_NOT_FOUND : e;
    const struct row_grant_building_paid row = row_grant_building_paid(&c, NULL);
    return str_eq(row.subscription_status, STR("active")) ? ERR_NONE : ERR_MULTI_BUILDING_REQUIRED;
}

enum err grant_get(struct tx *tx, const struct grant_place *place, const struct id *id, struct grant *ret)
{
    CURSOR c;
    const struct id_bytes bytes = id_to_bytes(id);
    enum err e =
        place->number
            ? db_one(tx->db, SQL(grant_get, .building = place->number, .building_id = place->building, .id = &bytes),
                     &c)
            : db_one(tx->db, SQL(grant_find, .building_id = place->building, .id = &bytes), &c);
    if (e)
        return e;
    const struct row_grant row = row_grant(&c, tx->arena);
    *ret = grant_row(&row);
    return ERR_NONE;
}

/* ---- creation ---- */

enum err grant_replay(struct tx *tx, const struct id *building, const struct grant_request *request, struct grant *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db,
                        SQL_AS(request->pass ? SQL_PASS_BY_REQUEST : SQL_GRANT_BY_REQUEST, grant_by_request,
                               .building_id = building, .request_key = crypto_hash64(request->id)),
                        &c);
    if (e)
        return e;
    const struct row_receipt row = row_receipt(&c, tx->arena);
    *ret = grant_row(&row.grant);
    return str_eq(row.request_hash, str_n((const char *)request->hash, GRANT_REQUEST_HASH_LEN)) &&
                   str_eq(ret->request_id, request->id)
               ? ERR_NONE
               : ERR_IDEMPOTENCY_CONFLICT;
}

/* Updates the count of the building's enabled grants. Passes are counted when the count is asked for. */
static enum err count_enabled(struct tx *tx, const struct id *building, const struct grant *g, int change)
{
    return change && !g->pass ? db_exec(tx->db, SQL(grant_count_add, .building_id = building, .change = change), NULL)
                              : ERR_NONE;
}

static enum err try_add(struct tx *tx, const struct grant_place *place, const struct grant_request *request,
                        struct grant *g, bool *ret_inserted)
{
    enum err e = grant_check_place(tx, place);
    if (e)
        return e;
    g->id = id_new(tx->now_us);
    g->request_id = request->id;
    if (place->key)
        g->created_by = *place->key;
    if (place->member)
        g->member_id = *place->member;
    if (g->type == GRANT_PASSCODE)
        e = g->code[0] ? grant_code_check(tx, place->building, g) : grant_code_generate(tx, place->building, g);
    if (e)
        return e;
    e = grant_row_insert(tx, place->building, g, request->hash, ret_inserted);
    if (e || !*ret_inserted)
        return e;
    e = count_enabled(tx, place->building, g, g->enabled);
    return e ? e : feed_grant(tx, place->building, FEED_GRANT_CREATED, &g->id, g->version);
}

static bool is_refusal(enum err e)
{
    return e == ERR_INVALID_UNLOCK || e == ERR_INVALID_TYPE || e == ERR_MULTI_BUILDING_REQUIRED;
}

enum err grant_add(struct tx *tx, const struct grant_place *place, const struct grant_request *request, enum err made,
                   struct grant *g, bool *ret_replayed)
{
    bool inserted = false;
    /* Most requests are not replays, so the receipt is read only if the grant cannot be created. A replay is checked
     * before any refusal, since its input may have become invalid after the creation. */
    enum err e = made ? made : try_add(tx, place, request, g, &inserted);
    if (!inserted && (!e || is_refusal(e))) {
        enum err r = grant_replay(tx, place->building, request, g);
        if (r != ERR_NOT_FOUND) {
            tx->why = STR_NONE;
            e = r;
        } else if (!e) {
            e = ERR_RETRY; /* the conflicting row is gone: a lost race */
        }
    }
    if (!e)
        *ret_replayed = !inserted;
    return e;
}

enum err grant_create(struct tx *tx, const struct grant_place *place, const struct grant_input *in,
                      const struct grant_request *request, struct grant *ret, bool *ret_replayed)
{
    struct grant g = {.pass = false};
    const enum err made = grant_rules_create(tx, in, &g);
    enum err e = grant_add(tx, place, request, made, &g, ret_replayed);
    if (!e)
        *ret = g;
    return e;
}

/* ---- lists ---- */

/* A filtered list reads this many grants at most; the page then ends, full or not. */
#define READ_MAX 10000

/* The statement of a filter, and its arguments besides building, position, type and limit. */
struct plan {
    enum sql statement;
    enum sql last; /* finds the last of READ_MAX grants */
    bool exact;    /* without a filter on the type, the statement reads only rows that it returns */
    bool nothing;  /* the filters exclude each other */
    bool ranges;   /* it takes the following, too */
    int64_t enabled_from, uses_from, ends_after, ends_until, starts_after, starts_until;
};

static enum grant_status wanted_status(struct str name)
{
    int i = 0;
    while (i < GRANT_REVOKED && !str_eq(name, str_z(grant_status_names[i])))
        i++;
    return (enum grant_status)i;
}

/* The grants that are enabled, have uses left, and start and end in these ranges. */
static struct plan plan_times(enum sql statement, int64_t ends_after, int64_t ends_until, int64_t starts_after,
                              int64_t starts_until)
{
    return (struct plan){
        .statement = statement,
        .last = SQL_GRANT_LAST,
        .ranges = true,
        .enabled_from = 1,
        .uses_from = 1,
        .ends_after = ends_after,
        .ends_until = ends_until,
        .starts_after = starts_after,
        .starts_until = starts_until,
    };
}

static struct plan plan_status(enum grant_status status, int64_t now_us)
{
    switch (status) {
    case GRANT_ACTIVE:
        return plan_times(SQL_GRANT_LIST_USABLE, now_us, GRANT_NO_END, INT64_MIN, now_us);
    case GRANT_SCHEDULED:
        return plan_times(SQL_GRANT_LIST_USABLE, now_us, GRANT_NO_END, now_us, INT64_MAX);
    case GRANT_INACTIVE:
        return (struct plan){.statement = SQL_GRANT_LIST_DISABLED, .last = SQL_GRANT_LAST_DISABLED, .exact = true};
    case GRANT_EXHAUSTED:
        return (struct plan){.statement = SQL_GRANT_LIST_EXHAUSTED, .last = SQL_GRANT_LAST_EXHAUSTED, .exact = true};
    case GRANT_EXPIRED:
        return plan_times(SQL_GRANT_LIST, INT64_MIN, now_us, INT64_MIN, INT64_MAX);
    case GRANT_REVOKED:
        break;
    }
    return (struct plan){.nothing = true};
}

static struct plan plan_list(const struct grant_filter *f, int64_t now_us)
{
    const bool off = v_set(f->enabled) && !f->enabled.b;
    if (v_set(f->passes))
        return (struct plan){.statement = SQL_PASS_LIST, .exact = true};
    if (!v_set(f->status) && off)
        return plan_status(GRANT_INACTIVE, now_us);
    if (!v_set(f->status)) {
        struct plan all = plan_times(SQL_GRANT_LIST, INT64_MIN, GRANT_NO_END, INT64_MIN, INT64_MAX);
        all.enabled_from = v_set(f->enabled);
        all.uses_from = 0;
        all.exact = !v_set(f->enabled);
        return all;
    }
    const enum grant_status status = wanted_status(f->status.s);
    if (v_set(f->enabled) && off != (status == GRANT_INACTIVE))
        return (struct plan){.nothing = true};
    return plan_status(status, now_us);
}

/* The filter's type as it is stored. The field table accepts no other text. */
static struct val wanted_type(struct val name)
{
    int i = 0;
    if (!v_set(name))
        return v_null();
    while (i < GRANT_ROUTINE && !str_eq(name.s, str_z(grant_type_names[i])))
        i++;
    return v_int(i);
}

/* Sorts usable grants by ID if they are few; else filters all grants in the order of their IDs. */
static enum err plan_usable(struct tx *tx, const struct id *building, struct plan *plan)
{
    if (plan->statement != SQL_GRANT_LIST_USABLE)
        return ERR_NONE;
    CURSOR c;
    enum err e = db_one(
        tx->db, SQL(grant_usable_many, .building_id = building, .ends_after = plan->ends_after, .most = READ_MAX), &c);
    if (!e)
        plan->statement = SQL_GRANT_LIST;
    else
        plan->exact = true;
    return e == ERR_NOT_FOUND ? ERR_NONE : e;
}

/* The last of the READ_MAX grants below `before`; empty if there are not so many. */
static enum err read_end(struct tx *tx, const struct id *building, enum sql last, struct str before, struct id *ret)
{
    static const struct id none;
    CURSOR c;
    enum err e =
        db_one(tx->db, SQL_AS(last, grant_last, .building_id = building, .before = before, .most = READ_MAX), &c);
    *ret = e ? none : row_grant_last(&c, NULL).id;
    return e == ERR_NOT_FOUND ? ERR_NONE : e;
}

/* A part of the list: the newest `limit` grants of a type below `before`, and not below `first`. */
struct part {
    const struct id *building;
    struct str before;
    const struct id_bytes *first;
    struct val type; /* null: any */
    int64_t limit;
};

/* One row more than the limit, to set `more`. */
#define PART_ARGS(p)                                                                                                   \
    .building_id = (p)->building, .before = (p)->before, .first = (p)->first, .type = (p)->type, .limit = (p)->limit + 1

static enum err query_part(struct tx *tx, const struct plan *plan, const struct part *part, struct cursor *ret)
{
    if (!plan->ranges)
        return db_query(tx->db, SQL_AS(plan->statement, grant_list_disabled, PART_ARGS(part)), ret);
    return db_query(tx->db,
                    SQL_AS(plan->statement, grant_list, PART_ARGS(part), .enabled_from = plan->enabled_from,
                           .uses_from = plan->uses_from, .ends_after = plan->ends_after, .ends_until = plan->ends_until,
                           .starts_after = plan->starts_after, .starts_until = plan->starts_until),
                    ret);
}

static enum err grant_read_page(struct tx *tx, struct cursor *c, size_t limit, struct grant_page *ret)
{
    struct grant *items = arena_alloc(tx->arena, limit * sizeof *items);
    size_t n = 0;
    bool more;
    enum err e;
    while (!(e = db_next(c, &more)) && more && n < limit) {
        const struct row_grant row = row_grant(c, tx->arena);
        items[n++] = grant_row(&row);
    }
    if (!e)
        *ret = (struct grant_page){.items = items, .count = n, .more = more};
    if (!e && more)
        ret->end = items[n - 1].id;
    return e;
}

enum err grant_list(struct tx *tx, const struct id *building, const struct grant_filter *filter, struct grant_page *ret)
{
    const int64_t limit = v_set(filter->limit) ? filter->limit.i : GRANT_PAGE_DEFAULT;
    struct plan plan = plan_list(filter, tx->now_us);
    if (plan.nothing) {
        *ret = (struct grant_page){0};
        return ERR_NONE;
    }
    struct id cursor, end = {{0}};
    const bool below = v_set(filter->cursor) && id_parse(filter->cursor.s, &cursor);
    const struct id_bytes first = below ? id_to_bytes(&cursor) : (struct id_bytes){{0}};
    const struct str before = below ? str_bytes(first.p, sizeof first.p) : ABOVE_ALL_IDS;
    enum err e = plan_usable(tx, building, &plan);
    const bool exact = plan.exact && (!v_set(filter->type) || plan.statement == SQL_GRANT_LIST_USABLE);
    if (!e && !exact)
        e = read_end(tx, building, plan.last, before, &end);
    if (e)
        return e;
    const struct id_bytes last = id_given(&end) ? id_to_bytes(&end) : (struct id_bytes){{0}};
    const struct part part = {building, before, &last, wanted_type(filter->type), limit};
    CURSOR c = {0};
    e = query_part(tx, &plan, &part, &c);
    if (!e)
        e = grant_read_page(tx, &c, (size_t)limit, ret);
    if (!e && !ret->more && id_given(&end)) {
        ret->more = true;
        ret->end = end;
    }
    return e;
}

/* ---- changes ---- */

/* Reads a grant and checks that it can be updated. */
static enum err get_for_update(struct tx *tx, const struct id *building, const struct id *id, int64_t version,
                               struct grant *ret)
{
    enum err e = grant_get(tx, &(struct grant_place){.building = building}, id, ret);
    if (e)
        return e;
    if (ret->revoked)
        return ERR_GRANT_REVOKED;
    return ret->version == version ? ERR_NONE : ERR_VERSION_CONFLICT;
}

static bool can_open(const struct grant *g, int64_t now_us)
{
    const enum grant_status status = grant_status(g, now_us);
    return status == GRANT_ACTIVE || status == GRANT_SCHEDULED;
}

/* True if the update may give the grant the code of another one. A passcode that cannot open any more is switched off
 * when its code is taken, a pass is left as it is. */
static bool code_matters(const struct grant *before, const struct grant *g, int64_t now_us)
{
    if (g->type != GRANT_PASSCODE)
        return false;
    return strcmp(g->code, before->code) != 0 ||
           (g->pass ? can_open(g, now_us) && !can_open(before, now_us) : g->enabled && !before->enabled);
}

enum err grant_update_by(struct tx *tx, const struct grant_place *place, const struct id *id, int64_t version,
                         grant_change *change, const void *in, struct grant *ret)
{
    struct grant g = {0};
    bool updated;
    enum err e = grant_check_place(tx, place);
    if (!e)
        e = get_for_update(tx, place->building, id, version, &g);
    const struct grant before = g;
    if (!e)
        e = change(tx, in, &g);
    if (!e && g.type == GRANT_PASSCODE && !g.code[0] && can_open(&g, tx->now_us))
        e = tx_fail(tx, ERR_INVALID_UNLOCK, "its access_code was erased when it had ended: give it a new one");
    if (!e && code_matters(&before, &g, tx->now_us))
        e = grant_code_check(tx, place->building, &g);
    if (!e)
        e = grant_row_update(tx, place->building, &g, &updated);
    if (e)
        return e;
    if (!updated)
        return ERR_VERSION_CONFLICT;
    e = count_enabled(tx, place->building, &g, g.enabled - before.enabled);
    if (!e && !str_eq(g.label, before.label))
        e = grant_label_changed(tx, place->building, id);
    if (!e)
        e = feed_grant(tx, place->building, FEED_GRANT_CHANGED, id, g.version + 1);
    if (e)
        return e;
    g.version++;
    g.updated_us = tx->now_us;
    *ret = g;
    return ERR_NONE;
}

static enum err change_grant(struct tx *tx, const void *in, struct grant *g)
{
    return grant_rules_update(tx, in, g);
}

enum err grant_update(struct tx *tx, const struct grant_place *place, const struct id *id, int64_t version,
                      const struct grant_input *in, struct grant *ret)
{
    if (!v_any_given(in, sizeof *in))
        return tx_fail(tx, ERR_INVALID_UNLOCK, "an update needs at least one field");
    return grant_update_by(tx, place, id, version, change_grant, in, ret);
}

static struct event_data revoked_data(const struct tx *tx, const struct row_ended *r, const struct id *id)
{
    return (struct event_data){
        .unlock_id = v_str(id_str(id)),
        .unlock_type = v_str(str_z(grant_type_names[r->type])),
        .label = v_str(r->label),
        .occurred_at = v_time(tx->now_us),
    };
}

/* Revokes the grant that is in the table of the statement. */
static enum err revoke_in(struct tx *tx, enum sql statement, const struct id *building, const struct id *id,
                          struct grant *ret_was, struct event_data *ret)
{
    CURSOR c;
    const struct id_bytes bytes = id_to_bytes(id);
    enum err e = db_one(
        tx->db, SQL_AS(statement, grant_revoke, .building_id = building, .id = &bytes, .updated_at = tx->now_us), &c);
    if (e)
        return e;
    const struct row_ended row = row_ended(&c, tx->arena);
    *ret_was = (struct grant){.enabled = row.enabled, .pass = statement == SQL_PASS_REVOKE};
    *ret = revoked_data(tx, &row, id);
    return ERR_NONE;
}

enum err grant_revoke(struct tx *tx, const struct id *account, const struct id *building, const struct id *id)
{
    struct grant g;
    struct event_data data;
    const struct id_bytes bytes = id_to_bytes(id);
    enum err e = revoke_in(tx, SQL_GRANT_REVOKE, building, id, &g, &data);
    if (e == ERR_NOT_FOUND)
        e = revoke_in(tx, SQL_PASS_REVOKE, building, id, &g, &data);
    if (e)
        return e == ERR_NOT_FOUND ? grant_get(tx, &(struct grant_place){.building = building}, id, &g) : e;
    e = count_enabled(tx, building, &g, -(int)g.enabled);
    if (!e)
        e = db_exec(tx->db, SQL(guest_link_delete, .building_id = building, .grant_id = &bytes), NULL);
    if (!e)
        e = event_write_earlier(tx, EARLIER_UNLOCK_REVOKED, account, building, &data);
    return e ? e : feed_grant(tx, building, FEED_GRANT_REVOKED, id, 0);
}

enum err grant_erase(struct tx *tx, const struct id *building, const struct id *id)
{
    const struct id_bytes bytes = id_to_bytes(id);
    enum err e = db_exec(tx->db, SQL(grant_erase, .building_id = building, .id = &bytes), NULL);
    if (!e)
        e = db_exec(tx->db, SQL(pass_erase, .building_id = building, .id = &bytes), NULL);
    return e ? e : grant_label_changed(tx, building, id);
}
