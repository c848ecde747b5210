/* The bounds of received text: what libre reads, and messages that would hold it up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "media/sdp_text.h"
#include "sip/fixture.h"
#include "sip/text.h"

#define START  "INVITE sip:+15550100001@192.0.2.1 SIP/2.0\r\n"
#define COSTLY 60000 /* bytes: read by libre, each message below would take seconds */
#define TIMES  4     /* and these longer than a test waits */

static char text[RAW_MESSAGE_MAX];
static size_t length;

static void add(const char *part)
{
    length += (size_t)snprintf(text + length, sizeof text - length, "%s", part);
}

static void fill(const char *unit, size_t size)
{
    while (length < size)
        add(unit);
}

static void begin(const char *part)
{
    length = 0;
    add(part);
}

static enum sip_text checked(const char *end)
{
    add(end);
    return sip_text_check(str_n(text, length));
}

static bool fits(const char *end)
{
    return checked(end) == SIP_TEXT_COMPLETE;
}

static bool refused(const char *end)
{
    return checked(end) == SIP_TEXT_REFUSED;
}

static void test_messages_fit(void **state)
{
    (void)state;
    begin(START);
    assert_true(fits("CSeq: 1 INVITE\r\nVia: SIP/2.0/UDP 192.0.2.7\r\n\r\n"));
    begin("SIP/2.0 200 OK\r\n");
    assert_true(fits("CSeq: 2147483647 INVITE\r\n\r\n"));
    begin(START "CSeq:\r\n 1\r\n\tINVITE\r\nX-Long: ");
    fill("x", 4000);
    assert_true(fits("\r\n\r\n"));
    begin(START);
    for (int i = 0; i < 120; i++) {
        add("X-Many: ");
        fill("x", length + 450);
        add("\r\n");
    }
    assert_true(fits("\r\n"));
    begin(START "Content-Length: 9000\r\n\r\n");
    fill("body", 9000);
    assert_true(fits(""));
}

static void test_incomplete_messages_may_go_on(void **state)
{
    (void)state;
    static const char *const parts[] = {"",         "INVI", "TE sip:a@b SIP/2.0", "\r\nCSe", "q: 1 INVITE\r\n",
                                        "X: y\r\n", "\r"};
    begin("");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_int_equal(checked(parts[i]), SIP_TEXT_PART);
    assert_int_equal(checked("\n"), SIP_TEXT_COMPLETE);
}

/* PHONE-19 */
static void test_headers_are_counted(void **state)
{
    (void)state;
    begin(START);
    for (int i = 0; i < SIP_HEADERS_MAX; i++)
        add("X: y\r\n");
    assert_int_equal(checked(""), SIP_TEXT_PART);
    const size_t before = length;
    assert_true(fits("\r\n"));
    length = before;
    assert_true(refused("X: y\r\n\r\n"));
}

/* PHONE-19 */
static void test_long_lines_do_not_fit(void **state)
{
    (void)state;
    begin("INVITE sip:");
    fill("1", 4100);
    assert_true(refused("@b SIP/2.0\r\n\r\n"));
    begin("a");
    fill("a", 4100);
    assert_true(refused(""));
    begin(START "From: ");
    fill("a ", 4200);
    assert_true(refused("\r\n\r\n"));
    begin(START "From: ");
    fill("a\r\n ", 4200); /* continued */
    assert_true(refused("\r\n\r\n"));
    begin(START "X: a\r\nFrom: ");
    fill("a\n\r ", 4200);
    assert_true(refused("\r\n\r\n"));
}

static void test_a_long_cseq_does_not_fit_under_any_name(void **state)
{
    (void)state;
    static const char *const names[] = {"CSeq: ", "cseq:", "CSEQ \t:", "CSeq\r\n : ", "CSeq:\r\n\t"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        begin(START "Via: SIP/2.0/UDP 192.0.2.7\r\n");
        add(names[i]);
        fill("1", 200);
        assert_true(refused(" INVITE\r\n\r\n"));
    }
    begin(START " CSeq: ");
    fill("1", 200);
    assert_true(refused(" INVITE\r\n\r\n"));
    /* libre takes a header for CSeq if 12 bits of the hash of its name are the same */
    char name[8];
    unsigned i = 0;
    do
        (void)snprintf(name, sizeof name, "N%u", i++);
    while ((hash_joaat_ci(name, strlen(name)) & 0xfff) != SIP_HDR_CSEQ);
    begin(START);
    add(name);
    add(": ");
    fill("1", 200);
    assert_true(refused(" INVITE\r\n\r\n"));
}

