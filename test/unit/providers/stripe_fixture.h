/* Billing by Stripe, against a scripted receiver in the test, on loopback. The comparison with Stripe's SDK is in
 * test/e2e/stripe.test.js. */
#pragma once
#include <stdatomic.h>

#include "net/receiver.h"

#include "providers/billing.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define SCRIPTS_MAX  4
#define OK           "200 OK"

#define SESSION(status, more) "{\"id\":\"cs_test_1\",\"object\":\"checkout.session\",\"status\":\"" status "\"" more "}"
#define OPEN_SESSION          SESSION("open", ",\"url\":\"https://checkout.stripe.com/c/pay/cs_test_1#fid\",\"customer\":null")
#define PRICE(id, more)                                                                                                \
    "{\"id\":\"" id "\",\"object\":\"price\",\"active\":true,\"currency\":\"usd\",\"unit_amount\":499,"                \
    "\"recurring\":{\"interval\":\"week\",\"interval_count\":1}" more "}"
#define ITEM(id, price, quantity)                                                                                      \
    "{\"id\":\"" id "\",\"object\":\"subscription_item\",\"price\":" price ",\"quantity\":" quantity "}"
#define SUBSCRIPTION(status, metadata, items)                                                                          \
    "{\"id\":\"sub_1\",\"object\":\"subscription\",\"status\":\"" status "\",\"customer\":\"cus_1\","                  \
    "\"metadata\":" metadata ",\"items\":{\"object\":\"list\",\"data\":[" items "]}}"
#define WEEKLY              SUBSCRIPTION("active", "{\"account_id\":\"a1\"}", ITEM("si_1", PRICE("price_weekly", ""), "3"))
#define FAILURE(type, code) "{\"error\":{\"type\":\"" type "\",\"code\":\"" code "\",\"message\":\"No.\"}}"

struct script {
    const char *status, *body;
    const char *type; /* NULL: application/json */
};

struct fixture {
    struct receiver *receiver;
    struct config config;
    struct billing *billing;
    struct arena arena;
    struct script scripts[SCRIPTS_MAX]; /* one for each request; the last one is repeated */
    char heard[SCRIPTS_MAX][RECEIVED_MAX + 1];
    atomic_size_t count; /* of requests */
    char *why;
};

static inline bool answer(struct received *q, void *context)
{
    struct fixture *d = context;
    char text[16384];
    const size_t last = d->count < SCRIPTS_MAX ? d->count : SCRIPTS_MAX - 1;
    size_t i = last;
    while (i > 0 && !d->scripts[i].status)
        i--;
    const struct script s = d->scripts[i];
    memcpy(d->heard[last], q->text, q->n + 1);
    d->count = last + 1;
    if (!s.status) {
        received_hang(q);
        return false;
    }
    int n = snprintf(text, sizeof text, "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n\r\n%s", s.status,
                     s.type ? s.type : "application/json", strlen(s.body), s.body);
    return received_say(q, str_n(text, (size_t)n));
}

static inline int set_up(void **state)
{
    struct fixture *d = calloc(1, sizeof *d);
    assert_non_null(d);
    arena_init(&d->arena, NULL, 0);
    d->receiver = receiver_open(false, answer, d);
    d->config.stripe_url = d->receiver->url;
    d->config.stripe_secret_key = "sk_test_1";
    d->config.stripe_webhook_secret = "whsec_portero";
    d->config.stripe_timeout_s = 30;
    d->config.plans[0] = (struct config_plan){.id = "weekly", .available = true, .stripe_price = "price_weekly"};
    d->config.plans[1] = (struct config_plan){.id = "yearly", .available = true, .stripe_price = "price_yearly"};
    assert_int_equal(stripe_billing_new(&d->config, &d->billing, &d->why), ERR_NONE);
    *state = d;
    return 0;
}

static inline int tear_down(void **state)
{
    struct fixture *d = *state;
    billing_free(d->billing);
    receiver_close(d->receiver);
    arena_done(&d->arena);
    free(d->why);
    free(d);
    return 0;
}

static inline void script(struct fixture *d, const char *status, const char *body)
{
    size_t i = 0;
    while (d->scripts[i].status)
        i++;
    d->scripts[i] = (struct script){.status = status, .body = body};
}

static inline void script_anew(struct fixture *d, const char *status, const char *body)
{
    (void)atomic_load(&d->count); /* orders this after the requests so far */
    memset(d->scripts, 0, sizeof d->scripts);
    memset(d->heard, 0, sizeof d->heard);
    d->count = 0;
    script(d, status, body);
}

static inline void heard(const struct fixture *d, size_t i, const char *text)
{
    if (!strstr(d->heard[i], text))
        fail_msg("request %zu has no %s:\n%s", i, text, d->heard[i]);
}

static inline void not_heard(const struct fixture *d, size_t i, const char *text)
{
    if (strstr(d->heard[i], text))
        fail_msg("request %zu has %s:\n%s", i, text, d->heard[i]);
}

static inline void assert_text(struct str got, const char *want)
{
    if (!str_eq(got, str_z(want)) || !got.p != !want)
        fail_msg("got %.*s, want %s", STR_ARG(got), want ? want : "nothing");
}

/* Asks for a checkout session. */
static inline enum outcome create(struct fixture *d, struct str customer, struct billing_session *ret)
{
    const struct billing_session_request request = {
        .key = STR("checkout-1"),
        .account_id = STR("a1"),
        .email = STR("ada+door@example.com"),
        .customer_id = customer,
        .plan = STR("weekly"),
        .quantity = 2,
        .success_url = STR("https://door.example/account?checkout=success"),
        .cancel_url = STR("https://door.example/account?checkout=cancel"),
    };
    return d->billing->ops->session_create(d->billing, &request, &d->arena, ret);
}

#define STRIPE_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
