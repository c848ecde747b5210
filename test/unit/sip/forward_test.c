/* Forwarded calls of the SIP user agent: a visitor and the resident's phones, all by messages written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <re/re.h>
#include <rem/rem.h>

#include "sip/call.h"
#include "sip/forward_scene.h"

/* ---- one phone ---- */

static void test_visitor_and_resident_talk(void **state)
{
    (void)state;
    struct raw_phone p;
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, &p, FIRST));
    assert_non_null(strstr(p.invite, "\r\nFrom: <sip:" FAKE_RING "@"));
    phone_rings(&p);
    assert_int_equal(next_response(), 180);
    assert_int_equal(raw_receive(&r, 100), 0); /* not answered before the resident is there */
    phone_answers(&trunk, &p);
    const int port = visitor_answered();
    assert_true(trunk_receive(&trunk, "ACK", RAW_PATIENCE_MS));
    audio_passes(r.rtp, port, 0, 0x55, trunk.rtp, 0, 0x55);
    audio_passes(trunk.rtp, phone_media_port(&p), 0, 0x33, r.rtp, 0, 0x33);
    hang_up_and_end(&p);
}

static void test_the_resident_hangs_up(void **state)
{
    (void)state;
    struct raw_phone p;
    (void)connect_both(&p);
    phone_hangs_up(&p);
    visitor_hung_up_on();
}

static void test_the_resident_hangs_up_before_the_visitor_acknowledges(void **state)
{
    (void)state;
    struct raw_phone p;
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, &p, FIRST));
    phone_answers(&trunk, &p);
    assert_int_equal(raw_final(&r), 200);
    phone_hangs_up(&p);
    raw_request(&r, "ACK", FAKE_RING, 1, "", "");
    visitor_hung_up_on();
}

static void test_another_port_of_the_trunk_does_not_take_the_phone(void **state)
{
    (void)state;
    struct raw_phone p;
    struct raw other;
    (void)connect_both(&p);
    raw_open(&other, sip_address(agent));
    audio_passes(other.rtp, phone_media_port(&p), 0, 0x44, r.rtp, 0, 0x44);
    audio_passes(trunk.rtp, phone_media_port(&p), 0, 0x33, r.rtp, 0, 0x33);
    raw_audio(other.rtp, phone_media_port(&p), 2000, 0, 0x44);
    assert_false(raw_hears(r.rtp, 0, 0x44, 300));
    audio_passes(trunk.rtp, phone_media_port(&p), 0, 0x33, r.rtp, 0, 0x33);
    raw_close(&other);
    hang_up_and_end(&p);
}

static void test_audio_is_recoded_where_the_formats_differ(void **state)
{
    (void)state;
    struct raw_phone p;
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, &p, FIRST));
    trunk_respond(&trunk, p.invite, 200, "", phone_sdp(&trunk, 8, "sendrecv"));
    const int port = visitor_answered();
    audio_passes(r.rtp, port, 0, 0x10, trunk.rtp, 8, g711_pcm2alaw(g711_ulaw2pcm(0x10)));
    audio_passes(trunk.rtp, phone_media_port(&p), 8, 0x20, r.rtp, 0, g711_pcm2ulaw(g711_alaw2pcm(0x20)));
    hang_up_and_end(&p);
}

static void test_a_phone_on_hold_gets_no_audio_until_it_resumes(void **state)
{
    (void)state;
    struct raw_phone p;
    const int port = connect_both(&p);
    audio_passes(r.rtp, port, 0, 0x55, trunk.rtp, 0, 0x55);
    phone_requests(&trunk, &p, "INVITE", phone_sdp(&trunk, 0, "sendonly"));
    assert_true(trunk_receive(&trunk, "200", RAW_PATIENCE_MS));
    assert_non_null(strstr(trunk.request, "a=recvonly"));
    phone_requests(&trunk, &p, "ACK", "");
    while (raw_hears(trunk.rtp, 0, 0x55, 50) || raw_hears(trunk.rtp, 0, 0xff, 50))
        ;
    raw_audio(r.rtp, port, 9000, 0, 0x55);
    assert_false(raw_hears(trunk.rtp, 0, 0x55, 200));
    phone_requests(&trunk, &p, "INVITE", phone_sdp(&trunk, 0, "sendrecv"));
    assert_true(trunk_receive(&trunk, "200", RAW_PATIENCE_MS));
    phone_requests(&trunk, &p, "ACK", "");
    for (unsigned i = 0; i < 100 && !raw_hears(trunk.rtp, 0, 0x55, 100); i++)
        raw_audio(r.rtp, port, 9001 + i, 0, 0x55);
    hang_up_and_end(&p);
}

