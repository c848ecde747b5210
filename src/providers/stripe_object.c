#include "providers/stripe_object.h"

#include <ctype.h>

#define ID_MAX  255
#define URL_MAX 8192 /* a checkout's URL has a long fragment */

#define NATURAL_MAX ((INT64_C(1) << 53) - 1) /* RFC 8259 section 6 */

/* ---- members ---- */

bool stripe_is_id(struct str s)
{
    if (s.n == 0 || s.n > ID_MAX)
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!isalnum((unsigned char)s.p[i]) && s.p[i] != '_')
            return false;
    return true;
}

struct str stripe_reference(const json_t *object, const char *name)
{
    const json_t *v = json_object_get(object, name);
    struct str id = json_is_object(v) ? rest_text(v, "id") : rest_text(object, name);
    return stripe_is_id(id) ? id : STR_NONE;
}

/* An amount or a count: from 0 to the largest integer that every JSON client can represent. */
static bool read_natural(const json_t *object, const char *name, int64_t *ret)
{
    const json_t *v = json_object_get(object, name);
    if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) > NATURAL_MAX)
        return false;
    *ret = json_integer_value(v);
    return true;
}

static bool is_object(const json_t *o, const char *kind)
{
    return str_eq(rest_text(o, "object"), str_z(kind));
}

/* "usd" */
static bool read_currency(const json_t *o, struct arena *a, struct str *ret)
{
    struct str s = rest_text(o, "currency");
    if (s.n != 3 || !islower((unsigned char)s.p[0]) || !islower((unsigned char)s.p[1]) ||
        !islower((unsigned char)s.p[2]))
        return false;
    *ret = arena_str(a, s);
    return true;
}

bool stripe_is_page(struct str url)
{
    if (!str_starts(url, STR("https://")) || url.n > URL_MAX)
        return false;
    for (size_t i = 0; i < url.n; i++)
        if (!isgraph((unsigned char)url.p[i]))
            return false;
    return true;
}

/* ---- checkout sessions ---- */

static bool stripe_session_status(struct str text, enum billing_session_status *ret)
{
    static const char *const texts[] = {[BILLING_SESSION_OPEN] = "open",
                                        [BILLING_SESSION_COMPLETE] = "complete",
                                        [BILLING_SESSION_EXPIRED] = "expired"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (str_eq(text, str_z(texts[i]))) {
            *ret = (enum billing_session_status)i;
            return true;
        }
    return false;
}

bool stripe_read_session(const json_t *o, struct arena *a, struct billing_session *ret)
{
    struct billing_session s = {.id = arena_str(a, rest_text(o, "id")),
                                .account_id = arena_str(a, rest_text(o, "client_reference_id"))};
    struct str url = rest_text(o, "url");
    if (!is_object(o, "checkout.session") || !stripe_is_id(s.id) ||
        !stripe_session_status(rest_text(o, "status"), &s.status))
        return false;
    if (s.status == BILLING_SESSION_OPEN) {
        if (!stripe_is_page(url))
            return false;
        s.url = arena_str(a, url);
    }
    if (s.status == BILLING_SESSION_COMPLETE) {
        s.customer_id = arena_str(a, stripe_reference(o, "customer"));
        s.subscription_id = arena_str(a, stripe_reference(o, "subscription"));
        if (!s.customer_id.p || !s.subscription_id.p)
            return false;
    }
    *ret = s;
    return true;
}

/* ---- prices ---- */

/* unit_amount is null if there is no single amount: tiers, or fractions of a cent. */
static bool read_unit_amount(const json_t *price, int64_t *ret)
{
    *ret = -1;
    return json_is_null(json_object_get(price, "unit_amount")) || read_natural(price, "unit_amount", ret);
}

bool stripe_read_price(const json_t *o, struct arena *a, struct billing_price *ret)
{
    struct billing_price p = {.plan = ret->plan};
    const json_t *active = json_object_get(o, "active"), *recurring = json_object_get(o, "recurring");
    if (!is_object(o, "price") || !json_is_boolean(active) || !read_currency(o, a, &p.currency) ||
        !read_unit_amount(o, &p.amount_minor))
        return false;
    if (json_is_object(recurring)) {
        p.interval = arena_str(a, rest_text(recurring, "interval"));
        if (!p.interval.n || !read_natural(recurring, "interval_count", &p.interval_count))
            return false;
    }
    p.available = json_is_true(active) && p.interval.n > 0;
    *ret = p;
    return true;
}

/* ---- subscriptions ---- */

/* A subscription that is not paid for but has not ended is past due. So is one whose payments are paused, which stays
 * active. */
static bool stripe_status(struct str text, enum billing_status *ret)
{
    static const struct {
        const char *text;
        enum billing_status status;
    } known[] = {
        {"active", BILLING_ACTIVE},         {"trialing", BILLING_ACTIVE},
        {"past_due", BILLING_PAST_DUE},     {"unpaid", BILLING_PAST_DUE},
        {"paused", BILLING_PAST_DUE},       {"canceled", BILLING_CANCELED},
        {"incomplete", BILLING_INCOMPLETE}, {"incomplete_expired", BILLING_CANCELED},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_eq(text, str_z(known[i].text))) {
            *ret = known[i].status;
            return true;
        }
    return false;
}

static struct str plan_of_price(const struct config *c, struct str price_id)
{
    for (size_t i = 0; i < CONFIG_PLANS; i++)
        if (price_id.n && str_eq(price_id, str_z(c->plans[i].stripe_price)))
            return str_z(c->plans[i].id);
    return STR_NONE;
}

/* The plan in the metadata, which the checkout set. For a price that has been replaced in the configuration since. */
static struct str plan_of_metadata(const struct config *c, const json_t *subscription)
{
    struct str noted = rest_text(json_object_get(subscription, "metadata"), "plan");
    for (size_t i = 0; i < CONFIG_PLANS; i++)
        if (str_eq(noted, str_z(c->plans[i].id)))
            return str_z(c->plans[i].id);
    return STR_NONE;
}

static const json_t *choose_item(const struct config *c, const json_t *subscription)
{
    const json_t *items = json_object_get(json_object_get(subscription, "items"), "data");
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);
        if (plan_of_price(c, rest_text(json_object_get(item, "price"), "id")).p)
            return item;
    }
    return json_array_get(items, 0);
}

