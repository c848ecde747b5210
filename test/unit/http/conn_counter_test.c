#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first */
#include <cmocka.h>

#include <pthread.h>

#include "http/conn_counter.h"

static struct net_address address(const char *text)
{
    struct net_address a;
    assert_true(net_address_parse(str_z(text), &a));
    return a;
}

static void each_address_has_its_own_limit(void **state)
{
    struct http_conn_counter *c = http_conn_counter_new(100, 2);
    struct net_address a = address("192.0.2.1"), b = address("192.0.2.2");
    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(http_conn_counter_add(c, &a, false), HTTP_ADMITTED);
        assert_int_equal(http_conn_counter_add(c, &b, false), HTTP_ADMITTED);
    }
    assert_int_equal(http_conn_counter_add(c, &a, false), HTTP_ADDRESS_FULL);
    http_conn_counter_remove(c, &a, false);
    assert_int_equal(http_conn_counter_add(c, &b, false), HTTP_ADDRESS_FULL);
    assert_int_equal(http_conn_counter_add(c, &a, false), HTTP_ADMITTED);
    assert_int_equal(http_conn_counter_add(c, &a, true), HTTP_ADMITTED);
    http_conn_counter_free(c);
}

/* HTTP-38 */
static void an_ipv6_subscriber_counts_once_however_many_addresses_are_used(void **state)
{
    struct http_conn_counter *c = http_conn_counter_new(100, 1);
    struct net_address one = address("2001:db8:1:2::1"), same = address("2001:db8:1:2:ffff::9"),
                       other = address("2001:db8:1:3::1");
    (void)state;
    assert_int_equal(http_conn_counter_add(c, &one, false), HTTP_ADMITTED);
    assert_int_equal(http_conn_counter_add(c, &same, false), HTTP_ADDRESS_FULL);
    assert_int_equal(http_conn_counter_add(c, &other, false), HTTP_ADMITTED);
    http_conn_counter_free(c);
}

static void the_total_limit_applies_to_every_address(void **state)
{
    struct http_conn_counter *c = http_conn_counter_new(2, 2);
    struct net_address a = address("192.0.2.1"), b = address("192.0.2.2");
    (void)state;
    assert_int_equal(http_conn_counter_add(c, &a, false), HTTP_ADMITTED);
    assert_int_equal(http_conn_counter_add(c, &a, true), HTTP_ADMITTED);
    assert_int_equal(http_conn_counter_add(c, &b, true), HTTP_FULL);
    http_conn_counter_remove(c, &a, true);
    assert_int_equal(http_conn_counter_add(c, &b, false), HTTP_ADMITTED);
    http_conn_counter_free(c);
}

/* A connection refused by its address does not count towards the total. */
static void a_refused_connection_is_not_counted(void **state)
{
    struct http_conn_counter *c = http_conn_counter_new(2, 1);
    struct net_address a = address("192.0.2.1"), b = address("192.0.2.2");
    (void)state;
    assert_int_equal(http_conn_counter_add(c, &a, false), HTTP_ADMITTED);
    for (int i = 0; i < 5; i++)
        assert_int_equal(http_conn_counter_add(c, &a, false), HTTP_ADDRESS_FULL);
    assert_int_equal(http_conn_counter_add(c, &b, false), HTTP_ADMITTED);
    http_conn_counter_free(c);
}

static void *come_and_go(void *arg)
{
    struct http_conn_counter *c = arg;
    for (unsigned i = 0; i < 2000; i++) {
        struct net_address a = {.bytes = {[10] = 0xff, 0xff, 192, 0, 2, (unsigned char)(i % 7)}};
        if (http_conn_counter_add(c, &a, i % 5 == 0) == HTTP_ADMITTED)
            http_conn_counter_remove(c, &a, i % 5 == 0);
    }
    return NULL;
}

static void the_counter_is_zero_after_concurrent_use(void **state)
{
    struct http_conn_counter *c = http_conn_counter_new(4, 1);
    struct net_address a = address("192.0.2.3");
    pthread_t threads[4];
    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, c), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(http_conn_counter_add(c, &a, false), HTTP_ADMITTED);
    for (int i = 0; i < 3; i++)
        assert_int_equal(http_conn_counter_add(c, &a, true), HTTP_ADMITTED);
    assert_int_equal(http_conn_counter_add(c, &a, true), HTTP_FULL);
    http_conn_counter_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_address_has_its_own_limit),
        cmocka_unit_test(an_ipv6_subscriber_counts_once_however_many_addresses_are_used),
        cmocka_unit_test(the_total_limit_applies_to_every_address),
        cmocka_unit_test(a_refused_connection_is_not_counted),
        cmocka_unit_test(the_counter_is_zero_after_concurrent_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