/* PHONE-31 */
static void test_the_visitor_hears_early_media(void **state)
{
    (void)state;
    struct raw_phone p;
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, &p, FIRST));
    trunk_respond(&trunk, p.invite, 183, "", phone_sdp(&trunk, 0, "sendrecv"));
    assert_int_equal(next_response(), 183);
    assert_int_not_equal(raw_media_port(&r), 0);
    audio_passes(trunk.rtp, phone_media_port(&p), 0, 0x44, r.rtp, 0, 0x44);
    phone_answers(&trunk, &p);
    (void)visitor_answered();
    audio_passes(trunk.rtp, phone_media_port(&p), 0, 0x66, r.rtp, 0, 0x66);
    hang_up_and_end(&p);
}

static void refused_by_phone(int status)
{
    struct raw_phone p;
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, &p, FIRST));
    trunk_respond(&trunk, p.invite, status, "", "");
    (void)visitor_answered(); /* to be told so */
    visitor_hung_up_on();
}

static void test_a_busy_phone_ends_the_call(void **state)
{
    (void)state;
    refused_by_phone(486);
}

static void test_a_declined_call_ends(void **state)
{
    (void)state;
    refused_by_phone(603);
}

static void test_a_phone_that_does_not_answer_is_cancelled(void **state)
{
    (void)state;
    struct raw_phone p;
    ring_for(1);
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, &p, FIRST));
    phone_rings(&p);
    phone_cancelled(&p);
    (void)visitor_answered();
    visitor_hung_up_on();
}

/* ---- several phones ---- */

/* PHONE-30 */
static void test_all_phones_ring_and_the_first_answer_cancels_the_others(void **state)
{
    (void)state;
    struct raw_phone first, second;
    rings(RING_ALL, false, FIRST, SECOND, NULL);
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, &first, FIRST));
    phone_rings(&first);
    assert_true(phone_called(&trunk, &second, SECOND));
    phone_rings(&second);
    assert_int_equal(next_response(), 180);
    phone_answers(&trunk, &second);
    phone_cancelled(&first);
    (void)visitor_answered();
    hang_up_and_end(&second);
}

/* PHONE-30 */
static void test_an_answer_that_crosses_its_cancellation_is_hung_up(void **state)
{
    (void)state;
    struct raw_phone first, second;
    rings(RING_ALL, false, FIRST, SECOND, NULL);
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, &first, FIRST));
    phone_rings(&first);
    assert_true(phone_called(&trunk, &second, SECOND));
    phone_rings(&second);
    phone_answers(&trunk, &second);
    phone_answers(&trunk, &first);
    assert_true(trunk_receive(&trunk, "BYE", RAW_PATIENCE_MS));
    assert_string_equal(raw_header(trunk.request, "Call-ID"), raw_header(first.invite, "Call-ID"));
    trunk_respond(&trunk, trunk.request, 200, "", "");
    (void)visitor_answered();
    hang_up_and_end(&second);
}

static void test_phones_ring_in_turn(void **state)
{
    (void)state;
    struct raw_phone p;
    rings(RING_ORDER, false, FIRST, SECOND, THIRD);
    ring_for(1);
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, &p, FIRST));
    trunk_respond(&trunk, p.invite, 486, "", "");
    assert_true(phone_called(&trunk, &p, SECOND));
    phone_rings(&p);
    phone_cancelled(&p);
    assert_true(phone_called(&trunk, &p, THIRD));
    phone_answers(&trunk, &p);
    (void)visitor_answered();
    hang_up_and_end(&p);
}

/* ---- accepting and opening ---- */

/* PHONE-30 */
static void test_a_call_is_accepted_with_1(void **state)
{
    (void)state;
    struct raw_phone p;
    rings(RING_ALL, true, FIRST, NULL, NULL);
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, &p, FIRST));
    phone_rings(&p);
    assert_int_equal(next_response(), 180);
    phone_answers(&trunk, &p);
    assert_true(trunk_receive(&trunk, "ACK", RAW_PATIENCE_MS));
    assert_int_equal(raw_receive(&r, 200), 0);
    phone_presses(&p, 1);
    (void)visitor_answered();
    audio_passes(trunk.rtp, phone_media_port(&p), 0, 0x33, r.rtp, 0, 0x33);
    hang_up_and_end(&p);
}

