/* Events from Stripe: signatures as Stripe's SDK makes them, and the objects of events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "base/crypto.h"
#include "providers/stripe_event.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define BODY         "{\"id\":\"evt_1\",\"object\":\"event\"}"
#define AT           1700000000
#define SIGNATURE    "9b9f7d9e089abe5d23e74a28c4fb4decceee8b99140bd6072d863edb91e945df"
#define SECRET       "whsec_portero"
#define NONE_64      "0000000000000000000000000000000000000000000000000000000000000000"

static int set_up(void **state)
{
    struct arena *a = calloc(1, sizeof *a);
    arena_init(a, NULL, 0);
    *state = a;
    return 0;
}

static int tear_down(void **state)
{
    arena_done(*state);
    free(*state);
    return 0;
}

static bool fits(void **state, const char *header, const char *body, const char *secret, int64_t now_s)
{
    return stripe_signed(str_z(header), str_z(body), str_z(secret), now_s, *state);
}

static void test_a_signature_of_the_body_with_the_secret_is_accepted(void **state)
{
    assert_true(fits(state, "t=1700000000,v1=" SIGNATURE, BODY, SECRET, AT));
    assert_false(fits(state, "t=1700000000,v1=" SIGNATURE, BODY " ", SECRET, AT));
    assert_false(fits(state, "t=1700000000,v1=" SIGNATURE, "", SECRET, AT));
    assert_false(fits(state, "t=1700000000,v1=" SIGNATURE, BODY, "whsec_other", AT));
    assert_false(fits(state, "t=1700000001,v1=" SIGNATURE, BODY, SECRET, AT));
    assert_false(fits(state, "t=1700000000,v1=" NONE_64, BODY, SECRET, AT));
}

/* BILLING-38 */
static void test_any_one_of_several_signatures_is_enough(void **state)
{
    assert_true(fits(state, "t=1700000000,v1=" NONE_64 ",v1=" SIGNATURE, BODY, SECRET, AT));
    assert_true(fits(state, "v1=" SIGNATURE ",v1=" NONE_64 ",t=1700000000", BODY, SECRET, AT));
    assert_true(fits(state, "t=1700000000,v0=x,v1=,v1=" SIGNATURE ",v2", BODY, SECRET, AT));
    assert_false(fits(state, "t=1700000000,v1=" NONE_64 ",v1=" NONE_64, BODY, SECRET, AT));
}

/* BILLING-38 */
static void test_a_signature_is_valid_for_five_minutes_in_both_directions(void **state)
{
    assert_true(fits(state, "t=1700000000,v1=" SIGNATURE, BODY, SECRET, AT + 300));
    assert_true(fits(state, "t=1700000000,v1=" SIGNATURE, BODY, SECRET, AT - 300));
    assert_false(fits(state, "t=1700000000,v1=" SIGNATURE, BODY, SECRET, AT + 301));
    assert_false(fits(state, "t=1700000000,v1=" SIGNATURE, BODY, SECRET, AT - 301));
}

static void test_a_malformed_header_is_refused(void **state)
{
    static const char *const headers[] = {
        "",
        ",",
        "=",
        "t",
        "t=",
        "v1=" SIGNATURE,
        "t=1700000000",
        "t=1700000000,v0=" SIGNATURE,
        "t=1700000000,v1=" SIGNATURE "0",
        "t=1700000000, v1=" SIGNATURE,
        "t=1700000000;v1=" SIGNATURE,
        "t=1700000000,t=1700000000,v1=" SIGNATURE,
        "t=+1700000000,v1=" SIGNATURE,
        "t=-1,v1=" SIGNATURE,
        "t=99999999999999999999,v1=" SIGNATURE,
        "t=9223372036854775807,v1=" SIGNATURE,
    };
    for (size_t i = 0; i < COUNT(headers); i++)
        if (fits(state, headers[i], BODY, SECRET, AT))
            fail_msg("%s fits", headers[i]);
    assert_false(stripe_signed(STR_NONE, STR(BODY), STR(SECRET), AT, *state));
}

static void test_an_empty_secret_accepts_nothing(void **state)
{
    unsigned char mac[SHA256_LEN];
    char hex[2 * SHA256_LEN + 1];
    crypto_hmac_sha256(STR(""), STR("1700000000." BODY), mac);
    hex_encode(mac, sizeof mac, hex);
    struct str header = arena_printf(*state, "t=1700000000,v1=%s", hex);
    assert_false(stripe_signed(header, STR(BODY), STR(""), AT, *state));
}

