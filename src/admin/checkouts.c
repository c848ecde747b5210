/* Unsettled checkouts, and settling one that the provider did not respond to. */
#include "admin/routes.h"
#include "api/parts.h"
#include "billing/checkout.h"
#include "domain/work.h"
#include "jobs/checkout_session.h"
#include "providers/providers.h"

#define LIST_MAX    100
#define SESSION_MAX 255

struct checkouts_query {
    struct val email;
};
struct checkout_row_body {
    struct val id, account_id, email, status, overdue, plan, quantity, created_at, request_id, session_id;
};
struct checkouts_body {
    struct val data;
};
struct resolve_body {
    struct val checkout_id, outcome, session_id;
};

static const struct field query_fields[] = {
    FIELD(struct checkouts_query, email, T_STRING, .flags = F_TRIM | F_LOWER, .max = 254, .error = ERR_INVALID_EMAIL,
          .doc = "all checkouts of this account; default: those of all accounts that are preparing or open"),
};
static const struct shape query_shape = SHAPE(struct checkouts_query, "AdminCheckoutsQuery", query_fields);

#define OUT(member, type, ...) FIELD(struct checkout_row_body, member, type, .flags = F_REQUIRED __VA_ARGS__)
static const struct field row_fields[] = {
    OUT(id, T_ID),
    OUT(account_id, T_ID),
    OUT(email, T_STRING),
    OUT(status, T_STRING),
    OUT(overdue, T_BOOL, , .doc = "must be resolved by support"),
    OUT(plan, T_STRING),
    OUT(quantity, T_INT),
    OUT(created_at, T_TIME),
    OUT(request_id, T_STRING),
    OUT(session_id, T_STRING, | F_NULLABLE),
};
static const struct shape row_shape = SHAPE(struct checkout_row_body, "AdminCheckout", row_fields);

static const struct field list_fields[] = {
    FIELD(struct checkouts_body, data, T_OBJECTS, .flags = F_REQUIRED, .sub = &row_shape),
};
static const struct shape list_shape = SHAPE(struct checkouts_body, "AdminCheckouts", list_fields);

static const char *const outcomes[] = {"open", "failed", "complete", NULL};
static const struct field resolve_fields[] = {
    FIELD(struct resolve_body, checkout_id, T_ID, .flags = F_REQUIRED, .error = ERR_INVALID_ID),
    FIELD(struct resolve_body, outcome, T_STRING, .flags = F_REQUIRED, .values = outcomes),
    FIELD(struct resolve_body, session_id, T_STRING, .min = 1, .max = SESSION_MAX, .doc = "of the provider"),
};
static const struct shape resolve_shape = SHAPE(struct resolve_body, "AdminCheckoutResolve", resolve_fields);

/* Refers to *c, which must live as long as the reply. */
static struct checkout_row_body row_of(const struct checkout *c, int64_t now_us)
{
    return (struct checkout_row_body){
        .id = admin_id_val(&c->id),
        .account_id = admin_id_val(&c->account_id),
        .email = v_str(c->email),
        .status = v_str(str_z(checkout_status_text(c->status))),
        .overdue = v_bool(checkout_overdue(c, now_us)),
        .plan = v_str(c->plan),
        .quantity = v_int(c->quantity),
        .created_at = v_time(c->created_us),
        .request_id = v_str(c->request_id),
        .session_id = v_str(c->session_id),
    };
}

static enum err list_checkouts(struct request *q, struct reply *p)
{
    const struct checkouts_query *query = q->query;
    const struct checkout *list;
    struct id account;
    size_t count;
    enum err e = v_set(query->email) ? admin_account(&q->tx, query->email.s, &account) : ERR_NONE;
    if (!e)
        e = checkout_list(&q->tx, v_set(query->email) ? query->email.s : STR_NONE, LIST_MAX, &list, &count);
    if (e)
        return e;
    struct checkout_row_body *rows = arena_array(q->tx.arena, struct checkout_row_body, count + 1);
    for (size_t i = 0; i < count; i++)
        rows[i] = row_of(&list[i], q->tx.now_us);
    return reply_copy(q, p, 200, &list_shape, &(struct checkouts_body){.data = v_list(rows, count)});
}

/* ---- resolving ---- */

struct finding {
    struct id id;
    struct checkout checkout;
};

static enum err find_account_checkout(struct tx *tx, void *arg)
{
    struct finding *f = arg;
    return checkout_find(tx, &f->id, &f->checkout);
}

static enum err refuse_run(struct tx *tx, void *arg)
{
    struct finding *f = arg;
    return checkout_refuse(tx, &f->checkout);
}

/* Asks the provider, whose answer decides, unless the outcome is `failed`. */
static enum err settle(struct request *q, struct finding *f, struct str outcome, struct str session_id)
{
    const struct checkout_context context = {q->parts->providers->billing, &q->work};
    if (str_eq(outcome, STR("failed")))
        return work_write(&q->work, refuse_run, f);
    if (!session_id.p && str_eq(outcome, STR("complete")))
        return tx_fail(&q->tx, ERR_BAD_REQUEST, "outcome complete requires session_id (--session ID)");
    if (!session_id.p)
        return checkout_session_open(&context, &f->checkout);
    enum err e = checkout_session_adopt(&context, &f->checkout, session_id);
    return e == ERR_NOT_FOUND ? tx_fail(&q->tx, e, "session not found, or it belongs to another checkout or account")
                              : e;
}

static enum err resolve_checkout(struct request *q, struct reply *p)
{
    const struct resolve_body *body = q->body;
    struct finding *f = arena_new(q->tx.arena, struct finding);
    f->id = admin_id(body->checkout_id);
    q->subject = arena_printf(q->tx.arena, "id=%s outcome=%.*s", f->id.text, STR_ARG(body->outcome.s));
    enum err e = work_read(&q->work, find_account_checkout, f);
    if (e)
        return e == ERR_NOT_FOUND ? tx_fail(&q->tx, e, "checkout not found") : e;
    if (f->checkout.status != CHECKOUT_PREPARING)
        return tx_fail(&q->tx, ERR_BAD_REQUEST, "only a checkout in status preparing can be resolved");
    e = settle(q, f, body->outcome.s, v_set(body->session_id) ? body->session_id.s : STR_NONE);
    if (e)
        return e;
    struct checkout_row_body *row = arena_new(q->tx.arena, struct checkout_row_body);
    *row = row_of(&f->checkout, q->tx.now_us);
    return reply_ok(p, 200, &row_shape, row);
}

static const struct route rows[] = {
    ROUTE("adminListCheckouts", GET, "/admin/checkouts", .credential = CRED_CONTROL, .query = &query_shape,
          .run = RUN_READ, .handler = list_checkouts, .reply = &list_shape,
          .doc = ROUTE_DOC("Checkouts", 200, "List unsettled checkouts, or all of an account")),
    ROUTE("adminResolveCheckout", POST, "/admin/checkouts/resolve", .credential = CRED_CONTROL, .body = &resolve_shape,
          .body_error = ERR_BAD_REQUEST, .run = RUN_BLOCKING, .handler = resolve_checkout, .reply = &row_shape,
          .doc = ROUTE_DOC("Checkouts", 200, "Settle a checkout that the provider did not respond to",
                           .errors = ROUTE_ERRORS(ERR_NOT_FOUND, ERR_CHECKOUT_UNAVAILABLE))),
};
const struct route_set admin_checkout_routes = ROUTE_SET(rows);
