/* A line and a body, any bytes, as signature and event of Stripe, and the body also as an answer of its API. A
 * signature is valid only for its body and time; identifiers read from an object are safe in a path and in a link. */
#include <stdlib.h>

#include "base/crypto.h"
#include "providers/stripe_event.h"
#include "providers/stripe_object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NOW    1700000000
#define SECRET STR("whsec_fuzz")

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* The header has no valid signature: it would have to contain the MAC. After a valid one it has no effect, unless it
 * has another time. */
static void check_signature(struct str header, struct str body, struct arena *a)
{
    unsigned char mac[SHA256_LEN];
    char hex[2 * SHA256_LEN + 1];
    must(!stripe_signed(header, body, SECRET, NOW, a));
    crypto_hmac_sha256(SECRET, arena_printf(a, "%d.%.*s", NOW, STR_ARG(body)), mac);
    if (memchr(body.p, '\0', body.n))
        return; /* arena_printf stops at a NUL */
    hex_encode(mac, sizeof mac, hex);
    struct str right = arena_printf(a, "t=%d,v1=%s", NOW, hex);
    must(stripe_signed(right, body, SECRET, NOW, a));
    must(!stripe_signed(right, body, SECRET, NOW + STRIPE_TOLERANCE_S + 1, a));
    must(!stripe_signed(right, arena_printf(a, "%.*s.", STR_ARG(body)), SECRET, NOW, a));
    if (!memchr(header.p, 't', header.n) && !memchr(header.p, '\0', header.n) && header.n < 1000)
        must(stripe_signed(arena_printf(a, "%s,%.*s", right.p, STR_ARG(header)), body, SECRET, NOW, a));
}

static void check_event(struct str body, struct arena *a)
{
    struct billing_event e = {0};
    if (!stripe_read_event(body, a, &e))
        return;
    must(stripe_is_id(e.id));
    must(e.object == BILLING_OBJECT_NONE ? !e.object_id.p : stripe_is_id(e.object_id));
}

static void check_session(const json_t *o, struct arena *a)
{
    struct billing_session s = {0};
    if (!stripe_read_session(o, a, &s))
        return;
    bool complete = s.status == BILLING_SESSION_COMPLETE;
    must(stripe_is_id(s.id));
    must(s.status == BILLING_SESSION_OPEN ? stripe_is_page(s.url) : !s.url.p);
    must(complete ? stripe_is_id(s.customer_id) && stripe_is_id(s.subscription_id)
                  : !s.customer_id.p && !s.subscription_id.p);
}

static void check_subscription(const json_t *o, struct arena *a)
{
    static const struct config c = {
        .plans = {{.id = "weekly", .stripe_price = "price_w"}, {.id = "yearly", .stripe_price = ""}}};
    struct billing_subscription s = {0};
    struct str item = STR_NONE;
    if (!stripe_read_subscription(&c, o, a, &s, &item))
        return;
    must(stripe_is_id(s.id) && stripe_is_id(s.customer_id) && stripe_is_id(s.price_id) && stripe_is_id(item));
    must(!s.plan.p || str_eq(s.plan, STR("weekly")) || str_eq(s.plan, STR("yearly")));
    must(s.quantity >= 0 && s.amount_minor >= -1 && s.currency.n == 3);
}

static void check_amounts(const json_t *o, struct arena *a)
{
    struct billing_price price = {0};
    struct billing_preview preview = {0};
    if (stripe_read_price(o, a, &price))
        must(price.amount_minor >= -1 && price.currency.n == 3 && (!price.available || price.interval.n > 0));
    if (stripe_read_preview(o, a, &preview))
        must(preview.amount_due_minor >= 0 && preview.currency.n == 3);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct str body, header = str_cut(str_n((const char *)data, size), '\n', &body);
    json_t *o;
    arena_init(&a, NULL, 0);
    if (!body.p)
        body = STR("");
    check_signature(header, body, &a);
    check_event(body, &a);
    if (!json_read(body, &o)) {
        check_session(o, &a);
        check_subscription(o, &a);
        check_amounts(o, &a);
        json_decref(o);
    }
    arena_done(&a);
    return 0;
}
