/* The checks of a SIP request, and the number of a URI. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "sip/guard.h"

#define VIA    "Via: SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bK1\r\n"
#define FROM   "From: <sip:+15557654321@192.0.2.1>;tag=1\r\n"
#define TO     "To: <sip:+15550100001@192.0.2.2>\r\n"
#define CALLID "Call-ID: 1\r\n"
#define CSEQ   "CSeq: 1 INVITE\r\n"
#define START  "INVITE sip:+15550100001@192.0.2.2 SIP/2.0\r\n"
#define ALL    VIA FROM TO CALLID CSEQ

static struct sip_verdict verdict;
static size_t body;
static bool sdp;

/* The guard's status for a message. */
static int check(const char *text)
{
    struct mbuf *mb = mbuf_alloc(strlen(text) + 1);
    struct sip_msg *msg;
    assert_int_equal(mbuf_write_str(mb, text), 0);
    mb->pos = 0;
    assert_int_equal(sip_msg_decode(&msg, mb), 0);
    verdict = sip_guard(msg);
    body = mbuf_get_left(msg->mb);
    sdp = sip_body_is_sdp(msg);
    verdict.require = pl_null; /* points into the message */
    mem_deref(msg);
    mem_deref(mb);
    return verdict.status;
}

static void test_a_good_request_passes(void **state)
{
    (void)state;
    assert_int_equal(check(START ALL "\r\n"), 0);
    assert_int_equal(check(START ALL "Content-Length: 0\r\n\r\n"), 0);
    assert_int_equal(check("ACK sip:a@b SIP/2.0\r\n" VIA FROM TO CALLID "CSeq: 1 ACK\r\n\r\n"), 0);
    assert_int_equal(
        check("INVITE sip:a@b SIP/2.0\r\nv: SIP/2.0/UDP h;branch=1\r\nf: <sip:a@b>;tag=1\r\nt: <sip:b@c>\r\n"
              "i: 1\r\nCSeq: 1 INVITE\r\nl: 0\r\n\r\n"),
        0);
}

static void test_essential_headers_are_required_once(void **state)
{
    (void)state;
    assert_int_equal(check(START VIA TO CALLID CSEQ "\r\n"), 400);
    assert_int_equal(check(START VIA FROM CALLID CSEQ "\r\n"), 400);
    assert_int_equal(check(START VIA FROM TO CSEQ "\r\n"), 400);
    assert_int_equal(check(START VIA FROM TO CALLID "\r\n"), 400);
    assert_int_equal(check(START ALL FROM "\r\n"), 400);
    assert_int_equal(check(START ALL TO "\r\n"), 400);
    assert_int_equal(check(START ALL CALLID "\r\n"), 400);
    assert_int_equal(check(START ALL CSEQ "\r\n"), 400);
    assert_int_equal(check(START VIA "From: <sip:a@b>\r\n" TO CALLID CSEQ "\r\n"), 400); /* no tag */
}

static void test_a_request_without_a_return_address_is_dropped(void **state)
{
    (void)state;
    assert_int_equal(check(START FROM TO CALLID CSEQ "\r\n"), -1);
    assert_int_equal(check(START "Via: SIP/2.0/UDP h;branch=1;maddr=203.0.113.9\r\n" FROM TO CALLID CSEQ "\r\n"), -1);
    assert_int_equal(check("ACK sip:a@b SIP/2.0\r\n" VIA "\r\n"), -1);
}

static void test_the_sequence_must_name_the_method(void **state)
{
    (void)state;
    assert_int_equal(check(START VIA FROM TO CALLID "CSeq: 1 BYE\r\n\r\n"), 400);
    assert_int_equal(check(START VIA FROM TO CALLID "CSeq: 4294967295 INVITE\r\n\r\n"), 400);
}

static void test_long_identifiers_are_refused(void **state)
{
    (void)state;
    char text[2048], id[400];
    memset(id, 'x', sizeof id);
    (void)snprintf(text, sizeof text, START VIA FROM TO CSEQ "Call-ID: %.256s\r\n\r\n", id);
    assert_int_equal(check(text), 0);
    (void)snprintf(text, sizeof text, START VIA FROM TO CSEQ "Call-ID: %.257s\r\n\r\n", id);
    assert_int_equal(check(text), 400);
}

