/* Where our requests within a call go: to a call box behind NAT, through a proxy, over a connection. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "sip/fixture.h"

static struct raw r;

static int set_up_at(void **state, const char *host, const char *listen)
{
    agent_config.listen_sip = (char *)listen;
    agent_set_up(state);
    raw_open_at(&r, host, sip_address(agent));
    return 0;
}

static int set_up(void **state)
{
    return set_up_at(state, "127.0.0.1", "127.0.0.1:0");
}

static int set_up_ipv6(void **state)
{
    return set_up_at(state, "[::1]", "[::1]:0");
}

static int tear_down(void **state)
{
    raw_close(&r);
    return agent_tear_down(state);
}

/* Places a call that opens the door; true if we are hung up on. */
static bool is_hung_up_on(const char *contact, const char *headers)
{
    char text[200];
    (void)snprintf(r.contact, sizeof r.contact, "%s", contact);
    (void)snprintf(text, sizeof text, "%s%s", headers, RAW_SDP);
    raw_request(&r, "INVITE", FAKE_OPEN, 1, text, raw_offer(&r, "sendrecv"));
    assert_int_equal(raw_final(&r), 200);
    raw_request(&r, "ACK", FAKE_OPEN, 1, "", "");
    return raw_requested(&r, "BYE");
}

/* PHONE-23 */
static void test_a_call_box_behind_nat_is_hung_up_on(void **state)
{
    (void)state;
    assert_true(is_hung_up_on("127.0.0.9:5999", ""));
    char line[100];
    (void)snprintf(line, sizeof line, "BYE sip:me@%s:%d SIP/2.0\r\n", r.host, r.sip_port);
    assert_ptr_equal(strstr(r.reply, line), r.reply);
}

static void test_a_call_box_with_an_unknown_name_is_hung_up_on(void **state)
{
    (void)state;
    assert_true(is_hung_up_on("box.invalid", ""));
}

/* PHONE-23 */
static void test_a_call_box_is_hung_up_on_over_its_connection(void **state)
{
    (void)state;
    raw_connect(&r);
    assert_true(is_hung_up_on("127.0.0.9:5999", ""));
}

static void test_a_call_box_that_does_not_listen_is_hung_up_on_over_its_connection(void **state)
{
    (void)state;
    raw_connect(&r);
    assert_true(is_hung_up_on("127.0.0.1:1;transport=tcp", ""));
}

static void test_a_call_box_at_another_port_is_hung_up_on_there(void **state)
{
    (void)state;
    struct raw other;
    raw_open(&other, sip_address(agent));
    (void)snprintf(r.contact, sizeof r.contact, "%s", other.contact);
    raw_invite(&r, FAKE_OPEN);
    assert_int_equal(raw_final(&r), 200);
    raw_request(&r, "ACK", FAKE_OPEN, 1, "", "");
    assert_true(raw_requested(&other, "BYE"));
    raw_close(&other);
}

/* PHONE-23 */
static void test_a_call_box_whose_connection_broke_is_hung_up_on_at_its_contact(void **state)
{
    (void)state;
    struct raw listener;
    raw_open(&listener, sip_address(agent)); /* listens over UDP at its Contact */
    raw_connect(&r);
    (void)snprintf(r.contact, sizeof r.contact, "127.0.0.1:%d;transport=udp", listener.sip_port);
    raw_invite(&r, FAKE_OPEN);
    assert_int_equal(raw_final(&r), 200);
    raw_request(&r, "ACK", FAKE_OPEN, 1, "", "");
    assert_true(raw_hears_rtp(&r));
    (void)shutdown(r.sip, SHUT_RDWR);
    assert_true(raw_requested(&listener, "BYE"));
    raw_close(&listener);
}

/* PHONE-23 */
static void test_the_proxy_of_a_call_is_told_to_hang_up(void **state)
{
    (void)state;
    char route[100];
    (void)snprintf(route, sizeof route, "Record-Route: <sip:%s:%d;lr>\r\n", r.host, r.sip_port);
    assert_true(is_hung_up_on("127.0.0.9:5999", route));
    assert_ptr_equal(strstr(r.reply, "BYE sip:me@127.0.0.9:5999 SIP/2.0\r\n"), r.reply);
}

static void test_a_new_contact_behind_nat_is_not_used_either(void **state)
{
    (void)state;
    raw_invite(&r, FAKE_CODE);
    assert_int_equal(raw_final(&r), 200);
    raw_request(&r, "ACK", FAKE_CODE, 1, "", "");
    (void)snprintf(r.contact, sizeof r.contact, "127.0.0.9:5999");
    raw_request(&r, "INVITE", FAKE_CODE, 2, RAW_SDP, raw_offer(&r, "sendrecv"));
    assert_int_equal(raw_final(&r), 200);
    raw_request(&r, "ACK", FAKE_CODE, 2, "", "");
    raw_request(&r, "INFO", FAKE_CODE, 3, "Content-Type: application/dtmf-relay\r\n", "Signal=7\r\n");
    assert_int_equal(raw_final(&r), 200);
    raw_request(&r, "INFO", FAKE_CODE, 4, "Content-Type: application/dtmf-relay\r\n", "Signal=#\r\n");
    assert_int_equal(raw_final(&r), 200);
    assert_true(raw_requested(&r, "BYE"));
}

/* An INVITE of about this size, with headers that nobody reads. */
static int answer_to_size(size_t size)
{
    static char headers[RAW_MESSAGE_MAX];
    size_t n = (size_t)snprintf(headers, sizeof headers, "%s", RAW_SDP);
    while (n < size)
        n += (size_t)snprintf(headers + n, sizeof headers - n, "X-Padding: %0500d\r\n", 0);
    raw_request(&r, "INVITE", FAKE_OPEN, 1, headers, raw_offer(&r, "sendrecv"));
    int status = raw_final(&r);
    raw_request(&r, "ACK", FAKE_OPEN, 1, "", "");
    assert_true(raw_requested(&r, "BYE"));
    raw_close(&r);
    raw_open_at(&r, "127.0.0.1", sip_address(agent));
    return status;
}

static void test_a_large_invite_is_answered(void **state)
{
    (void)state;
    static const size_t sizes[] = {7000, 8300, 20000, 60000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        assert_int_equal(answer_to_size(sizes[i]), 200);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down)
#define T6(name)                                                                                                       \
    {                                                                                                                  \
        "test_" #name "_over_ipv6", test_##name, set_up_ipv6, tear_down, NULL                                          \
    }
    const struct CMUnitTest tests[] = {
        T(a_call_box_behind_nat_is_hung_up_on),
        T6(a_call_box_behind_nat_is_hung_up_on),
        T(a_call_box_with_an_unknown_name_is_hung_up_on),
        T(a_call_box_is_hung_up_on_over_its_connection),
        T6(a_call_box_is_hung_up_on_over_its_connection),
        T(a_call_box_that_does_not_listen_is_hung_up_on_over_its_connection),
        T(a_call_box_at_another_port_is_hung_up_on_there),
        T(a_call_box_whose_connection_broke_is_hung_up_on_at_its_contact),
        T(the_proxy_of_a_call_is_told_to_hang_up),
        T(a_new_contact_behind_nat_is_not_used_either),
        T(a_large_invite_is_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
