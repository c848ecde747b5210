/* Residents' browsers in calls: a visitor and a phone by messages written by hand, and a browser's side of WebRTC. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "media/player.h"
#include "sip/call.h"
#include "sip/forward_scene.h"
#include "webrtc/raw_browser.h"

static struct browser b;
static bool by_program; /* the commands are of a program's key, not of a person */

#define KEY "aaaaaaaaaaaaaaaaaaaaaaa1"

static void first_call(void *arg)
{
    const struct sip_call *c = agent->dialogs.calls.head ? agent->dialogs.calls.head->data : NULL;
    struct call_command *ret = arg;
    if (c)
        *ret = (struct call_command){.building_id = c->machine.building_id,
                                     .call_id = c->story.arrival.id,
                                     .account_id = c->machine.building_id};
}

static enum err command(enum call_command_kind kind, const struct id *listener, struct str offer,
                        struct call_command_result *ret)
{
    struct call_command c = {.kind = kind};
    run_on_agent(first_call, &c);
    c.kind = kind;
    c.person = !by_program;
    memcpy(c.key_id.text, KEY, ID_LEN);
    if (listener)
        c.listener_id = *listener;
    c.offer = offer;
    return sip_command(agent, &c, ret);
}

static enum err act(enum call_command_kind kind, const struct id *listener)
{
    struct call_command_result unused;
    return command(kind, listener, STR_NONE, &unused);
}

static void turn_until(const unsigned *counter, unsigned n, bool shakes)
{
    for (int i = 0; i < RAW_PATIENCE_MS && *counter < n; i++) {
        browser_turn(&b, shakes);
        struct pollfd p = {.fd = b.fd, .events = POLLIN};
        (void)poll(&p, 1, 1);
    }
    assert_true(*counter >= n);
}

/* A browser listens, and its connection is up. The visitor is answered. */
static struct id listen_as(const char *direction, bool talked_to, int *ret_port)
{
    struct call_command_result result;
    browser_new(&b, BROWSER_GCM, true);
    assert_int_equal(command(CALL_COMMAND_LISTEN, NULL, str_z(browser_offer(&b, direction)), &result), ERR_NONE);
    assert_int_equal(result.answered, talked_to);
    browser_read_answer(&b, result.answer);
    free(result.answer);
    if (ret_port)
        *ret_port = visitor_answered();
    browser_check(&b, BROWSER_NOMINATES);
    turn_until(&b.answers, 1, false);
    for (int i = 0; i < RAW_PATIENCE_MS && !b.up; i++) {
        browser_turn(&b, true);
        struct pollfd p = {.fd = b.fd, .events = POLLIN};
        (void)poll(&p, 1, 1);
    }
    assert_true(b.up);
    return result.listener_id;
}

static void browser_hears_visitor(int port, uint8_t byte)
{
    static unsigned sequence = 1;
    const unsigned end = RAW_PATIENCE_MS / 20;
    for (unsigned i = 0; i < end; i++) {
        raw_audio(r.rtp, port, sequence++, 0, byte);
        struct pollfd p = {.fd = b.fd, .events = POLLIN};
        (void)poll(&p, 1, 20);
        browser_turn(&b, true);
        if (b.heard && b.last.payload[0] == byte)
            return;
    }
    fail_msg("the browser hears nothing");
}

static bool visitor_hears_browser(uint8_t byte, int times)
{
    for (int i = 0; i < times; i++) {
        browser_talk(&b, PT_PCMU, byte);
        if (raw_hears(r.rtp, 0, byte, 50))
            return true;
    }
    return false;
}

/* A visitor calls, and the resident's phone rings. */
static void ring(struct raw_phone *p)
{
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, p, FIRST));
    phone_rings(p);
    assert_int_equal(next_response(), 180);
}

/* CALL-28, CALL-29 */
static void test_a_browser_listens_answers_talks_and_hangs_up(void **state)
{
    (void)state;
    struct raw_phone p;
    int port;
    ring(&p);
    const struct id id = listen_as("sendrecv", false, &port);
    browser_hears_visitor(port, 0x55);
    assert_false(visitor_hears_browser(0x21, 10));
    assert_int_equal(act(CALL_COMMAND_ANSWER, &id), ERR_NONE);
    phone_cancelled(&p);
    assert_int_equal(act(CALL_COMMAND_ANSWER, &id), ERR_NONE);
    assert_true(visitor_hears_browser(0x22, 100));
    browser_hears_visitor(port, 0x56);
    assert_int_equal(act(CALL_COMMAND_OPEN, NULL), ERR_NONE);
    assert_int_equal(raw_heard_key(r.rtp, 96, RAW_PATIENCE_MS), '5');
    assert_true(visitor_hears_browser(0x23, 200));
    assert_int_equal(act(CALL_COMMAND_LEAVE, &id), ERR_NONE);
    visitor_hung_up_on();
    browser_free(&b);
}

