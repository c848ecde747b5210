/* Public addresses: both edges of every block of IANA's special-purpose registries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <netinet/in.h>
#include <sys/un.h>

#include "net/guard.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *const private_ones[] = {
    /* IPv4 */
    "0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.0", "127.0.0.1",
    "127.255.255.255", "169.254.0.0", "169.254.169.254", "169.254.255.255", "172.16.0.0", "172.31.255.255", "192.0.0.0",
    "192.0.0.255", "192.0.2.0", "192.0.2.255", "192.88.99.0", "192.88.99.255", "192.168.0.0", "192.168.255.255",
    "198.18.0.0", "198.19.255.255", "198.51.100.0", "198.51.100.255", "203.0.113.0", "203.0.113.255", "224.0.0.0",
    "239.255.255.255", "240.0.0.0", "255.255.255.254", "255.255.255.255",
    /* IPv6 */
    "::", "::1", "::2", "::127.0.0.1", "::8.8.8.8", "::ffff:0:8.8.8.8", "64:ff9a:ffff::8.8.8.8",
    "64:ff9b:0:0:0:1::", "64:ff9b:1::8.8.8.8", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff",
    "100::", "100::ffff:ffff:ffff:ffff", "100:0:0:1::", "1fff:ffff::1",
    "2001::", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:1::1", "2001:2::1", "2001:10::1", "2001:20::1",
    "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
    "2002::", "2002:7f00:1::1", "2002:a00:1::1", "2002:808:808::1", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "4000::", "5f00::1", "fc00::", "fd00:ec2::254",
    "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fe00::1", "fe80::1", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "fec0::1", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ff00::", "ff02::1", "ff0e::1",
    "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    /* IPv4 within IPv6 */
    "::ffff:127.0.0.1", "::ffff:10.1.2.3", "::ffff:169.254.169.254", "::ffff:0.0.0.0", "::ffff:255.255.255.255",
    "64:ff9b::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::169.254.169.254", "64:ff9b::192.168.1.1", "64:ff9b::0.0.0.0"};

static const char *const public_ones[] = {"1.0.0.0",
                                          "1.1.1.1",
                                          "8.8.8.8",
                                          "9.255.255.255",
                                          "11.0.0.0",
                                          "100.63.255.255",
                                          "100.128.0.0",
                                          "126.255.255.255",
                                          "128.0.0.0",
                                          "169.253.255.255",
                                          "169.255.0.0",
                                          "172.15.255.255",
                                          "172.32.0.0",
                                          "191.255.255.255",
                                          "192.0.1.0",
                                          "192.0.1.255",
                                          "192.0.3.0",
                                          "192.31.196.1",
                                          "192.52.193.1",
                                          "192.88.98.255",
                                          "192.88.100.0",
                                          "192.167.255.255",
                                          "192.169.0.0",
                                          "192.175.48.1",
                                          "198.17.255.255",
                                          "198.20.0.0",
                                          "198.51.99.255",
                                          "198.51.101.0",
                                          "203.0.112.255",
                                          "203.0.114.0",
                                          "223.255.255.255",
                                          "2000::1",
                                          "2001:200::",
                                          "2001:4860:4860::8888",
                                          "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff",
                                          "2001:db9::",
                                          "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                                          "2003::",
                                          "2606:4700:4700::1111",
                                          "2620:4f:8000::1",
                                          "2a00::1",
                                          "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                                          "3fff:1000::",
                                          "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                                          "::ffff:8.8.8.8",
                                          "64:ff9b::8.8.8.8",
                                          "64:ff9b::100.128.0.0"};

static bool is_public(const char *text)
{
    struct net_address a;
    if (!net_address_parse(str_z(text), &a))
        fail_msg("%s is no address", text);
    return net_address_is_public(&a);
}

/* WEBHOOK-6 */
static void test_no_special_address_is_public(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(private_ones); i++)
        if (is_public(private_ones[i]))
            fail_msg("%s was taken for public", private_ones[i]);
}

