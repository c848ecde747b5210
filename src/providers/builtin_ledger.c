/* The records of the built-in billing provider. */
#include "base/clock.h"
#include "base/crypto.h"
#include "providers/builtin_billing.h"

#define ID_RANDOM 24 /* base62 digits: the address of a page must not be guessable */

static struct str new_id(struct arena *a, const char *prefix)
{
    char random[ID_RANDOM + 1];
    crypto_base62(random, ID_RANDOM);
    return arena_printf(a, "%s_%s", prefix, random);
}

/* ---- customers and subscriptions ---- */

static const char *const status_texts[] = {
    [BILLING_ACTIVE] = "active", [BILLING_PAST_DUE] = "past_due", [BILLING_CANCELED] = "canceled"};

static enum billing_status ledger_status(struct str text)
{
    for (int i = 0; i < BILLING_CANCELED; i++)
        if (str_eq(text, str_z(status_texts[i])))
            return (enum billing_status)i;
    return BILLING_CANCELED;
}

enum err builtin_customer_get(struct db *db, struct str id, struct arena *a, struct str *ret_email)
{
    CURSOR c;
    enum err e = db_one(db, SQL(sandbox_customer_get, .id = id), &c);
    if (!e)
        *ret_email = row_sandbox_customer_get(&c, a).email;
    return e;
}

enum err builtin_customer_delete(struct db *db, struct str id)
{
    int64_t deleted;
    enum err e = db_exec(db, SQL(sandbox_customer_delete, .id = id), &deleted);
    if (!e && !deleted)
        return ERR_NOT_FOUND;
    return e ? e : db_exec(db, SQL(sandbox_customer_cancel, .customer_id = id), NULL);
}

enum err builtin_subscription_get(struct db *db, struct str id, struct arena *a, struct billing_subscription *ret)
{
    CURSOR c;
    enum err e = db_one(db, SQL(sandbox_subscription_get, .id = id), &c);
    if (e)
        return e;
    const struct row_sandbox_subscription_get row = row_sandbox_subscription_get(&c, a);
    *ret = (struct billing_subscription){
        .id = arena_str(a, id),
        .customer_id = row.customer_id,
        .account_id = row.account_id,
        .status = ledger_status(row.status),
        .plan = row.plan,
        .amount_minor = -1,
        .quantity = row.quantity,
    };
    return ERR_NONE;
}

static enum err newest_subscription(struct db *db, struct str customer_id, struct arena *a, struct str *ret_id)
{
    CURSOR c;
    enum err e = db_one(db, SQL(sandbox_subscription_of, .customer_id = customer_id), &c);
    if (!e)
        *ret_id = row_sandbox_subscription_of(&c, a).id;
    return e;
}

enum err builtin_subscription_of(struct db *db, struct str customer_id, struct arena *a,
                                 struct billing_subscription *ret)
{
    struct str id;
    enum err e = newest_subscription(db, customer_id, a, &id);
    return e ? e : builtin_subscription_get(db, id, a, ret);
}

enum err builtin_subscription_create(struct db *db, const struct billing_subscription *s, struct str email,
                                     struct arena *a, struct str *ret_id)
{
    struct id ascending = id_new(clock_now_us());
    struct str customer = s->customer_id, id = arena_printf(a, "sub_%s", ascending.text);
    enum err e = ERR_NONE;
    if (!customer.p) {
        customer = new_id(a, "cus");
        e = db_exec(db, SQL(sandbox_customer_insert, .id = customer, .account_id = s->account_id, .email = email),
                    NULL);
    }
    if (!e)
        e = db_exec(db,
                    SQL(sandbox_subscription_insert, .id = id, .customer_id = customer, .account_id = s->account_id,
                        .status = str_z(status_texts[s->status]), .plan = s->plan, .quantity = s->quantity),
                    NULL);
    if (!e)
        *ret_id = id;
    return e;
}

enum err builtin_subscription_put(struct db *db, const struct billing_subscription *s)
{
    return db_exec(
        db,
        SQL(sandbox_subscription_put, .id = s->id, .status = str_z(status_texts[s->status]), .quantity = s->quantity),
        NULL);
}

enum err builtin_subscription_set_quantity(struct db *db, struct str key, struct str id, int64_t quantity,
                                           struct arena *a)
{
    struct billing_subscription s;
    int64_t fresh;
    enum err e = builtin_subscription_get(db, id, a, &s);
    if (e)
        return e;
    e = db_exec(db, SQL(sandbox_quantity_insert, .request_key = key, .subscription_id = id, .quantity = quantity),
                &fresh);
    if (e || !fresh)
        return e;
    if (s.status == BILLING_CANCELED)
        return ERR_NOT_FOUND;
    return db_exec(db, SQL(sandbox_subscription_set_quantity, .id = id, .quantity = quantity), NULL);
}