/* PHONE-32 */
static void test_9_opens_without_accepting(void **state)
{
    (void)state;
    struct raw_phone p;
    rings(RING_ALL, true, FIRST, NULL, NULL);
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, &p, FIRST));
    phone_answers(&trunk, &p);
    assert_true(trunk_receive(&trunk, "ACK", RAW_PATIENCE_MS));
    phone_presses(&p, 9);
    (void)visitor_answered();
    assert_int_equal(raw_heard_key(r.rtp, 96, RAW_PATIENCE_MS), '5');
    visitor_hung_up_on();
    phone_hung_up_on();
}

static void test_a_call_declined_with_the_star_key_ends(void **state)
{
    (void)state;
    struct raw_phone p;
    rings(RING_ALL, true, FIRST, NULL, NULL);
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, &p, FIRST));
    phone_answers(&trunk, &p);
    assert_true(trunk_receive(&trunk, "ACK", RAW_PATIENCE_MS));
    phone_presses(&p, 10);
    phone_hung_up_on();
    (void)visitor_answered();
    visitor_hung_up_on();
}

/* Opens the door twice; the resident's keys never reach the visitor. */
/* PHONE-32 */
static void test_the_resident_opens_the_door_and_talks_on(void **state)
{
    (void)state;
    struct raw_phone p;
    (void)connect_both(&p);
    for (int i = 0; i < 2; i++) {
        phone_presses(&p, i ? 5 : 9);
        assert_int_equal(raw_heard_key(r.rtp, 96, RAW_PATIENCE_MS), '5');
        audio_passes(trunk.rtp, phone_media_port(&p), 0, 0x33, r.rtp, 0, 0x33);
        usleep(1000000); /* the door can be opened again once the tone was heard */
    }
    hang_up_and_end(&p);
}

/* ---- without a phone ---- */

static void first_call(void *arg)
{
    const struct sip_call *c = agent->dialogs.calls.head ? agent->dialogs.calls.head->data : NULL;
    struct call_command *ret = arg;
    if (c)
        *ret = (struct call_command){.building_id = c->machine.building_id, .call_id = c->story.arrival.id};
}

/* A command to the call in progress. */
static struct call_command command_of(enum call_command_kind kind)
{
    struct call_command command;
    run_on_agent(first_call, &command);
    command.kind = kind;
    return command;
}

static void resident_opens(void)
{
    const struct call_command command = command_of(CALL_COMMAND_OPEN);
    assert_int_equal(sip_command(agent, &command, &(struct call_command_result){.why = NULL}), ERR_NONE);
}

static void test_the_resident_opens_without_a_phone_while_it_rings(void **state)
{
    (void)state;
    struct raw_phone p;
    const int records = fake_count(&fake.records);
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, &p, FIRST));
    phone_rings(&p);
    assert_int_equal(next_response(), 180);
    resident_opens();
    phone_cancelled(&p);
    (void)visitor_answered();
    assert_int_equal(raw_heard_key(r.rtp, 96, RAW_PATIENCE_MS), '5');
    resident_opens(); /* once more, without effect */
    visitor_hung_up_on();
    wait_for_record(records);
    char steps[sizeof fake.steps];
    pthread_mutex_lock(&fake.lock);
    memcpy(steps, fake.steps, sizeof steps);
    pthread_mutex_unlock(&fake.lock);
    const char *opened = strstr(steps, " resident_opened request\n");
    assert_non_null(opened);
    assert_null(strstr(opened + strlen(" resident_opened"), "resident_opened"));
}

static void test_the_resident_opens_without_a_phone_and_talks_on(void **state)
{
    (void)state;
    struct raw_phone p;
    (void)connect_both(&p);
    for (int i = 0; i < 2; i++) {
        resident_opens();
        assert_int_equal(raw_heard_key(r.rtp, 96, RAW_PATIENCE_MS), '5');
        audio_passes(trunk.rtp, phone_media_port(&p), 0, 0x33, r.rtp, 0, 0x33);
        usleep(1000000);
    }
    hang_up_and_end(&p);
}

static void browsers_ring(bool ring)
{
    pthread_mutex_lock(&fake.lock);
    fake.browsers = ring;
    pthread_mutex_unlock(&fake.lock);
}

