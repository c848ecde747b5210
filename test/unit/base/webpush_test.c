#include "base/webpush.h"

#include "base/crypto.h"
#include "unit.h"

/* RFC 8291, section 5 and appendix A. */
#define TEXT       "When I grow up, I want to be a watermelon"
#define UA_PUBLIC  "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
#define AUTH       "BTBZMqHH6r4Tts7J_aSIgg"
#define AS_PRIVATE "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
#define AS_PUBLIC  "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"
#define SALT       "DGv6ra1nlYgDCS1FRnbzlw"
#define BODY                                                                                                           \
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_"                                                                   \
    "c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A"                                             \
    "_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"

static struct arena arena;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, NULL, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static struct str bytes_of(struct str text)
{
    struct str bytes = STR_NONE;
    assert_true(base64url_decode(&arena, text, &bytes));
    return bytes;
}

static struct str text_of(const void *p, size_t n)
{
    return base64url_encode(&arena, str_n(p, n));
}

static struct webpush_receiver receiver(void)
{
    struct webpush_receiver r;
    assert_true(webpush_receiver_parse(STR(UA_PUBLIC), STR(AUTH), &r));
    return r;
}

/* SITE-16 */
static void encrypts_the_example_of_rfc_8291(void **state)
{
    (void)state;
    const struct webpush_receiver to = receiver();
    unsigned char body[WEBPUSH_BODY_LEN(sizeof TEXT - 1)];
    struct webpush_key key;
    assert_true(webpush_key_from((const unsigned char *)bytes_of(STR(AS_PRIVATE)).p, &key));
    assert_string_equal(text_of(key.point, sizeof key.point).p, AS_PUBLIC);
    assert_true(webpush_encrypt_with(&to, &key, (const unsigned char *)bytes_of(STR(SALT)).p, STR(TEXT), body));
    assert_string_equal(text_of(body, sizeof body).p, BODY);
}

static void never_encrypts_the_same_way_twice(void **state)
{
    (void)state;
    const struct webpush_receiver to = receiver();
    unsigned char one[WEBPUSH_BODY_LEN(0)], two[WEBPUSH_BODY_LEN(0)];
    assert_true(webpush_encrypt(&to, STR(""), one));
    assert_true(webpush_encrypt(&to, STR(""), two));
    assert_memory_not_equal(one, two, WEBPUSH_SALT_LEN);
    assert_memory_not_equal(one + WEBPUSH_SALT_LEN + 5, two + WEBPUSH_SALT_LEN + 5, WEBPUSH_POINT_LEN);
}

static void encrypts_a_message_of_the_greatest_length(void **state)
{
    (void)state;
    const struct webpush_receiver to = receiver();
    static char text[WEBPUSH_PLAIN_MAX];
    static unsigned char body[4096];
    assert_int_equal(WEBPUSH_BODY_LEN(sizeof text), sizeof body);
    assert_true(webpush_encrypt(&to, str_n(text, sizeof text), body));
}

static void refuses_keys_that_no_browser_gives(void **state)
{
    (void)state;
    struct webpush_receiver r;
    static const char wrong[][120] = {
        "",
        "BCVx",
        /* not on the curve: the last byte is another one */
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw8",
        /* compressed, and hybrid */
        "AiVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcx",
        "BiVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        /* all zeros, and standard base64 */
        "BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "BCVxsr7N/eNgVRqvHtD0zTZsEc6+VV+JvLexhqUzORcxaOzi6+AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(webpush_receiver_parse(str_z(wrong[i]), STR(AUTH), &r));
    assert_false(webpush_receiver_parse(STR(UA_PUBLIC), STR("BTBZMqHH6r4Tts7J_aSI"), &r));
    assert_false(webpush_receiver_parse(STR(UA_PUBLIC), STR(""), &r));
    assert_true(webpush_receiver_parse(STR(UA_PUBLIC "="), STR(AUTH "=="), &r));
}

static void refuses_secrets_outside_the_group(void **state)
{
    (void)state;
    struct webpush_key key;
    unsigned char secret[WEBPUSH_KEY_LEN] = {0};
    assert_false(webpush_key_from(secret, &key));
    memset(secret, 0xFF, sizeof secret);
    assert_false(webpush_key_from(secret, &key));
}

/* test/e2e/push.test.js verifies signatures with another implementation. */
static void signs_in_the_form_of_rfc_8292(void **state)
{
    (void)state;
    struct webpush_key key;
    assert_true(webpush_key_from((const unsigned char *)bytes_of(STR(AS_PRIVATE)).p, &key));
    const struct str value = webpush_authorization(&key, STR("https://push.example.net"),
                                                   STR("https://door.example.com"), 1453523768, &arena);
    struct str rest, claims;
    assert_true(str_starts(value, STR("vapid t=eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.")));
    str_cut(value, '.', &rest);
    claims = str_cut(rest, '.', &rest);
    assert_string_equal(
        bytes_of(claims).p,
        "{\"aud\":\"https://push.example.net\",\"exp\":1453523768,\"sub\":\"https://door.example.com\"}");
    assert_int_equal(bytes_of(str_cut(rest, ',', &rest)).n, 64);
    assert_string_equal(rest.p, " k=" AS_PUBLIC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(encrypts_the_example_of_rfc_8291, setup, teardown),
        cmocka_unit_test_setup_teardown(never_encrypts_the_same_way_twice, setup, teardown),
        cmocka_unit_test_setup_teardown(encrypts_a_message_of_the_greatest_length, setup, teardown),
        cmocka_unit_test_setup_teardown(refuses_keys_that_no_browser_gives, setup, teardown),
        cmocka_unit_test_setup_teardown(refuses_secrets_outside_the_group, setup, teardown),
        cmocka_unit_test_setup_teardown(signs_in_the_form_of_rfc_8292, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