static void test_events_name_their_object(void **state)
{
    static const struct {
        const char *type, *object; /* data.object */
        enum billing_object about;
        const char *id;
    } cases[] = {
        {"checkout.session.completed", "{\"id\":\"cs_1\"}", BILLING_OBJECT_SESSION, "cs_1"},
        {"checkout.session.expired", "{\"id\":\"cs_1\",\"mode\":\"subscription\"}", BILLING_OBJECT_SESSION, "cs_1"},
        {"checkout.session.completed", "{\"id\":\"cs_1\",\"mode\":\"payment\"}", BILLING_OBJECT_NONE, NULL},
        {"checkout.session.async_payment_failed", "{\"id\":\"cs_1\"}", BILLING_OBJECT_SESSION, "cs_1"},
        {"checkout.session.async_payment_succeeded", "{\"id\":\"cs_1\"}", BILLING_OBJECT_SESSION, "cs_1"},
        {"customer.subscription.created", "{\"id\":\"sub_1\"}", BILLING_OBJECT_SUBSCRIPTION, "sub_1"},
        {"customer.subscription.updated", "{\"id\":\"sub_1\"}", BILLING_OBJECT_SUBSCRIPTION, "sub_1"},
        {"customer.subscription.deleted", "{\"id\":\"sub_1\"}", BILLING_OBJECT_SUBSCRIPTION, "sub_1"},
        {"invoice.paid", "{\"id\":\"in_1\",\"parent\":{\"subscription_details\":{\"subscription\":\"sub_2\"}}}",
         BILLING_OBJECT_SUBSCRIPTION, "sub_2"},
        {"invoice.payment_failed",
         "{\"id\":\"in_1\",\"parent\":{\"subscription_details\":{\"subscription\":{\"id\":\"sub_3\"}}}}",
         BILLING_OBJECT_SUBSCRIPTION, "sub_3"},
        {"invoice.payment_failed", "{\"id\":\"in_1\",\"subscription\":\"sub_4\"}", BILLING_OBJECT_SUBSCRIPTION,
         "sub_4"},
        {"invoice.upcoming", "{\"subscription\":\"sub_5\"}", BILLING_OBJECT_SUBSCRIPTION, "sub_5"},
        {"invoice.paid", "{\"id\":\"in_1\",\"parent\":null,\"subscription\":null}", BILLING_OBJECT_NONE, NULL},
        {"customer.created", "{\"id\":\"cus_1\"}", BILLING_OBJECT_NONE, NULL},
        {"price.updated", "{}", BILLING_OBJECT_NONE, NULL},
        {"something.new", "{\"id\":7}", BILLING_OBJECT_NONE, NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct billing_event e;
        struct str body = arena_printf(*state,
                                       "{\"id\":\"evt_%zu\",\"object\":\"event\",\"type\":\"%s\",\"livemode\":false,"
                                       "\"data\":{\"object\":%s}}",
                                       i, cases[i].type, cases[i].object);
        assert_true(stripe_read_event(body, *state, &e));
        assert_true(str_eq(e.id, arena_printf(*state, "evt_%zu", i)));
        assert_int_equal(e.object, cases[i].about);
        assert_true(str_eq(e.object_id, str_z(cases[i].id)));
    }
}

static void test_a_body_that_is_not_an_event_is_refused(void **state)
{
#define EVENT(id, object, type, data)                                                                                  \
    "{\"id\":" id ",\"object\":" object ",\"type\":" type ",\"data\":{\"object\":" data "}}"
    static const char *const bodies[] = {
        "",
        "[]",
        "{}",
        "null",
        "{\"id\":\"evt_1\"",
        EVENT("1", "\"event\"", "\"invoice.paid\"", "{}"),
        EVENT("\"../x\"", "\"event\"", "\"invoice.paid\"", "{}"),
        EVENT("\"\"", "\"event\"", "\"invoice.paid\"", "{}"),
        EVENT("\"evt_1\"", "\"v2.core.event\"", "\"invoice.paid\"", "{}"),
        EVENT("\"evt_1\"", "\"event\"", "null", "{}"),
        EVENT("\"evt_1\"", "\"event\"", "\"invoice.paid\"", "[]"),
        EVENT("\"evt_1\"", "\"event\"", "\"checkout.session.completed\"", "{}"),
        EVENT("\"evt_1\"", "\"event\"", "\"checkout.session.completed\"", "{\"id\":7}"),
        EVENT("\"evt_1\"", "\"event\"", "\"checkout.session.completed\"", "{\"id\":\"cs/../../v1\"}"),
        EVENT("\"evt_1\"", "\"event\"", "\"customer.subscription.updated\"", "{\"id\":\"sub 1\"}"),
    };
    for (size_t i = 0; i < COUNT(bodies); i++) {
        struct billing_event e;
        if (stripe_read_event(str_z(bodies[i]), *state, &e))
            fail_msg("%s is read", bodies[i]);
    }
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(test_a_signature_of_the_body_with_the_secret_is_accepted),
        T(test_any_one_of_several_signatures_is_enough),
        T(test_a_signature_is_valid_for_five_minutes_in_both_directions),
        T(test_a_malformed_header_is_refused),
        T(test_an_empty_secret_accepts_nothing),
        T(test_events_name_their_object),
        T(test_a_body_that_is_not_an_event_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