/* CALL-11 */
static void test_a_visitor_without_a_phone_waits_for_browsers(void **state)
{
    (void)state;
    rings(RING_ALL, false, NULL, NULL, NULL);
    browsers_ring(true);
    visit(FAKE_RING);
    assert_int_equal(next_response(), 180);
    resident_opens();
    (void)visitor_answered();
    assert_int_equal(raw_heard_key(r.rtp, 96, RAW_PATIENCE_MS), '5');
    visitor_hung_up_on();
    browsers_ring(false);
}

static void test_a_command_needs_its_call(void **state)
{
    (void)state;
    visit(FAKE_SILENT);
    (void)visitor_answered();
    const struct call_command asked = command_of(CALL_COMMAND_OPEN);
    assert_int_equal(sip_command(agent, &asked, &(struct call_command_result){.why = NULL}), ERR_CALL_NOT_FORWARDED);
    struct call_command other = asked;
    other.building_id.text[0] ^= 1;
    assert_int_equal(sip_command(agent, &other, &(struct call_command_result){.why = NULL}), ERR_NOT_FOUND);
    other = asked;
    other.call_id.text[0] ^= 1;
    assert_int_equal(sip_command(agent, &other, &(struct call_command_result){.why = NULL}), ERR_NOT_FOUND);
    visitor_hangs_up();
    wait_for_calls(0);
    assert_int_equal(sip_command(agent, &asked, &(struct call_command_result){.why = NULL}), ERR_NOT_FOUND);
}

static void test_the_resident_hangs_up_with_the_star_key(void **state)
{
    (void)state;
    struct raw_phone p;
    (void)connect_both(&p);
    phone_presses(&p, 10);
    phone_hung_up_on();
    visitor_hung_up_on();
}

static void test_keys_count_as_sip_info(void **state)
{
    (void)state;
    struct raw_phone p;
    char head[4096];
    (void)connect_both(&p);
    static const char body[] = "Signal=9\r\nDuration=100\r\n";
    (void)snprintf(head, sizeof head,
                   "INFO sip:portero@127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.1:%d;branch=z9hG4bKinfo;rport\r\n"
                   "From: %s;tag=phone\r\nTo: %s\r\n%s\r\nCSeq: %u INFO\r\nMax-Forwards: 70\r\n"
                   "Content-Type: application/dtmf-relay\r\nContent-Length: %zu\r\n\r\n%s",
                   trunk.port, raw_value(p.invite, "To"), raw_value(p.invite, "From"), raw_header(p.invite, "Call-ID"),
                   p.cseq++, strlen(body), body);
    if (sendto(trunk.sip, head, strlen(head), 0, (struct sockaddr *)&trunk.service, sizeof trunk.service) < 0)
        abort();
    assert_int_equal(raw_heard_key(r.rtp, 96, RAW_PATIENCE_MS), '5');
    hang_up_and_end(&p);
}

/* ---- a call that was answered before ---- */

/* PHONE-31 */
static void test_a_visitor_who_was_asked_for_a_code_hears_ring_back(void **state)
{
    (void)state;
    struct raw_phone p;
    visit(FAKE_TRY);
    const int port = visitor_answered();
    for (uint32_t i = 1; i <= 3; i++) {
        raw_press(r.rtp, port, 10000 * i, 1);
        raw_press(r.rtp, port, 10000 * i + 4000, 11);
        wait_for_codes((int)i);
        usleep(700000); /* until the service has read the packets and collects again */
    }
    assert_true(phone_called(&trunk, &p, FIRST));
    phone_rings(&p);
    bool tone = false;
    for (int i = 0; i < 500 && !tone; i++) {
        uint8_t packet[2048];
        struct pollfd f = {.fd = r.rtp, .events = POLLIN};
        tone = poll(&f, 1, 1000) > 0 && recv(r.rtp, packet, sizeof packet, 0) == 172 && packet[12 + 80] != 0xff;
    }
    assert_true(tone);
    phone_answers(&trunk, &p);
    audio_passes(trunk.rtp, phone_media_port(&p), 0, 0x33, r.rtp, 0, 0x33);
    audio_passes(r.rtp, port, 0, 0x55, trunk.rtp, 0, 0x55);
    hang_up_and_end(&p);
}

/* ---- trunks ---- */

/* PHONE-27 */
static void test_the_next_trunk_takes_a_call_that_the_first_cannot_place(void **state)
{
    (void)state;
    struct raw_phone p;
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, &p, FIRST));
    trunk_respond(&trunk, p.invite, 503, "", "");
    assert_true(phone_called(&spare, &p, FIRST));
    phone_answers(&spare, &p);
    (void)visitor_answered();
    visitor_hangs_up();
    assert_true(trunk_receive(&spare, "BYE", RAW_PATIENCE_MS));
    trunk_respond(&spare, spare.request, 200, "", "");
}

