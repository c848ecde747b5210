#include "domain/grant.h"

#include "domain/grant_code.h"
#include "domain/grant_row.h"
#include "domain/grant_rules.h"
#include "domain/row.h"

#define ABOVE_ALL_IDS v_blob("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", ID_BYTES_LEN + 1)

/* A linked building takes writes only while its account's subscription is active (contract, Grant rules 2). */
static enum err check_place(struct op *op, const struct grant_place *place)
{
    if (!place->linked)
        return ERR_NONE;
    CURSOR c;
    enum err e = db_one(op->db, SQL_GRANT_BUILDING_PAID, DB_ARGS(v_str(id_str(place->building))), &c);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_BUILDING_NOT_FOUND : e;
    return str_eq(col_str(&c, 0), STR("active")) ? ERR_NONE : ERR_MULTI_BUILDING_REQUIRED;
}

enum err grant_get(struct op *op, const struct id *building, const struct id *id, struct grant *ret)
{
    CURSOR c;
    const struct id_bytes bytes = id_to_bytes(id);
    enum err e = db_one(op->db, SQL_GRANT_GET, DB_ARGS(v_str(id_str(building)), v_id_bytes(&bytes)), &c);
    if (!e)
        *ret = grant_row(&c, op->arena);
    return e;
}

/* ---- creation ---- */

enum err grant_replay(struct op *op, const struct id *building, struct str request_id,
                      const unsigned char request_hash[static SHA256_LEN], struct grant *ret)
{
    CURSOR c;
    enum err e =
        db_one(op->db, SQL_GRANT_BY_REQUEST, DB_ARGS(v_str(id_str(building)), v_int(crypto_hash64(request_id))), &c);
    if (e)
        return e;
    const struct str hash = col_blob(&c, GRANT_COLUMNS);
    const struct grant g = grant_row(&c, op->arena);
    if (!str_eq(hash, str_n((const char *)request_hash, GRANT_REQUEST_HASH_LEN)) || !str_eq(g.request_id, request_id))
        return ERR_IDEMPOTENCY_CONFLICT;
    *ret = g;
    return ERR_NONE;
}

static enum err create(struct op *op, const struct grant_place *place, const struct grant_input *in,
                       struct str request_id, const unsigned char request_hash[static SHA256_LEN], struct grant *ret,
                       bool *ret_inserted)
{
    enum err e = grant_rules_create(op, in, ret);
    if (!e)
        e = check_place(op, place);
    if (e)
        return e;
    ret->id = id_new(op->now_us);
    ret->request_id = request_id;
    if (ret->type == GRANT_PASSCODE)
        e = ret->code[0] ? grant_code_check(op, place->building, ret) : grant_code_generate(op, place->building, ret);
    if (e)
        return e;
    return grant_row_insert(op, place->building, ret, request_hash, ret_inserted);
}

static bool is_refusal(enum err e)
{
    return e == ERR_INVALID_UNLOCK || e == ERR_INVALID_TYPE || e == ERR_MULTI_BUILDING_REQUIRED;
}

enum err grant_create(struct op *op, const struct grant_place *place, const struct grant_input *in,
                      struct str request_id, const unsigned char request_hash[static SHA256_LEN], struct grant *ret,
                      bool *ret_replayed)
{
    struct grant g;
    bool inserted = false;
    /* A first request is by far the most likely: its receipt is looked for only where it cannot be created. What was
     * right when it was created may be wrong now, so a replay comes before any refusal. */
    enum err e = create(op, place, in, request_id, request_hash, &g, &inserted);
    if (!inserted && (!e || is_refusal(e))) {
        enum err r = grant_replay(op, place->building, request_id, request_hash, &g);
        if (r != ERR_NOT_FOUND) {
            op->why = STR_NONE;
            e = r;
        } else if (!e) {
            e = ERR_RETRY; /* the row that was in the way is gone: a lost race */
        }
    }
    if (e)
        return e;
    *ret = g;
    *ret_replayed = !inserted;
    return ERR_NONE;
}

/* ---- lists ---- */

/* A filter as a statement and what it takes besides building, cursor, type and limit. */
struct plan {
    enum sql statement;
    bool nothing; /* the filters exclude each other */
    struct val args[3];
    size_t arg_count;
};

static enum grant_status wanted_status(struct str name)
{
    int i = 0;
    while (i < GRANT_REVOKED && !str_eq(name, str_z(grant_status_names[i])))
        i++;
    return (enum grant_status)i;
}

static struct plan plan_status(enum grant_status status, int64_t now_us)
{
    switch (status) {
    case GRANT_ACTIVE:
        return (struct plan){SQL_GRANT_LIST_USABLE, false, {v_int(now_us), v_int(-1), v_int(now_us)}, 3};
    case GRANT_SCHEDULED:
        return (struct plan){SQL_GRANT_LIST_USABLE, false, {v_int(now_us), v_int(now_us), v_int(INT64_MAX)}, 3};
    case GRANT_INACTIVE:
        return (struct plan){.statement = SQL_GRANT_LIST_DISABLED};
    case GRANT_EXHAUSTED:
        return (struct plan){.statement = SQL_GRANT_LIST_EXHAUSTED};
    case GRANT_EXPIRED:
        return (struct plan){SQL_GRANT_LIST, false, {v_int(1), v_int(now_us), v_int(1)}, 3};
    case GRANT_REVOKED:
        break;
    }
    return (struct plan){.nothing = true};
}