/* CALL-28 */
static void test_a_phone_that_answers_first_keeps_the_call_and_the_browser_listens_on(void **state)
{
    (void)state;
    struct raw_phone p;
    const int port = connect_both(&p);
    const struct id id = listen_as("recvonly", true, NULL);
    browser_hears_visitor(port, 0x57);
    assert_int_equal(act(CALL_COMMAND_ANSWER, &id), ERR_CALL_ANSWERED);
    assert_int_equal(act(CALL_COMMAND_LEAVE, &id), ERR_NONE);
    assert_int_equal(act(CALL_COMMAND_LEAVE, &id), ERR_NOT_FOUND);
    audio_passes(r.rtp, port, 0, 0x55, trunk.rtp, 0, 0x55);
    browser_free(&b);
    hang_up_and_end(&p);
}

/* CALL-33 */
static void test_visitor_and_phone_hear_that_a_person_joins_them(void **state)
{
    (void)state;
    struct raw_phone p;
    (void)connect_both(&p);
    (void)listen_as("recvonly", true, NULL);
    assert_true(raw_hears_tone(r.rtp));
    assert_true(raw_hears_tone(trunk.rtp));
    browser_free(&b);
    hang_up_and_end(&p);
    assert_non_null(strstr(fake.steps, " listening conversation " KEY "\n"));
}

/* CALL-33 */
static void test_a_program_does_not_join_a_conversation(void **state)
{
    (void)state;
    struct raw_phone p;
    struct call_command_result result;
    (void)connect_both(&p);
    by_program = true;
    browser_new(&b, BROWSER_GCM, true);
    assert_int_equal(command(CALL_COMMAND_LISTEN, NULL, str_z(browser_offer(&b, "recvonly")), &result),
                     ERR_CALL_ANSWERED);
    by_program = false;
    browser_free(&b);
    hang_up_and_end(&p);
    assert_null(strstr(fake.steps, "listening"));
}

/* CALL-33 */
static void test_a_program_that_listened_goes_when_a_phone_is_answered(void **state)
{
    (void)state;
    struct raw_phone p;
    int port;
    ring(&p);
    by_program = true;
    const struct id id = listen_as("recvonly", false, &port);
    browser_hears_visitor(port, 0x59);
    phone_answers(&trunk, &p);
    for (int i = 0; i < RAW_PATIENCE_MS / 20 && act(CALL_COMMAND_ANSWER, &id) == ERR_CALL_ANSWERED; i++)
        usleep(20000);
    by_program = false;
    assert_int_equal(act(CALL_COMMAND_ANSWER, &id), ERR_NOT_FOUND);
    browser_free(&b);
    hang_up_and_end(&p);
    assert_non_null(strstr(fake.steps, " listening ringing " KEY "\n"));
    assert_null(strstr(fake.steps, "conversation"));
}

/* CALL-35 */
static void test_a_conversation_ends_with_its_key(void **state)
{
    (void)state;
    struct raw_phone p;
    int port;
    ring(&p);
    const struct id id = listen_as("sendrecv", false, &port);
    assert_int_equal(act(CALL_COMMAND_ANSWER, &id), ERR_NONE);
    phone_cancelled(&p);
    fake_key_ended = true;
    visitor_hung_up_on();
    fake_key_ended = false;
    browser_free(&b);
}

static void test_a_visitor_who_is_listened_to_may_hang_up(void **state)
{
    (void)state;
    struct raw_phone p;
    int port;
    ring(&p);
    const struct id id = listen_as("sendrecv", false, &port);
    visitor_hangs_up();
    phone_cancelled(&p);
    wait_for_calls(0);
    assert_int_equal(act(CALL_COMMAND_ANSWER, &id), ERR_NOT_FOUND);
    browser_free(&b);
}

/* CALL-30 */
static void test_nobody_takes_a_call_that_was_listened_to(void **state)
{
    (void)state;
    struct raw_phone p;
    int port;
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, &p, FIRST));
    const struct id id = listen_as("sendrecv", false, &port);
    trunk_respond(&trunk, p.invite, 486, "", "");
    browser_hears_visitor(port, 0x58); /* the call waits for the browser */
    assert_int_equal(act(CALL_COMMAND_LEAVE, &id), ERR_NONE);
    visitor_hung_up_on(); /* after the prompt */
    browser_free(&b);
}

static void test_an_offer_that_is_none_is_refused(void **state)
{
    (void)state;
    struct raw_phone p;
    struct call_command_result result;
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, &p, FIRST));
    assert_int_equal(command(CALL_COMMAND_LISTEN, NULL, STR("v=0\r\n"), &result), ERR_INVALID_SDP);
    assert_non_null(result.why);
    phone_rings(&p);
    visitor_cancels();
    phone_cancelled(&p);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_a_browser_listens_answers_talks_and_hangs_up),
        TEST(test_a_phone_that_answers_first_keeps_the_call_and_the_browser_listens_on),
        TEST(test_visitor_and_phone_hear_that_a_person_joins_them),
        TEST(test_a_program_does_not_join_a_conversation),
        TEST(test_a_program_that_listened_goes_when_a_phone_is_answered),
        TEST(test_a_conversation_ends_with_its_key),
        TEST(test_a_visitor_who_is_listened_to_may_hang_up),
        TEST(test_nobody_takes_a_call_that_was_listened_to),
        TEST(test_an_offer_that_is_none_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
