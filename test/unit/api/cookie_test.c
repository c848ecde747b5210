/* The browser's cookie: the field Cookie, and Set-Cookie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/cookie.h"

#define VALUE "0123456789abcdefghijABCDEFGHIJ0123456789abc"
#define PAIR  COOKIE_NAME "=" VALUE

static void the_cookie_is_found_among_others(void **state)
{
    (void)state;
    const char *const good[] = {
        PAIR,           "a=b; " PAIR,       PAIR "; a=b",       " " PAIR " ",        "a; " PAIR ";", PAIR ";c=\"d\"",
        ";;" PAIR ";;", "a==b;" PAIR ";=c", "x" PAIR "; " PAIR, "a=" VALUE "; " PAIR};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct str value;
        if (!cookie_parse(str_z(good[i]), &value) || !str_eq(value, STR(VALUE)))
            fail_msg("%s", good[i]);
    }
}

/* KEY-33 */
static void a_malformed_or_repeated_cookie_is_none(void **state)
{
    (void)state;
    const char *const bad[] = {"",
                               ";",
                               "=",
                               COOKIE_NAME,
                               COOKIE_NAME "=",
                               PAIR "d",
                               COOKIE_NAME "=\"" VALUE "\"",
                               COOKIE_NAME " =" VALUE,
                               COOKIE_NAME "= " VALUE,
                               COOKIE_NAME "=-123456789abcdefghijABCDEFGHIJ0123456789abc",
                               "__host-portero=" VALUE,
                               "x" PAIR,
                               PAIR "; " PAIR,
                               PAIR "; " COOKIE_NAME "=",
                               COOKIE_NAME "; " PAIR,
                               "a=b, " PAIR};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct str value;
        if (cookie_parse(str_z(bad[i]), &value))
            fail_msg("%s", bad[i]);
    }
}

static void a_chosen_building_is_an_id(void **state)
{
    static const struct {
        const char *field, *id;
    } rows[] = {
        {COOKIE_BUILDING "=0123456789ABCDEF01234567", "0123456789abcdef01234567"},
        {PAIR "; " COOKIE_BUILDING "=0123456789abcdef01234567; a=b", "0123456789abcdef01234567"},
        {COOKIE_BUILDING "=0123456789abcdef0123456", NULL},
        {COOKIE_BUILDING "=0123456789abcdef0123456x", NULL},
        {COOKIE_BUILDING "=", NULL},
        {COOKIE_BUILDING, NULL},
        {COOKIE_BUILDING "=0123456789abcdef01234567; " COOKIE_BUILDING "=0123456789abcdef01234567", NULL},
        {PAIR, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct http_header header = {STR("Cookie"), str_z(rows[i].field)};
        const struct http_request r = {.headers = &header, .header_count = 1};
        struct id id;
        const bool found = cookie_building(&r, &id);
        if (found != (rows[i].id != NULL) || (found && strcmp(id.text, rows[i].id) != 0))
            fail_msg("%s", rows[i].field);
    }
}

static void a_request_has_one_cookie_field(void **state)
{
    (void)state;
    const struct http_header headers[] = {{STR("cookie"), STR(PAIR)}, {STR("Cookie"), STR("a=b")}};
    struct http_request r = {.headers = headers, .header_count = 1};
    struct str value;
    assert_true(cookie_of(&r, &value));
    assert_true(str_eq(value, STR(VALUE)));
    r.header_count = 2;
    assert_false(cookie_of(&r, &value));
    r.header_count = 0;
    assert_false(cookie_of(&r, &value));
}

/* KEY-24 */
static void the_cookie_is_set_for_this_host_alone_and_hidden_from_scripts(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, NULL, 0);
    assert_string_equal(cookie_set(&a, STR(VALUE), false).p, PAIR "; Path=/; Secure; HttpOnly; SameSite=Lax");
    assert_string_equal(cookie_set(&a, STR(VALUE), true).p,
                        PAIR "; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=2592000");
    assert_string_equal(cookie_clear().p, COOKIE_NAME "=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0");
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cookie_is_found_among_others),
        cmocka_unit_test(a_malformed_or_repeated_cookie_is_none),
        cmocka_unit_test(a_chosen_building_is_an_id),
        cmocka_unit_test(a_request_has_one_cookie_field),
        cmocka_unit_test(the_cookie_is_set_for_this_host_alone_and_hidden_from_scripts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