/* WEBHOOK-6 */
static void test_their_neighbours_are_public(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(public_ones); i++)
        if (!is_public(public_ones[i]))
            fail_msg("%s was not taken for public", public_ones[i]);
}

static bool permits(const char *text)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
        return net_guard_permits((struct sockaddr *)&v4, sizeof v4);
    assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
    return net_guard_permits((struct sockaddr *)&v6, sizeof v6);
}

static void test_a_socket_address_is_checked_alike(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(private_ones); i++)
        assert_false(permits(private_ones[i]));
    for (size_t i = 0; i < COUNT(public_ones); i++)
        assert_true(permits(public_ones[i]));
}

static void test_an_invalid_socket_address_is_not_permitted(void **state)
{
    const struct sockaddr_un local = {.sun_family = AF_UNIX, .sun_path = "/run/x"};
    const struct sockaddr_in cut = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x08080808)};
    (void)state;
    assert_false(net_guard_permits((const struct sockaddr *)&local, sizeof local));
    assert_false(net_guard_permits((const struct sockaddr *)&cut, 4));
}

static void check_url(const char *url, enum net_guard_verdict want)
{
    enum net_guard_verdict got = net_guard_check(str_z(url), 30000);
    if (got != want)
        fail_msg("%s: %d instead of %d", url, got, want);
}

static void test_a_url_is_checked_by_the_address_of_its_host(void **state)
{
    (void)state;
    check_url("https://8.8.8.8/hook", GUARD_PUBLIC);
    check_url("https://[2606:4700:4700::1111]:8443/hook", GUARD_PUBLIC);
    check_url("https://127.0.0.1/", GUARD_PRIVATE);
    check_url("https://[::1]/", GUARD_PRIVATE);
    check_url("https://[::ffff:10.0.0.1]/", GUARD_PRIVATE);
    check_url("https://user@169.254.169.254/latest", GUARD_PRIVATE);
    check_url("https://8.8.8.8@127.0.0.1/", GUARD_PRIVATE);
    check_url("https://localhost/", GUARD_PRIVATE);
    check_url("https://LOCALHOST:1/", GUARD_PRIVATE);
}

static void test_other_spellings_of_an_address_are_understood(void **state)
{
    (void)state;
    check_url("https://2130706433/", GUARD_PRIVATE);
    check_url("https://0x7f.1/", GUARD_PRIVATE);
    check_url("https://0177.0.0.1/", GUARD_PRIVATE);
    check_url("https://127.1/", GUARD_PRIVATE);
    check_url("https://%31%32%37.0.0.1/", GUARD_PRIVATE);
}

static void test_a_host_without_an_address_is_unresolved(void **state)
{
    (void)state;
    check_url("https://no-such-host.invalid/", GUARD_UNRESOLVED);
    check_url("https:///path", GUARD_UNRESOLVED);
    check_url("https://", GUARD_UNRESOLVED);
    check_url("https://256.256.256.256/", GUARD_UNRESOLVED);
    check_url("https://[::1/", GUARD_UNRESOLVED);
    check_url("not a url", GUARD_UNRESOLVED);
    check_url("", GUARD_UNRESOLVED);
    assert_int_equal(net_guard_check(STR_NONE, 1000), GUARD_UNRESOLVED);
    assert_int_equal(net_guard_check(str_n("https://8.8.8.8\0.invalid/", 25), 1000), GUARD_UNRESOLVED);
}

static void test_a_check_waits_no_longer_than_allowed(void **state)
{
    (void)state;
    assert_int_equal(net_guard_check(STR("https://no-such-host.invalid/"), 0), GUARD_UNRESOLVED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_special_address_is_public),
        cmocka_unit_test(test_their_neighbours_are_public),
        cmocka_unit_test(test_a_socket_address_is_checked_alike),
        cmocka_unit_test(test_an_invalid_socket_address_is_not_permitted),
        cmocka_unit_test(test_a_url_is_checked_by_the_address_of_its_host),
        cmocka_unit_test(test_other_spellings_of_an_address_are_understood),
        cmocka_unit_test(test_a_host_without_an_address_is_unresolved),
        cmocka_unit_test(test_a_check_waits_no_longer_than_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
