/* Requests that Twilio signs: Twilio's SDK made the signatures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "providers/twilio_hook.h"

#define ACCOUNT "AC0123456789abcdef0123456789abcdef"
#define OTHER   "AC0123456789abcdef0123456789abcdee"
#define TOKEN   "12345678901234567890123456789012"
#define ORIGIN  "https://door.example"
#define TARGET  "/hooks/twilio/voice?step=1"
#define FIELDS(a)                                                                                                      \
    "AccountSid=" a "&CallSid=CA0123456789abcdef0123456789abcdef&From=%2B15550001111&To=%2B15550100000&Digits="
#define BODY      FIELDS(ACCOUNT)
#define SIGNATURE "GhCpD/mSDpjTofGGk768lY1Ns4I="
#define WITH_443  "l3VSAwmtlrUoCu/DfPNUxXhMsRk="
#define WITH_8443 "YWYZ3m5GjKiAKD7nu1HKdUZTlTc="
#define HASH      "231a077afe6e3a089b8ceec40d103fa04bdc4ebd5101c4798932a59e48c1d232"

struct fixture {
    struct arena arena;
    struct config config;
    struct twilio_hook *hook;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    char *why = NULL;
    arena_init(&f->arena, NULL, 0);
    f->config = (struct config){.twilio_account_sid = ACCOUNT, .twilio_auth_token = TOKEN};
    assert_int_equal(twilio_hook_new(&f->config, &f->hook, &why), ERR_NONE);
    assert_non_null(f->hook);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    twilio_hook_free(f->hook);
    arena_done(&f->arena);
    free(f);
    return 0;
}

static bool fits(void **state, const char *origin, const char *target, const char *signature, const char *body)
{
    struct fixture *f = *state;
    struct form form;
    const struct twilio_posted r = {str_z(origin), str_z(target), str_z(signature), str_z(body)};
    return twilio_hook_read(f->hook, &r, &f->arena, &form);
}

static void the_signature_covers_address_and_fields(void **state)
{
    assert_true(fits(state, ORIGIN, TARGET, SIGNATURE, BODY));
    assert_true(fits(state, ORIGIN, TARGET, SIGNATURE, BODY "&Digits="));
    assert_false(fits(state, ORIGIN, TARGET, SIGNATURE, BODY "1"));
    assert_false(fits(state, ORIGIN, TARGET, SIGNATURE, BODY "&Digits=1"));
    assert_false(fits(state, ORIGIN, TARGET, SIGNATURE, BODY "&X=1"));
    assert_false(fits(state, ORIGIN, "/hooks/twilio/voice?step=2", SIGNATURE, BODY));
    assert_false(fits(state, "https://door2.example", TARGET, SIGNATURE, BODY));
    assert_false(fits(state, "http://door.example", TARGET, SIGNATURE, BODY));
    assert_true(fits(state, "http://door.example", TARGET, "8hUuuSZ/+tKgSuV14UiLRL+hTuk=", BODY));
}

static void the_order_of_fields_has_no_effect_and_repeated_values_count_once(void **state)
{
    assert_true(fits(state, ORIGIN, TARGET, "oZPu801e5Yj0aZq7VTRDt76BtLg=", "X=b&X=a&" BODY "&X=b"));
}

static void the_port_may_be_left_out_or_added(void **state)
{
    assert_true(fits(state, ORIGIN, TARGET, WITH_443, BODY));
    assert_true(fits(state, ORIGIN ":8443", TARGET, WITH_8443, BODY));
    assert_true(fits(state, ORIGIN ":8443", TARGET, SIGNATURE, BODY));
    assert_false(fits(state, ORIGIN ":8443", TARGET, WITH_443, BODY));
    assert_false(fits(state, ORIGIN, TARGET, WITH_8443, BODY));
}

static void a_hash_in_the_query_stands_for_the_body(void **state)
{
    static const char target[] = "/hooks/twilio/voice?bodySHA256=" HASH;
    static const char signature[] = "M6IHBSjPiX1S7uWq+9EL4EOOEPM=";
    assert_true(fits(state, ORIGIN, target, signature, "AccountSid=" ACCOUNT));
    assert_false(fits(state, ORIGIN, target, signature, "AccountSid=" ACCOUNT "&Digits=1"));
    assert_false(fits(state, ORIGIN, TARGET, signature, "AccountSid=" ACCOUNT));
}

static void anything_else_is_refused(void **state)
{
    assert_false(fits(state, ORIGIN, TARGET, NULL, BODY));
    assert_false(fits(state, ORIGIN, TARGET, "", BODY));
    assert_false(fits(state, ORIGIN, TARGET, SIGNATURE "=", BODY));
    assert_false(fits(state, ORIGIN, TARGET, "ghCpD/mSDpjTofGGk768lY1Ns4I=", BODY));
    assert_false(fits(state, ORIGIN, TARGET, SIGNATURE, ""));
    assert_false(fits(state, ORIGIN, TARGET, SIGNATURE, "{}"));
    assert_false(fits(state, "", TARGET, SIGNATURE, BODY));
    assert_false(fits(state, ORIGIN, TARGET, SIGNATURE, FIELDS(OTHER)));
}

static void without_an_account_there_is_no_hook(void **state)
{
    (void)state;
    const struct config none = {.twilio_account_sid = "", .twilio_auth_token = ""};
    const struct config wrong = {.twilio_account_sid = "AC", .twilio_auth_token = TOKEN};
    struct twilio_hook *hook = (struct twilio_hook *)1;
    char *why = NULL;
    assert_int_equal(twilio_hook_new(&none, &hook, &why), ERR_NONE);
    assert_null(hook);
    assert_int_equal(twilio_hook_new(&wrong, &hook, &why), ERR_USAGE);
    assert_non_null(why);
    free(why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_signature_covers_address_and_fields, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_order_of_fields_has_no_effect_and_repeated_values_count_once, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_port_may_be_left_out_or_added, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_hash_in_the_query_stands_for_the_body, set_up, tear_down),
        cmocka_unit_test_setup_teardown(anything_else_is_refused, set_up, tear_down),
        cmocka_unit_test(without_an_account_there_is_no_hook),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
