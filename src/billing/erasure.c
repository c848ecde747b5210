#include "billing/erasure.h"

#include <glib.h>

#include "billing/billing_account.h"
#include "billing/checkout_row.h"
#include "billing/operation.h"
#include "domain/building.h"
#include "domain/building_webhook.h"
#include "domain/job.h"
#include "domain/mail.h"
#include "domain/member.h"
#include "domain/number.h"
#include "domain/removal.h"
#include "domain/webhook.h"

#define BATCH      1000  /* rows of a table in a transaction, so that other writers wait only shortly */
#define MAIL_PAGE  100   /* queued mails that are read at once, … */
#define MAILS_MAX  10000 /* … and in all: more wait only while a relay is down, and none for longer than a day */
#define MEMBER_MAX 100

/* ---- which account ---- */

static struct str in_lower_case(struct str s, struct arena *a)
{
    char *lower = arena_alloc(a, s.n + 1);
    for (size_t i = 0; i < s.n; i++)
        lower[i] = g_ascii_tolower(s.p[i]);
    return str_n(lower, s.n);
}

enum err erasure_find(struct tx *tx, struct str account_or_email, struct id *ret)
{
    struct account account;
    struct id id;
    if (!id_parse(account_or_email, &id)) {
        enum err e = account_find(tx, in_lower_case(account_or_email, tx->arena), ret);
        return e == ERR_ACCOUNT_NOT_FOUND ? tx_fail(tx, e, "no account with this e-mail address") : e;
    }
    enum err e = account_get(tx, &id, &account);
    if (!e)
        *ret = id;
    return e == ERR_ACCOUNT_NOT_FOUND ? tx_fail(tx, e, "no account with this ID") : e;
}

bool erasure_begun(const struct id *account, struct str email)
{
    return str_eq(email, id_str(account));
}

/* ---- ended at once ---- */

static enum err end_webhooks(struct tx *tx, const struct id *account)
{
    const struct webhook *webhooks;
    size_t count;
    enum err e = webhook_list(tx, account, &webhooks, &count);
    for (size_t i = 0; !e && i < count; i++)
        e = webhook_delete(tx, account, &webhooks[i].id);
    return e ? e : building_webhook_end_all(tx, account);
}

static enum err end_numbers(struct tx *tx, const struct id *account)
{
    const struct building *buildings;
    size_t count;
    enum err e = building_list(tx, account, &buildings, &count);
    db_doors(tx->db, account);
    for (size_t i = 0; !e && i < count; i++) {
        if (buildings[i].number.p)
            e = number_release(tx, buildings[i].number);
        if (e == ERR_NUMBER_NOT_FOUND)
            e = ERR_NONE;
    }
    return e ? e : db_exec(tx->db, SQL(erasure_unlist, .account_id = account), NULL);
}

static enum err list_memberships(struct tx *tx, struct str email, struct row_erasure_memberships ret[static MEMBER_MAX],
                                 size_t *ret_count)
{
    CURSOR c;
    size_t n = 0;
    enum err e = db_query(tx->db, SQL(erasure_memberships, .email = email, .limit = MEMBER_MAX), &c);
    for (bool more; !e && !(e = db_next(&c, &more)) && more && n < MEMBER_MAX;)
        ret[n++] = row_erasure_memberships(&c, NULL);
    *ret_count = n;
    return e;
}

static enum err end_memberships(struct tx *tx, struct str email)
{
    struct row_erasure_memberships *list = arena_array(tx->arena, struct row_erasure_memberships, MEMBER_MAX);
    size_t count = MEMBER_MAX;
    enum err e = ERR_NONE;
    while (!e && count == MEMBER_MAX) {
        e = list_memberships(tx, email, list, &count);
        for (size_t i = 0; !e && i < count; i++) {
            e = member_remove(tx, &list[i].id);
            if (!e)
                e = db_exec(tx->db,
                            SQL(erasure_member_keys, .account_id = &list[i].account_id, .member_id = &list[i].id),
                            NULL);
        }
    }
    return e;
}

/* The mails to the address, of a page of queued ones. *ret_last is the page's last one; STR_NONE: it is empty. */
static enum err find_mails(struct tx *tx, struct str email, struct str after, struct str ret[static MAIL_PAGE],
                           size_t *ret_count, struct str *ret_last)
{
    CURSOR c;
    size_t n = 0;
    *ret_last = STR_NONE;
    enum err e = db_query(tx->db, SQL(sealed_mails, .after = after, .limit = MAIL_PAGE), &c);
    for (bool more; !e && !(e = db_next(&c, &more)) && more && n < MAIL_PAGE;) {
        struct mail_intent mail;
        const struct row_sealed_mails row = row_sealed_mails(&c, tx->arena);
        *ret_last = row.id;
        if (!mail_read(row.sealed, tx->arena, &mail) && str_eq(mail.to, email))
            ret[n++] = *ret_last;
    }
    *ret_count = n;
    return e;
}

static enum err end_mails(struct tx *tx, struct str email)
{
    struct str found[MAIL_PAGE], last = STR("");
    enum err e = ERR_NONE;
    for (int64_t read = 0; !e && last.p && read < MAILS_MAX; read += MAIL_PAGE) {
        size_t count = 0;
        e = find_mails(tx, email, last, found, &count, &last);
        for (size_t i = 0; !e && i < count; i++)
            e = job_done(tx, found[i]);
    }
    return e;
}

/* Memberships and other rows that name the person by the address, which is nowhere in the store afterwards. */
static enum err end_address(struct tx *tx, const struct id *account, struct str email)
{
    enum err e = end_memberships(tx, email);
    if (!e)
        e = end_mails(tx, email);
    if (!e)
        e = db_exec(tx->db, SQL(erasure_challenges, .email = email), NULL);
    if (!e)
        e = db_exec(tx->db, SQL(erasure_messages, .id = account, .recipient = email), NULL);
    return e ? e : db_exec(tx->db, SQL(erasure_name, .id = account), NULL);
}

