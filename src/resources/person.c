#include "api/cookie.h"
#include "api/gate.h"
#include "base/forms.h"
#include "base/log.h"
#include "billing/erasure.h"
#include "domain/account.h"
#include "domain/owner_mail.h"
#include "domain/session.h"
#include "privacy/personal_document.h"
#include "resources/language.h"
#include "resources/page.h"
#include "resources/routes.h"

#define TAG      "The person's data"
#define PART_MAX (8U << 20) /* bytes; a page with voices has about a tenth of that */

/* ---- bodies ---- */

struct part_query {
    struct val cursor;
};
static const struct field part_query_fields[] = {
    FIELD(struct part_query, cursor, T_STRING, .error = ERR_INVALID_CURSOR,
          .doc = "pagination.cursor of the previous part"),
};
static const struct shape part_query_shape = SHAPE(struct part_query, "AccountExportQuery", part_query_fields);

struct part {
    struct val text, pagination;
};
static const struct field part_fields[] = {
    FIELD(struct part, text, T_STRING, .flags = F_REQUIRED | F_SECRET,
          .doc = "the next part of a JSON document, which may end anywhere between two of its rows"),
    FIELD(struct part, pagination, T_OBJECT, .flags = F_REQUIRED, .sub = &pagination_shape),
};
static const struct shape part_shape = SHAPE(struct part, "AccountExportPart", part_fields);

struct deletion {
    struct val challenge, otp;
};
static const struct field deletion_fields[] = {
    FIELD(struct deletion, challenge, T_STRING, .flags = F_REQUIRED | F_SECRET, .error = ERR_INVALID_OTP,
          .doc = "of a code that was requested for the account's address"),
    FIELD(struct deletion, otp, T_STRING, .flags = F_REQUIRED | F_SECRET | F_UNCHECKED, SIX_DIGITS_FORM,
          .error = ERR_INVALID_OTP, .doc = "the six-digit code from the e-mail"),
};
static const struct shape deletion_shape = SHAPE(struct deletion, "AccountDeletion", deletion_fields);

struct deleted {
    struct val status;
};
static const char *const deleted_statuses[] = {"deleting", NULL};
static const struct field deleted_fields[] = {
    FIELD(struct deleted, status, T_STRING, .flags = F_REQUIRED | F_CONST, .values = deleted_statuses,
          .doc = "nothing of the account works any more; a job deletes its rows"),
};
static const struct shape deleted_shape = SHAPE(struct deleted, "AccountDeleting", deleted_fields);

/* ---- handlers ---- */

struct parting {
    struct request *q;
    struct personal_mark from, mark;
    struct buf text;
};

static enum err run_export_begin(struct tx *tx, void *arg)
{
    const struct parting *x = arg;
    const struct request *q = x->q;
    const struct browser_names browser = browser_names(http_header(q->http, STR("User-Agent"), NULL));
    tx->now_us = q->tx.now_us;
    return owner_mail_export(tx, &q->who.account_id, browser, request_language(q));
}

static enum err run_part(struct tx *tx, void *arg)
{
    struct parting *x = arg;
    struct account account;
    x->mark = x->from;
    x->text.n = 0;
    enum err e = account_get(tx, &x->q->who.account_id, &account);
    return e ? e : personal_part(tx, &account.id, account.email, &x->mark, &x->text);
}

static enum err get_part(struct request *q, struct reply *p)
{
    const struct part_query *query = q->query;
    const struct id *account = &q->who.account_id;
    struct arena *a = q->tx.arena;
    struct parting x = {.q = q, .text = BUF(PART_MAX)};
    const bool first = !v_set(query->cursor);
    if (!first && !personal_mark_read(a, account, query->cursor.s, &x.from))
        return ERR_INVALID_CURSOR;
    enum err e = first ? gate_write(q, run_export_begin, &x) : ERR_NONE;
    if (first && !e)
        log_info("export account=%s key=%s id=%s", account->text, q->who.key_id.text, q->request_id);
    if (!e)
        e = work_read(&q->work, run_part, &x);
    if (!e) {
        struct part *r = arena_new(a, struct part);
        const struct str cursor = personal_ended(&x.mark) ? STR_NONE : personal_mark_write(a, account, &x.mark);
        *r = (struct part){v_str(arena_str(a, buf_view(&x.text))), pagination_of(a, cursor)};
        e = reply_ok(p, 200, &part_shape, r);
    }
    buf_done(&x.text);
    return e;
}

/* The code shows that the person reads the account's mail now, and not only that somebody sits at a browser that was
 * left signed in. */
static enum err post_deletion(struct request *q, struct reply *p)
{
    const struct deletion *body = q->body;
    struct account account;
    struct id redeemed;
    enum err e = account_get(&q->tx, &q->who.account_id, &account);
    if (!e)
        e = session_redeem(&q->tx, account.email, body->challenge.s, body->otp.s, &redeemed);
    if (e == ERR_INVALID_OTP)
        return reply_error_keep(p, e);
    if (!e)
        e = erasure_begin(&q->tx, &account.id);
    if (e)
        return e;
    struct deleted *r = arena_new(q->tx.arena, struct deleted);
    r->status = v_str(str_z(deleted_statuses[0]));
    reply_header(p, "Set-Cookie", cookie_clear());
    return reply_ok(p, 202, &deleted_shape, r);
}

static const struct route rows[] = {
    ROUTE("exportAccount", GET, "/v1/account/export", .credential = CRED_WEB_SESSION,
          .scopes = SCOPE(ACCOUNT_READ) | SCOPE(KEYS_WRITE), .limit = LIMIT_KEY, .query = &part_query_shape,
          .run = RUN_BLOCKING, .handler = get_part, .reply = &part_shape, .flags = ROUTE_SITE_ONLY,
          .store_error = ERR_FETCH_FAILED,
          .doc =
              ROUTE_DOC(TAG, 200, "Export all that is held of the person",
                        .description = "The parts in a row are the JSON document that `porterod admin account export` "
                                       "writes: an array for each table of the store, without secrets. Each part is "
                                       "read at its own moment. A mail tells the owner of it, at most once an hour.",
                        .flags = DOC_EXTENSION)),
    ROUTE("deleteAccount", POST, "/v1/account/deletion", .credential = CRED_WEB_SESSION,
          .scopes = SCOPE(ACCOUNT_READ) | SCOPE(KEYS_WRITE), .limit = LIMIT_AUTH, .body = &deletion_shape,
          .body_error = ERR_INVALID_JSON, .run = RUN_WRITE, .handler = post_deletion, .reply = &deleted_shape,
          .flags = ROUTE_SITE_ONLY | ROUTE_RECHECKS_KEY, .store_error = ERR_DELETE_FAILED,
          .doc = ROUTE_DOC(TAG, 202, "Delete the account and all that is held of the person",
                           .description = "Needs a code from `POST /app/v1/auth/otp` for the account's own address. At "
                                          "once, in one transaction: keys and browsers stop working, the numbers leave "
                                          "the buildings, the subscription ends without a refund, and the address is "
                                          "free for another account. A job then deletes the rest. It cannot be undone.",
                           .body_example =
                               "{\"challenge\": \"chl_0123456789abcdef0123456789abcdef\", \"otp\": \"123456\"}",
                           .flags = DOC_EXTENSION, .errors = ROUTE_ERRORS(ERR_BUILDING_BUSY, ERR_INVALID_OTP))),
};
const struct route_set person_routes = ROUTE_SET(rows);