static void test_a_call_that_no_trunk_places_ends(void **state)
{
    (void)state;
    struct raw_phone p;
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, &p, FIRST));
    trunk_respond(&trunk, p.invite, 503, "", "");
    assert_true(phone_called(&spare, &p, FIRST));
    trunk_respond(&spare, p.invite, 404, "", "");
    (void)visitor_answered();
    visitor_hung_up_on();
}

static void test_a_challenge_is_answered(void **state)
{
    (void)state;
    struct raw_phone p;
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, &p, FIRST));
    trunk_respond(&trunk, p.invite, 407, "Proxy-Authenticate: Digest realm=\"trunk\", nonce=\"abc\"\r\n", "");
    assert_true(phone_called(&trunk, &p, FIRST));
    assert_non_null(strstr(p.invite, "\r\nProxy-Authorization: Digest username=\"box\""));
    phone_answers(&trunk, &p);
    (void)visitor_answered();
    hang_up_and_end(&p);
}

/* ---- the visitor gives up ---- */

static void test_a_cancelled_call_stops_ringing(void **state)
{
    (void)state;
    struct raw_phone p;
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, &p, FIRST));
    visitor_cancels(); /* before any response: CANCEL must wait for one (RFC 3261, 9.1) */
    phone_rings(&p);
    phone_cancelled(&p);

    next_visitor();
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, &p, FIRST));
    phone_rings(&p);
    assert_int_equal(next_response(), 180);
    visitor_cancels();
    phone_cancelled(&p);
}

static void test_a_call_cancelled_while_the_resident_is_asked_hangs_up_there(void **state)
{
    (void)state;
    struct raw_phone p;
    rings(RING_ALL, true, FIRST, NULL, NULL);
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, &p, FIRST));
    phone_answers(&trunk, &p);
    assert_true(trunk_receive(&trunk, "ACK", RAW_PATIENCE_MS));
    visitor_cancels();
    phone_hung_up_on();
}

/* CANCEL and the resident's 200 cross: whichever comes first, both sides end. */
static void test_cancel_and_answer_may_cross(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        struct raw_phone p;
        next_visitor();
        visit(FAKE_RING);
        assert_true(phone_called(&trunk, &p, FIRST));
        phone_rings(&p);
        assert_int_equal(next_response(), 180);
        if (i % 2)
            phone_answers(&trunk, &p);
        if (i % 4 > 1)
            usleep((useconds_t)(i * 50));
        raw_request(&r, "CANCEL", FAKE_RING, 1, "", "");
        if (i % 2 == 0)
            phone_answers(&trunk, &p);
        int status = raw_final(&r);
        for (bool cancelled = false; !cancelled; status = raw_final(&r)) {
            cancelled = status == 487;
            if (strstr(r.reply, "1 INVITE") && status == 200) { /* the answer won */
                raw_request(&r, "ACK", FAKE_RING, 1, "", "");
                raw_request(&r, "BYE", FAKE_RING, 2, "", "");
                break;
            }
            if (cancelled) {
                raw_request(&r, "ACK", FAKE_RING, 1, "", "");
                break;
            }
        }
        phone_hung_up_on();
        wait_for_calls(0);
    }
}

static void test_a_stopping_service_hangs_up_on_both(void **state)
{
    (void)state;
    struct raw_phone p;
    (void)connect_both(&p);
    stopped = true;
    sip_wind_down(agent, 100);
    visitor_hung_up_on();
    phone_hung_up_on();
}

/* SERVICE-17 */
static void test_a_conversation_is_told_before_a_stopping_service_ends_it(void **state)
{
    (void)state;
    struct raw_phone p;
    (void)connect_both(&p);
    stopped = true;
    sip_wind_down(agent, 1500);
    assert_true(raw_hears_tone(r.rtp));
    assert_true(raw_hears_tone(trunk.rtp));
    visitor_hung_up_on();
    phone_hung_up_on();
    wait_for_record(0);
    assert_non_null(strstr(fake.steps, " said closing\n"));
    assert_non_null(strstr(fake.steps, " ended stop\n"));
}