static void test_other_text_is_no_message(void **state)
{
    (void)state;
    static const char *const lines[] = {"INVITE\r\n", "INVITE sip:a@b\r\n", " INVITE sip:a@b SIP/2.0\r\n",
                                        "INVITE  sip:a@b SIP/2.0\r\n", "\r\n\r\n"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        begin("");
        assert_true(refused(lines[i]));
    }
}

/* PHONE-19 */
static void test_sdp_is_bounded(void **state)
{
    (void)state;
    begin("");
    fill("m=audio 9 RTP/AVP 0 8 101\r\n", 16000);
    assert_true(sdp_text_fits(str_n(text, length)));
    fill("a=x\r\n", 16400);
    assert_false(sdp_text_fits(str_n(text, length)));
    begin("m=audio 9 RTP/AVP 0");
    fill(" 0", 1100);
    assert_false(sdp_text_fits(str_n(text, length)));
}

/* ---- at the service ---- */

static struct raw r;

static int set_up(void **state)
{
    agent_set_up(state);
    raw_open(&r, sip_address(agent));
    return 0;
}

static int tear_down(void **state)
{
    raw_close(&r);
    return agent_tear_down(state);
}

static void make_costly(int kind)
{
    static const char *const begins[] = {START "CSeq: ", "", "INVITE sip:a@b SIP/2.0 ", START "From: "};
    static const char *const units[] = {"1", "a", "a ", "a a"};
    begin(begins[kind]);
    fill(units[kind], COSTLY);
    add(" INVITE\r\nVia: SIP/2.0/UDP 127.0.0.1:5060;branch=z9hG4bKx\r\n\r\n");
}

static void is_served(void)
{
    raw_request(&r, "OPTIONS", FAKE_OPEN, 1, "", "");
    assert_int_equal(raw_final(&r), 200);
}

/* PHONE-19 */
static void test_datagrams_that_take_long_to_read_hold_up_nobody(void **state)
{
    (void)state;
    for (int i = 0; i < 4 * TIMES; i++) {
        make_costly(i % 4);
        raw_send(&r, text, length);
        usleep(1000); /* room in the socket's buffer */
    }
    is_served();
}

static void test_connections_that_take_long_to_read_hold_up_nobody(void **state)
{
    (void)state;
    struct raw others[4 * TIMES];
    for (int i = 0; i < 4 * TIMES; i++) {
        raw_open(&others[i], sip_address(agent));
        raw_connect(&others[i]);
        make_costly(i % 4);
        (void)send(others[i].sip, text, length, MSG_NOSIGNAL); /* the service may close it meanwhile */
    }
    is_served();
    for (int i = 0; i < 4 * TIMES; i++)
        raw_close(&others[i]);
}

/* libre itself would answer it: the bound holds where libre reads connections. */
static void test_a_connection_with_a_long_header_is_closed(void **state)
{
    (void)state;
    raw_connect(&r);
    begin("X-Padding: ");
    fill("x", 5000);
    add("\r\n");
    raw_request(&r, "OPTIONS", FAKE_OPEN, 1, text, "");
    assert_int_equal(raw_final(&r), 0);
}

static void test_an_offer_with_too_many_formats_is_refused(void **state)
{
    (void)state;
    begin("v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 9 RTP/AVP 0");
    fill(" 0", 10000);
    add("\r\n");
    raw_request(&r, "INVITE", FAKE_OPEN, 1, RAW_SDP, text);
    assert_int_equal(raw_final(&r), 488);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages_fit),
        cmocka_unit_test(test_incomplete_messages_may_go_on),
        cmocka_unit_test(test_headers_are_counted),
        cmocka_unit_test(test_long_lines_do_not_fit),
        cmocka_unit_test(test_a_long_cseq_does_not_fit_under_any_name),
        cmocka_unit_test(test_other_text_is_no_message),
        cmocka_unit_test(test_sdp_is_bounded),
        T(datagrams_that_take_long_to_read_hold_up_nobody),
        T(connections_that_take_long_to_read_hold_up_nobody),
        T(a_connection_with_a_long_header_is_closed),
        T(an_offer_with_too_many_formats_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