static struct plan plan_list(const struct grant_filter *f, int64_t now_us)
{
    const bool off = v_set(f->enabled) && !f->enabled.b;
    if (!v_set(f->status) && off)
        return plan_status(GRANT_INACTIVE, now_us);
    if (!v_set(f->status))
        return (struct plan){SQL_GRANT_LIST, false, {v_int(v_set(f->enabled)), v_int(GRANT_NO_END), v_int(0)}, 3};
    const enum grant_status status = wanted_status(f->status.s);
    if (v_set(f->enabled) && off != (status == GRANT_INACTIVE))
        return (struct plan){.nothing = true};
    return plan_status(status, now_us);
}

/* The filter's type as it is stored; the interface has let none pass but these. */
static struct val wanted_type(struct val name)
{
    int i = 0;
    if (!v_set(name))
        return v_null();
    while (i < GRANT_ROUTINE && !str_eq(name.s, str_z(grant_type_names[i])))
        i++;
    return v_int(i);
}

static enum err read_page(struct op *op, struct cursor *c, size_t limit, struct grant_page *ret)
{
    struct grant *items = arena_alloc(op->arena, limit * sizeof *items);
    size_t n = 0;
    bool more;
    enum err e;
    while (!(e = db_next(c, &more)) && more && n < limit)
        items[n++] = grant_row(c, op->arena);
    if (!e)
        *ret = (struct grant_page){items, n, more};
    return e;
}

enum err grant_list(struct op *op, const struct id *building, const struct grant_filter *filter, struct grant_page *ret)
{
    const int64_t limit = v_set(filter->limit) ? filter->limit.i : GRANT_PAGE_DEFAULT;
    const struct plan plan = plan_list(filter, op->now_us);
    if (plan.nothing) {
        *ret = (struct grant_page){0};
        return ERR_NONE;
    }
    struct id cursor;
    const bool below = v_set(filter->cursor) && id_parse(filter->cursor.s, &cursor);
    const struct id_bytes last = below ? id_to_bytes(&cursor) : (struct id_bytes){{0}};
    const struct val args[] = {
        v_str(id_str(building)),
        below ? v_id_bytes(&last) : ABOVE_ALL_IDS,
        wanted_type(filter->type),
        v_int(limit + 1), /* one more, to know whether there is one */
        plan.args[0],
        plan.args[1],
        plan.args[2],
    };
    CURSOR c;
    enum err e = db_query(op->db, plan.statement, (struct db_args){args, 4 + plan.arg_count}, &c);
    return e ? e : read_page(op, &c, (size_t)limit, ret);
}

/* ---- changes ---- */

/* The grant as an update may find it. */
static enum err get_for_update(struct op *op, const struct id *building, const struct id *id, int64_t version,
                               struct grant *ret)
{
    enum err e = grant_get(op, building, id, ret);
    if (e)
        return e;
    if (ret->revoked)
        return ERR_GRANT_REVOKED;
    return ret->version == version ? ERR_NONE : ERR_VERSION_CONFLICT;
}

/* Whether the update may have made the grant's code clash with another's. */
static bool code_matters(const struct grant_input *in, const struct grant *g)
{
    return g->type == GRANT_PASSCODE && (v_given(in->access_code) || (v_given(in->enabled) && g->enabled));
}

enum err grant_update(struct op *op, const struct grant_place *place, const struct id *id, int64_t version,
                      const struct grant_input *in, struct grant *ret)
{
    struct grant g;
    bool updated;
    if (grant_rules_empty(in))
        return op_fail(op, ERR_INVALID_UNLOCK, "an update needs at least one field");
    enum err e = check_place(op, place);
    if (!e)
        e = get_for_update(op, place->building, id, version, &g);
    if (!e)
        e = grant_rules_update(op, in, &g);
    if (!e && code_matters(in, &g))
        e = grant_code_check(op, place->building, &g);
    if (!e)
        e = grant_row_update(op, place->building, &g, &updated);
    if (e)
        return e;
    if (!updated)
        return ERR_VERSION_CONFLICT;
    g.version++;
    g.updated_us = op->now_us;
    *ret = g;
    return ERR_NONE;
}

enum err grant_revoke(struct op *op, const struct id *building, const struct id *id)
{
    int64_t changed;
    struct grant g;
    const struct id_bytes bytes = id_to_bytes(id);
    enum err e = db_exec(op->db, SQL_GRANT_REVOKE,
                         DB_ARGS(v_str(id_str(building)), v_id_bytes(&bytes), v_int(op->now_us)), &changed);
    return e || changed ? e : grant_get(op, building, id, &g);
}