static void test_a_stopping_service_tells_a_visitor_whose_resident_did_not_answer(void **state)
{
    (void)state;
    struct raw_phone p;
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, &p, FIRST));
    phone_rings(&p);
    assert_int_equal(next_response(), 180);
    stopped = true;
    sip_wind_down(agent, 3000);
    (void)visitor_answered();
    assert_true(raw_hears_tone(r.rtp));
    phone_cancelled(&p);
    visitor_hung_up_on();
}

/* ---- many calls at once ---- */

static void forge(struct raw *callers, size_t n, const char *number)
{
    for (size_t i = 0; i < n; i++) {
        raw_open(&callers[i], sip_address(agent));
        raw_invite(&callers[i], number);
    }
}

static void test_a_ringing_call_outlives_unacknowledged_ones(void **state)
{
    (void)state;
    struct raw_phone p;
    struct raw others[6];
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, &p, FIRST));
    phone_rings(&p);
    assert_int_equal(next_response(), 180);
    forge(others, ARRAY_SIZE(others), FAKE_CODE);
    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        assert_int_equal(raw_final(&others[i]), i < 5 ? 200 : 503); /* three quarters of the places */
    phone_answers(&trunk, &p);
    (void)visitor_answered();
    hang_up_and_end(&p);
    for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
        raw_request(&others[i], "BYE", FAKE_CODE, 2, "", "");
        raw_close(&others[i]);
    }
}

/* They ring for long, and their address may be forged. */
static void test_ringing_calls_leave_places_to_connections(void **state)
{
    (void)state;
    struct raw others[7];
    for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
        forge(&others[i], 1, FAKE_RING);
        wait_for_calls(i < 6 ? (unsigned)i + 1 : 6); /* three quarters of the places */
    }
    assert_int_equal(raw_final(&others[6]), 503);
    raw_connect(&r);
    visit(FAKE_CODE);
    (void)visitor_answered();
    visitor_hangs_up();
    for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
        raw_request(&others[i], "CANCEL", FAKE_RING, 1, "", "");
        raw_close(&others[i]);
    }
    while (trunk_receive(&trunk, "INVITE", 100))
        trunk_respond(&trunk, trunk.request, 486, "", "");
    wait_for_calls(0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_visitor_and_resident_talk),
        TEST(test_the_resident_hangs_up),
        TEST(test_the_resident_hangs_up_before_the_visitor_acknowledges),
        TEST(test_another_port_of_the_trunk_does_not_take_the_phone),
        TEST(test_audio_is_recoded_where_the_formats_differ),
        TEST(test_a_phone_on_hold_gets_no_audio_until_it_resumes),
        TEST(test_the_visitor_hears_early_media),
        TEST(test_a_busy_phone_ends_the_call),
        TEST(test_a_declined_call_ends),
        TEST(test_a_phone_that_does_not_answer_is_cancelled),
        TEST(test_all_phones_ring_and_the_first_answer_cancels_the_others),
        TEST(test_an_answer_that_crosses_its_cancellation_is_hung_up),
        TEST(test_phones_ring_in_turn),
        TEST(test_a_call_is_accepted_with_1),
        TEST(test_9_opens_without_accepting),
        TEST(test_a_call_declined_with_the_star_key_ends),
        TEST(test_the_resident_opens_the_door_and_talks_on),
        TEST(test_the_resident_opens_without_a_phone_while_it_rings),
        TEST(test_the_resident_opens_without_a_phone_and_talks_on),
        TEST(test_a_visitor_without_a_phone_waits_for_browsers),
        TEST(test_a_command_needs_its_call),
        TEST(test_the_resident_hangs_up_with_the_star_key),
        TEST(test_keys_count_as_sip_info),
        TEST(test_a_visitor_who_was_asked_for_a_code_hears_ring_back),
        TEST(test_the_next_trunk_takes_a_call_that_the_first_cannot_place),
        TEST(test_a_call_that_no_trunk_places_ends),
        TEST(test_a_challenge_is_answered),
        TEST(test_a_cancelled_call_stops_ringing),
        TEST(test_a_call_cancelled_while_the_resident_is_asked_hangs_up_there),
        TEST(test_cancel_and_answer_may_cross),
        TEST(test_a_stopping_service_hangs_up_on_both),
        TEST(test_a_conversation_is_told_before_a_stopping_service_ends_it),
        TEST(test_a_stopping_service_tells_a_visitor_whose_resident_did_not_answer),
        TEST(test_a_ringing_call_outlives_unacknowledged_ones),
        TEST(test_ringing_calls_leave_places_to_connections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