static bool read_item(const struct config *c, const json_t *item, struct arena *a, struct billing_subscription *s)
{
    const json_t *price = json_object_get(item, "price");
    struct billing_price p = {0};
    struct str price_id = rest_text(price, "id");
    bool metered = !json_object_get(item, "quantity"); /* it was not bought here */
    if (!stripe_is_id(price_id) || !stripe_read_price(price, a, &p) ||
        (!metered && !read_natural(item, "quantity", &s->quantity)))
        return false;
    s->price_id = arena_str(a, price_id);
    s->plan = plan_of_price(c, price_id);
    s->currency = p.currency;
    s->interval = p.interval;
    s->amount_minor = p.amount_minor;
    return true;
}

bool stripe_read_subscription(const struct config *c, const json_t *o, struct arena *a,
                              struct billing_subscription *ret, struct str *ret_item)
{
    struct billing_subscription s = {0};
    const json_t *item = choose_item(c, o);
    struct str item_id = rest_text(item, "id");
    if (!is_object(o, "subscription") || !stripe_status(rest_text(o, "status"), &s.status) ||
        !read_item(c, item, a, &s))
        return false;
    if (s.status == BILLING_ACTIVE && json_is_object(json_object_get(o, "pause_collection")))
        s.status = BILLING_PAST_DUE;
    if (!s.plan.p)
        s.plan = plan_of_metadata(c, o);
    s.id = arena_str(a, rest_text(o, "id"));
    s.customer_id = arena_str(a, stripe_reference(o, "customer"));
    s.account_id = arena_str(a, rest_text(json_object_get(o, "metadata"), "account_id"));
    if (!stripe_is_id(s.id) || !s.customer_id.p || !stripe_is_id(item_id))
        return false;
    *ret = s;
    *ret_item = arena_str(a, item_id);
    return true;
}

bool stripe_read_preview(const json_t *o, struct arena *a, struct billing_preview *ret)
{
    struct billing_preview p = {0};
    if (!is_object(o, "invoice") || !read_natural(o, "amount_due", &p.amount_due_minor) ||
        !read_currency(o, a, &p.currency))
        return false;
    *ret = p;
    return true;
}