static void test_the_body_ends_at_its_content_length(void **state)
{
    (void)state;
    assert_int_equal(check(START ALL "Content-Length: 5\r\n\r\n12345 and more"), 0);
    assert_int_equal(body, 5);
    assert_int_equal(check(START ALL "\r\n12345"), 0);
    assert_int_equal(body, 5);
    assert_int_equal(check(START ALL "Content-Length: 6\r\n\r\n12345"), 400);
    assert_int_equal(check(START ALL "Content-Length: -1\r\n\r\n12345"), 400);
    assert_int_equal(check(START ALL "Content-Length: 4294967301\r\n\r\n12345"), 400);
}

static void test_only_plain_sdp_is_an_sdp_body(void **state)
{
    (void)state;
    assert_int_equal(check(START ALL "Content-Type: application/sdp\r\n\r\nv=0"), 0);
    assert_true(sdp);
    assert_int_equal(check(START ALL "\r\n"), 0);
    assert_true(sdp); /* no body: ours is the offer */
    assert_int_equal(check(START ALL "Content-Type: text/plain\r\n\r\nv=0"), 0);
    assert_false(sdp);
    assert_int_equal(check(START ALL "Content-Type: application/sdp\r\nContent-Encoding: gzip\r\n\r\nv=0"), 0);
    assert_false(sdp);
}

static void test_methods_schemes_and_extensions(void **state)
{
    (void)state;
    assert_int_equal(check("REGISTER sip:a@b SIP/2.0\r\n" VIA FROM TO CALLID "CSeq: 1 REGISTER\r\n\r\n"), 0);
    assert_int_equal(check("UPDATE sip:a@b SIP/2.0\r\n" VIA FROM TO CALLID "CSeq: 1 UPDATE\r\n\r\n"), 0);
    assert_int_equal(check("PRACK sip:a@b SIP/2.0\r\n" VIA FROM TO CALLID "CSeq: 1 PRACK\r\n\r\n"), 405);
    assert_int_equal(check("invite sip:a@b SIP/2.0\r\n" VIA FROM TO CALLID "CSeq: 1 invite\r\n\r\n"), 501);
    assert_int_equal(check("INVITE mailto:a@b SIP/2.0\r\n" ALL "\r\n"), 416);
    assert_int_equal(check("INVITE sips:a@b SIP/2.0\r\n" ALL "\r\n"), 0);
    assert_int_equal(check("INVITE tel:+15550100001 SIP/2.0\r\n" ALL "\r\n"), 0);
    assert_int_equal(check(START ALL "Require: 100rel\r\n\r\n"), 420);
    assert_int_equal(check(START ALL "Require: timer, 100rel\r\n\r\n"), 420);
    assert_int_equal(check(START ALL "Require: timer\r\n\r\n"), 0);
    assert_int_equal(check(START ALL "Supported: 100rel, timer\r\n\r\n"), 0);
    assert_int_equal(check(START ALL "Supported: timer\r\nSession-Expires: 89\r\n\r\n"), 422);
    assert_int_equal(check(START ALL "Supported: timer\r\nSession-Expires: 90;refresher=uas\r\n\r\n"), 0);
    assert_int_equal(check(START ALL "k: timer\r\nx: 1\r\n\r\n"), 422);
    assert_int_equal(check(START ALL "Supported: timer\r\nSession-Expires: 99999999999999999999\r\n\r\n"), 0);
}

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *uri, *number; /* "" if it has no number */
    } table[] = {
        {"sip:+15550100001@192.0.2.2", "+15550100001"},
        {"sip:15550100001@192.0.2.2", "+15550100001"},
        {"sip:+15550100001;npdi=yes@192.0.2.2;user=phone", "+15550100001"},
        {"sip:%2B15550100001@192.0.2.2", "+15550100001"},
        {"sip:+1-555-010.0001@192.0.2.2", "+15550100001"},
        {"sip:+1(555)0100001@192.0.2.2", "+15550100001"},
        {"sips:+15550100001@192.0.2.2", "+15550100001"},
        {"tel:+15550100001", "+15550100001"},
        {"tel:+15550100001;phone-context=example.com", "+15550100001"},
        {"sip:+123456789012345@h", "+123456789012345"},
        {"sip:+1234567890123456@h", ""},
        {"sip:reception@192.0.2.2", ""},
        {"sip:anonymous@anonymous.invalid", ""},
        {"sip:+@h", ""},
        {"sip:++1@h", ""},
        {"sip:1+1@h", ""},
        {"sip:%00@h", ""},
        {"sip:192.0.2.2", ""},
        {"sip:15550100001%00evil@h", ""},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct pl pl;
        struct uri uri;
        char number[CALL_NUMBER_MAX];
        pl_set_str(&pl, table[i].uri);
        assert_int_equal(uri_decode(&uri, &pl), 0);
        bool found = sip_number(&uri, NULL, number);
        if (strcmp(number, table[i].number) != 0 || found != (number[0] != '\0'))
            fail_msg("%s: %s", table[i].uri, number);
    }
}