/* ---- sessions ---- */

/* An open session expires by itself at its time. */
static enum billing_session_status ledger_session_status(const struct row_sandbox_session_get *r, int64_t now_us)
{
    if (str_eq(r->status, STR("complete")))
        return BILLING_SESSION_COMPLETE;
    return str_eq(r->status, STR("open")) && r->expires_at > now_us ? BILLING_SESSION_OPEN : BILLING_SESSION_EXPIRED;
}

enum err builtin_session_get(struct db *db, struct str id, int64_t now_us, struct arena *a, struct builtin_session *ret)
{
    CURSOR c;
    enum err e = db_one(db, SQL(sandbox_session_get, .id = id), &c);
    if (e)
        return e;
    const struct row_sandbox_session_get row = row_sandbox_session_get(&c, a);
    *ret = (struct builtin_session){
        .session = {.id = arena_str(a, id),
                    .status = ledger_session_status(&row, now_us),
                    .account_id = row.account_id,
                    .customer_id = row.customer_id,
                    .subscription_id = row.subscription_id},
        .url = row.url,
        .email = row.email,
        .plan = row.plan,
        .quantity = row.quantity,
        .success_url = row.success_url,
        .cancel_url = row.cancel_url,
    };
    if (ret->session.status == BILLING_SESSION_OPEN)
        ret->session.url = ret->url;
    return ERR_NONE;
}

static enum err id_of_key(struct db *db, struct str key, struct arena *a, struct str *ret_id)
{
    CURSOR c;
    enum err e = db_one(db, SQL(sandbox_session_by_key, .request_key = key), &c);
    if (!e)
        *ret_id = row_sandbox_session_by_key(&c, a).id;
    return e;
}

struct str builtin_page_base(struct str url)
{
    struct str rest, path = str_cut(url, '?', &rest);
    size_t n = path.n;
    while (n > 0 && path.p[n - 1] != '/')
        n--;
    return str_n(path.p, n > 0 ? n - 1 : path.n);
}

enum err builtin_session_create(struct db *db, const struct billing_session_request *r, int64_t now_us, struct arena *a,
                                struct builtin_session *ret)
{
    struct str id = new_id(a, "cs");
    struct str url = arena_printf(a, "%.*s/sandbox/checkout/%s", STR_ARG(builtin_page_base(r->success_url)), id.p);
    enum err e = db_exec(db,
                         SQL(sandbox_session_insert, .id = id, .request_key = r->key, .account_id = r->account_id,
                             .email = r->email, .customer_id = r->customer_id, .plan = r->plan, .quantity = r->quantity,
                             .success_url = r->success_url, .cancel_url = r->cancel_url, .url = url,
                             .expires_at = now_us + BUILTIN_SESSION_TTL_S * US_PER_S),
                         NULL);
    if (!e)
        e = id_of_key(db, r->key, a, &id);
    return e ? e : builtin_session_get(db, id, now_us, a, ret);
}

static enum err end_checkout_session(struct db *db, const struct builtin_session *s, const char *status,
                                     struct str customer, struct str subscription)
{
    return db_exec(db,
                   SQL(sandbox_session_end, .id = s->session.id, .status = str_z(status), .customer_id = customer,
                       .subscription_id = subscription),
                   NULL);
}

static enum err pay_session(struct db *db, const struct builtin_session *s, struct arena *a)
{
    const struct billing_subscription bought = {
        .customer_id = s->session.customer_id,
        .account_id = s->session.account_id,
        .status = BILLING_ACTIVE,
        .plan = s->plan,
        .quantity = s->quantity,
    };
    struct billing_subscription made;
    struct str id;
    enum err e = builtin_subscription_create(db, &bought, s->email, a, &id);
    if (!e)
        e = builtin_subscription_get(db, id, a, &made);
    return e ? e : end_checkout_session(db, s, "complete", made.customer_id, made.id);
}

enum err builtin_session_pay(struct db *db, struct str id, int64_t now_us, struct arena *a, struct builtin_session *ret)
{
    enum err e = builtin_session_get(db, id, now_us, a, ret);
    if (e || ret->session.status != BILLING_SESSION_OPEN)
        return e;
    e = pay_session(db, ret, a);
    return e ? e : builtin_session_get(db, id, now_us, a, ret);
}

enum err builtin_session_expire(struct db *db, struct str id, int64_t now_us, struct arena *a,
                                struct builtin_session *ret)
{
    enum err e = builtin_session_get(db, id, now_us, a, ret);
    if (e || ret->session.status != BILLING_SESSION_OPEN)
        return e;
    e = end_checkout_session(db, ret, "expired", ret->session.customer_id, STR_NONE);
    return e ? e : builtin_session_get(db, id, now_us, a, ret);
}