static enum err refuse_busy(struct tx *tx, const struct id *account)
{
    struct operation o;
    enum err e = operation_current(tx, account, &o);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_NONE : e;
    return tx_fail(tx, ERR_BUILDING_BUSY, "an operation on a building of the account is in progress");
}

static enum err end_access(struct tx *tx, const struct id *account)
{
    const struct str id = id_str(account);
    db_notify(tx->db, TOPIC_KEYS);
    enum err e = db_exec(tx->db, SQL(erasure_revoke, .account_id = id, .revoked_at = tx->now_us), NULL);
    if (!e)
        e = db_exec(tx->db, SQL(oauth_code_end_all, .account_id = account), NULL);
    if (!e)
        e = end_webhooks(tx, account);
    if (!e)
        e = end_numbers(tx, account);
    return e ? e : db_exec(tx->db, SQL(erasure_jobs, .payload = id), NULL);
}

struct str erasure_job(const struct id *account, struct arena *a)
{
    return arena_printf(a, "erase-%s", account->text);
}

enum err erasure_begin(struct tx *tx, const struct id *account)
{
    struct account found;
    const struct str name = erasure_job(account, tx->arena);
    enum err e = account_get(tx, account, &found);
    if (e)
        return e;
    if (!erasure_begun(account, found.email)) {
        e = refuse_busy(tx, account);
        if (!e)
            e = end_access(tx, account);
        if (!e)
            e = end_address(tx, account, found.email);
    }
    if (!e)
        e = job_add_once(tx, name, JOB_ERASURE, tx->now_us, id_str(account));
    return e ? e : job_reschedule(tx, name, tx->now_us);
}

/* ---- for the provider to end ---- */

enum err erasure_dues(struct tx *tx, const struct id *account, struct erasure_dues *ret)
{
    struct billing_account billing;
    struct checkout paid;
    struct erasure_dues dues = {.unsettled = false};
    enum err e = billing_account_get(tx, account, &billing);
    if (e)
        return e;
    dues.customer_id = billing.customer_id;
    e = checkout_row(tx, SQL(checkout_pending, .account_id = account), &dues.checkout);
    dues.unsettled = !e;
    if (e && e != ERR_NOT_FOUND)
        return e;
    e = checkout_row(tx, SQL(checkout_paid, .account_id = account), &paid);
    if (e && e != ERR_NOT_FOUND)
        return e;
    dues.subscription_id = e ? STR_NONE : paid.subscription_id;
    *ret = dues;
    return ERR_NONE;
}

enum err erasure_customer_ended(struct tx *tx, const struct id *account)
{
    enum err e = billing_account_set_customer(tx, account, STR_NONE);
    return e ? e : billing_account_set_subscription(tx, account, STR_NONE);
}

/* ---- rows ---- */

/* Statements with the account and a limit; a table before the tables that its statement reads. */
static const enum sql sweeps[] = {
    SQL_ERASURE_LANES,
    SQL_ERASURE_DELIVERIES,
    SQL_ERASURE_EVENTS,
    SQL_ERASURE_WEBHOOKS,
    SQL_ERASURE_BUILDING_WEBHOOKS,
    SQL_ERASURE_KEYS,
    SQL_ERASURE_CODES,
    SQL_ERASURE_OPERATIONS,
    SQL_ERASURE_PHONE_CODES,
    SQL_ERASURE_PHONE_CHANGES,
    SQL_ERASURE_ALIASES,
    SQL_ERASURE_CHECKOUTS,
    SQL_ERASURE_SANDBOX_QUANTITIES,
    SQL_ERASURE_SANDBOX_SUBSCRIPTIONS,
    SQL_ERASURE_SANDBOX_SESSIONS,
    SQL_ERASURE_SANDBOX_CUSTOMERS,
};

static enum err sweep_account(struct tx *tx, const struct id *account, bool *ret_more)
{
    enum err e = ERR_NONE;
    *ret_more = false;
    for (size_t i = 0; !e && !*ret_more && i < sizeof sweeps / sizeof *sweeps; i++) {
        int64_t count = 0;
        e = db_exec(tx->db, SQL_AS(sweeps[i], erasure_keys, .account_id = account, .limit = BATCH), &count);
        *ret_more = count == BATCH;
    }
    return e;
}

static enum err finish_account(struct tx *tx, const struct id *account, const struct building *buildings, size_t count)
{
    enum err e = ERR_NONE;
    db_notify(tx->db, TOPIC_KEYS);
    for (size_t i = 0; !e && i < count; i++) {
        e = removal_finish(tx, account, &buildings[i].id);
        if (!e)
            e = db_exec(tx->db, SQL(erasure_building_number, .id = &buildings[i].id), NULL);
    }
    if (!e)
        e = db_exec(tx->db, SQL(erasure_buildings, .account_id = account), NULL);
    if (!e)
        e = db_exec(tx->db, SQL(erasure_account, .account_id = account), NULL);
    return e ? e : job_done(tx, erasure_job(account, tx->arena));
}

enum err erasure_sweep(struct tx *tx, const struct id *account, bool *ret_more)
{
    const struct building *buildings;
    size_t count;
    bool more = false;
    enum err e = building_list(tx, account, &buildings, &count);
    for (size_t i = 0; !e && !more && i < count; i++)
        e = removal_sweep(tx, &buildings[i].id, &more);
    if (!e && !more)
        e = sweep_account(tx, account, &more);
    if (!e && !more)
        e = finish_account(tx, account, buildings, count);
    if (!e)
        *ret_more = more;
    return e;
}
