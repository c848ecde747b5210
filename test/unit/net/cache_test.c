/* Cache-Control. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net/cache.h"

static void a_field_says_how_long_an_answer_may_be_kept(void **state)
{
    static const struct {
        const char *field;
        int64_t s;
    } cases[] = {
        {"max-age=60", 60},
        {"public, max-age=\"60\"", 60},
        {"MAX-AGE = 60", 60},
        {"max-age=60, s-maxage=5", 5},
        {"s-maxage=5,max-age=60", 5},
        {"max-age=60,max-age=70", 60},
        {"max-age=60,no-store", 0},
        {"no-cache", 0},
        {"private=\"set-cookie\",max-age=60", 0},
        {"max-age=0", 0},
        {"max-age", 0},
        {"max-age=", 0},
        {"max-age=-1", 0},
        {"max-age=1.5", 0},
        {"max-age=x", 0},
        {"max-age=99999999999999999999999", 2147483648},
        {"max-age=3000000000", 2147483648},
        {"", NET_CACHE_UNSAID},
        {",,=,", NET_CACHE_UNSAID},
        {"must-revalidate, public", NET_CACHE_UNSAID},
    };
    (void)state;
    assert_int_equal(net_cache_s(STR_NONE), NET_CACHE_UNSAID);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (net_cache_s(str_z(cases[i].field)) != cases[i].s)
            fail_msg("%s: %lld", cases[i].field, (long long)net_cache_s(str_z(cases[i].field)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_field_says_how_long_an_answer_may_be_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
