#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first */
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "net/address.h"

static struct net_address address(const char *text)
{
    struct net_address a;
    assert_true(net_address_parse(str_z(text), &a));
    return a;
}

static void addresses_are_parsed_and_written(void **state)
{
    static const struct {
        const char *in, *out;
    } cases[] = {{"192.0.2.1", "192.0.2.1"},
                 {"::ffff:192.0.2.1", "192.0.2.1"},
                 {"2001:DB8::1", "2001:db8::1"},
                 {"::", "::"},
                 {"0.0.0.0", "0.0.0.0"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[NET_ADDRESS_TEXT];
        struct net_address a = address(cases[i].in);
        net_address_text(&a, text);
        assert_string_equal(text, cases[i].out);
    }
}

static void a_block_is_an_ipv4_address_or_the_64_bits_of_a_subscriber(void **state)
{
    static const struct {
        const char *in, *out;
    } cases[] = {{"192.0.2.1", "192.0.2.1"},
                 {"::ffff:192.0.2.1", "192.0.2.1"},
                 {"2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"},
                 {"2001:db8:1:2::", "2001:db8:1:2::"},
                 {"::1", "::"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[NET_ADDRESS_TEXT];
        struct net_address a = address(cases[i].in), block = net_address_block(&a);
        net_address_text(&block, text);
        assert_string_equal(text, cases[i].out);
    }
}

static void an_invalid_address_is_not_parsed(void **state)
{
    static const struct str bad[] = {
#define S(s) {s, sizeof(s) - 1}
        S(""),
        S("unknown"),
        S("192.0.2"),
        S("192.0.2.1 "),
        S(" 192.0.2.1"),
        S("192.0.2.1:80"),
        S("[::1]"),
        S("::1%lo"),
        S("192.0.2.1\0x"),
        S("1:2:3:4:5:6:7:8:9:a:b:c:d:e:f:0:1:2:3:4:5:6:7:8"),
#undef S
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct net_address a;
        if (net_address_parse(bad[i], &a))
            fail_msg("\"%.*s\" was taken for an address", STR_ARG(bad[i]));
    }
}

static void socket_addresses_of_both_families_are_equal(void **state)
{
    struct sockaddr_storage four = {0}, six = {0}, other = {.ss_family = AF_UNIX};
    struct sockaddr_in *in = (struct sockaddr_in *)&four;
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&six;
    (void)state;
    in->sin_family = AF_INET;
    inet_pton(AF_INET, "192.0.2.1", &in->sin_addr);
    in6->sin6_family = AF_INET6;
    inet_pton(AF_INET6, "::ffff:192.0.2.1", &in6->sin6_addr);
    struct net_address a = net_address_of(&four), b = net_address_of(&six), c = net_address_of(&other);
    struct net_address none = {0};
    assert_memory_equal(&a, &b, sizeof a);
    assert_memory_equal(&c, &none, sizeof c);
}

static void loopback_is_recognised(void **state)
{
    static const struct {
        const char *text;
        bool loopback;
    } cases[] = {{"127.0.0.1", true},  {"127.255.255.254", true},
                 {"::1", true},        {"::ffff:127.0.0.1", true},
                 {"128.0.0.1", false}, {"::2", false},
                 {"::", false},        {"7f00::", false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct net_address a = address(cases[i].text);
        assert_int_equal(net_address_is_loopback(&a), cases[i].loopback);
    }
}

static void blocks_contain_addresses_with_their_prefix(void **state)
{
    static const struct {
        const char *block, *text;
        bool inside;
    } cases[] = {
        {"10.0.0.0/8", "10.255.1.2", true},
        {"10.0.0.0/8", "11.0.0.0", false},
        {"192.0.2.0/25", "192.0.2.127", true},
        {"192.0.2.0/25", "192.0.2.128", false},
        {"192.0.2.1", "192.0.2.1", true},
        {"192.0.2.1", "192.0.2.2", false},
        {"0.0.0.0/0", "203.0.113.9", true},
        {"0.0.0.0/0", "2001:db8::1", false},
        {"2001:db8::/32", "2001:db8:1::", true},
        {"2001:db8::/33", "2001:db8:8000::", false},
        {"::1/128", "::1", true},
        {"::/0", "192.0.2.1", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const list[] = {"198.51.100.0/24", cases[i].block, NULL}, *bad;
        struct net_cidrs c;
        struct net_address a = address(cases[i].text);
        assert_int_equal(net_cidrs_parse(list, &c, &bad), ERR_NONE);
        if (net_cidrs_contain(&c, &a) != cases[i].inside)
            fail_msg("%s in %s", cases[i].text, cases[i].block);
        net_cidrs_done(&c);
    }
}

static void an_empty_list_contains_nothing(void **state)
{
    struct net_cidrs c;
    const char *bad;
    struct net_address a = address("127.0.0.1");
    (void)state;
    assert_int_equal(net_cidrs_parse(NULL, &c, &bad), ERR_NONE);
    assert_false(net_cidrs_contain(&c, &a));
    net_cidrs_done(&c);
}

static void an_invalid_block_is_reported(void **state)
{
    static const char *const bad_blocks[] = {"10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/-1", "10/8", "", "a"};
    (void)state;
    for (size_t i = 0; i < sizeof bad_blocks / sizeof *bad_blocks; i++) {
        const char *const list[] = {"10.0.0.0/8", bad_blocks[i], NULL}, *bad = NULL;
        struct net_cidrs c;
        assert_int_equal(net_cidrs_parse(list, &c, &bad), ERR_USAGE);
        assert_ptr_equal(bad, bad_blocks[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_parsed_and_written),
        cmocka_unit_test(a_block_is_an_ipv4_address_or_the_64_bits_of_a_subscriber),
        cmocka_unit_test(an_invalid_address_is_not_parsed),
        cmocka_unit_test(socket_addresses_of_both_families_are_equal),
        cmocka_unit_test(loopback_is_recognised),
        cmocka_unit_test(blocks_contain_addresses_with_their_prefix),
        cmocka_unit_test(an_empty_list_contains_nothing),
        cmocka_unit_test(an_invalid_block_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