static void test_a_peers_national_numbers_become_e164(void **state)
{
    static const struct config_peer us = {.country_code = "1", .national_prefix = "1", .international_prefix = "011"},
                                    uk = {.country_code = "44", .national_prefix = "0", .international_prefix = "00"},
                                    plain = {.country_code = "", .national_prefix = "", .international_prefix = ""};
    static const struct {
        const struct config_peer *peer;
        const char *uri, *number;
    } table[] = {
        {&us, "sip:5550100000@x", "+15550100000"},
        {&us, "sip:15550100000@x", "+15550100000"},
        {&us, "sip:+15550100000@x", "+15550100000"},
        {&us, "sip:011442079460000@x", "+442079460000"},
        {&us, "tel:555-010-0000", "+15550100000"},
        {&uk, "sip:02079460000@x", "+442079460000"},
        {&uk, "sip:2079460000@x", "+442079460000"},
        {&uk, "sip:0015550100000@x", "+15550100000"},
        {&uk, "sip:+15550100000@x", "+15550100000"},
        {&uk, "sip:0@x", ""},
        {&uk, "sip:00@x", ""},
        {&uk, "sip:123456789012345@x", ""},
        {&plain, "sip:15550100000@x", "+15550100000"},
        {&plain, "sip:reception@x", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct uri uri;
        struct pl pl;
        char number[CALL_NUMBER_MAX];
        pl_set_str(&pl, table[i].uri);
        assert_int_equal(uri_decode(&uri, &pl), 0);
        (void)sip_number(&uri, table[i].peer, number);
        if (strcmp(number, table[i].number) != 0)
            fail_msg("%s: %s", table[i].uri, number);
    }
}

/* HTTP-38 */
static void test_an_ipv6_subscriber_is_one_source(void **state)
{
    static const struct {
        const char *addr, *block;
    } table[] = {{"192.0.2.1", "192.0.2.1"},
                 {"::ffff:192.0.2.1", "::ffff:192.0.2.1"},
                 {"2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"}};
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct sa addr, block, want;
        assert_int_equal(sa_set_str(&addr, table[i].addr, 5060), 0);
        assert_int_equal(sa_set_str(&want, table[i].block, 5060), 0);
        block = sip_source_block(&addr);
        assert_true(sa_cmp(&block, &want, SA_ALL));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_good_request_passes),
        cmocka_unit_test(test_essential_headers_are_required_once),
        cmocka_unit_test(test_a_request_without_a_return_address_is_dropped),
        cmocka_unit_test(test_the_sequence_must_name_the_method),
        cmocka_unit_test(test_long_identifiers_are_refused),
        cmocka_unit_test(test_the_body_ends_at_its_content_length),
        cmocka_unit_test(test_only_plain_sdp_is_an_sdp_body),
        cmocka_unit_test(test_methods_schemes_and_extensions),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_a_peers_national_numbers_become_e164),
        cmocka_unit_test(test_an_ipv6_subscriber_is_one_source),
    };
    rand_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
