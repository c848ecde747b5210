/* Sessions of browsers, over UDP on loopback. The time of time-outs is the test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/clock.h"
#include "media/player.h"
#include "webrtc/private.h"
#include "webrtc/raw_browser.h"

#define PATIENCE_MS 20000

static struct webrtc *w;
static struct tick *tick;
static int64_t now_ms;
static struct browser b;
static struct webrtc_session *session;
static struct {
    unsigned ready, packets, gone;
    enum webrtc_end end;
    struct media_packet last;
    uint8_t payload[WEBRTC_PAYLOAD_MAX];
} told;
static enum { CLOSE_NEVER, CLOSE_READY, CLOSE_PACKET, CLOSE_GONE } closes;

/* ---- the owner ---- */

static void close_at(int when)
{
    if ((int)closes != when)
        return;
    webrtc_close(session);
    session = NULL;
}

static void on_ready(void *arg)
{
    (void)arg;
    told.ready++;
    close_at(CLOSE_READY);
}

static void on_packet(const struct media_packet *p, void *arg)
{
    (void)arg;
    told.packets++;
    told.last = *p;
    memcpy(told.payload, p->payload, p->n);
    close_at(CLOSE_PACKET);
}

static void on_gone(enum webrtc_end end, void *arg)
{
    (void)arg;
    told.gone++;
    told.end = end;
    close_at(CLOSE_GONE);
}

static const struct webrtc_events events = {.ready = on_ready, .packet = on_packet, .gone = on_gone};

static int64_t clock_of_test(void *arg)
{
    (void)arg;
    return now_ms;
}

static void open_endpoint(const char *host)
{
    struct sa at;
    assert_int_equal(sa_set_str(&at, host, 0), 0);
    assert_int_equal(webrtc_new(&w, &(struct webrtc_options){.listen = &at, .tick = tick, .now_ms = clock_of_test}),
                     ERR_NONE);
}

static int set_up(void **state)
{
    (void)state;
    now_ms = 1000000;
    memset(&told, 0, sizeof told);
    closes = CLOSE_NEVER;
    session = NULL;
    if (tick_new(&tick))
        return 1;
    open_endpoint("127.0.0.1");
    browser_new(&b, BROWSER_GCM ":" BROWSER_SHA1, true);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    webrtc_close(session);
    webrtc_free(w);
    tick_free(tick);
    browser_free(&b);
    return 0;
}

static enum webrtc_refusal try_offer(const char *offer, uint64_t owner, struct webrtc_session **ret)
{
    char answer[WEBRTC_ANSWER_MAX];
    const enum webrtc_refusal r =
        webrtc_open(w, &(struct webrtc_request){.offer = str_z(offer), .owner = owner}, &events, NULL, answer, ret);
    if (!r)
        browser_read_answer(&b, answer);
    return r;
}

static void open_session(const char *direction)
{
    assert_int_equal(try_offer(browser_offer(&b, direction), 1, &session), WEBRTC_TAKEN);
}

/* ---- turns ---- */

static void turn(bool shakes)
{
    webrtc_socket_drain(w->socket);
    webrtc_on_tick(w, now_ms);
    browser_turn(&b, shakes);
    struct pollfd p = {.fd = b.fd, .events = POLLIN};
    (void)poll(&p, 1, 1);
}

/* Turns until `*counter` is `n` at least. */
static void turn_until(const unsigned *counter, unsigned n, bool shakes)
{
    const int64_t end_us = clock_monotonic_us() + PATIENCE_MS * 1000LL;
    while (*counter < n && clock_monotonic_us() < end_us)
        turn(shakes);
    assert_true(*counter >= n);
}

static void turn_idle(bool shakes)
{
    for (int i = 0; i < 50; i++)
        turn(shakes);
}

static void pass_check(enum browser_check_kind kind)
{
    const unsigned before = b.answers;
    browser_check(&b, kind);
    turn_until(&b.answers, before + 1, false);
}

static void connect_browser(void)
{
    pass_check(BROWSER_NOMINATES);
    turn_until(&told.ready, 1, true);
    while (!b.up)
        turn(true);
}

static void say(uint16_t seq, uint8_t byte)
{
    uint8_t payload[160];
    memset(payload, byte, sizeof payload);
    webrtc_send(
        session,
        &(struct media_packet){
            .pt = PT_PCMU, .seq = seq, .ssrc = 5, .timestamp = seq * 160u, .payload = payload, .n = sizeof payload});
}

/* ---- talking ---- */

static void talk_with(const char *profiles)
{
    browser_free(&b);
    browser_new(&b, profiles, true);
    open_session("sendrecv");
    assert_true(webrtc_may_talk(session));
    connect_browser();
    assert_true(webrtc_ready(session));
    for (unsigned i = 0; i < 50; i++) { /* over the browser's wrap */
        say((uint16_t)(65530 + i), 0x21);
        browser_talk(&b, PT_PCMU, 0x5a);
        now_ms += 20;
    }
    turn_until(&told.packets, 50, true);
    turn_until(&b.heard, 50, true);
    now_ms += 5000;
    turn_until(&b.reports, 1, true);
    assert_int_equal(b.unreadable, 0);
    assert_int_equal(b.last.n, 160);
    assert_int_equal(b.last.payload[159], 0x21);
    assert_int_equal(told.last.n, 160);
    assert_int_equal(told.payload[0], 0x5a);
    const struct webrtc_counts counts = webrtc_counts(session);
    assert_int_equal(counts.in, 50);
    assert_int_equal(counts.out, 50);
    assert_int_equal(counts.refused, 0);
}

static void test_both_talk_with_gcm(void **state)
{
    (void)state;
    talk_with(BROWSER_GCM);
}

static void test_both_talk_with_sha1(void **state)
{
    (void)state;
    talk_with(BROWSER_SHA1);
}

static void test_a_browser_that_only_listens_gets_audio(void **state)
{
    (void)state;
    open_session("recvonly");
    assert_false(webrtc_may_talk(session));
    connect_browser();
    say(1, 0x21);
    turn_until(&b.heard, 1, true);
    browser_talk(&b, PT_PCMU, 0x5a); /* it may not */
    turn_idle(true);
    assert_int_equal(told.packets, 0);
}

static void test_losses_of_the_other_leg_stay_visible(void **state)
{
    (void)state;
    open_session("sendrecv");
    connect_browser();
    say(100, 1);
    turn_until(&b.heard, 1, true);
    const uint16_t seq = b.last.seq;
    const uint32_t timestamp = b.last.timestamp;
    say(104, 1);
    turn_until(&b.heard, 2, true);
    assert_int_equal((uint16_t)(b.last.seq - seq), 4);
    assert_int_equal(b.last.timestamp - timestamp, 640);
    assert_false(b.last.marker);
    say(103, 1); /* late */
    say(103, 1); /* twice: once is enough */
    turn_until(&b.heard, 3, true);
    turn_idle(true);
    assert_int_equal(b.heard, 3);
    assert_int_equal((uint16_t)(b.last.seq - seq), 3);
    assert_int_equal(b.last.timestamp - timestamp, 480);
    now_ms += 1000; /* another stream goes on where ours would be */
    webrtc_send(session,
                &(struct media_packet){.pt = PT_PCMA, .seq = 9, .ssrc = 6, .payload = (const uint8_t *)"\xd5", .n = 1});
    turn_until(&b.heard, 4, true);
    assert_int_equal((uint16_t)(b.last.seq - seq), 5);
    assert_int_equal(b.last.timestamp - timestamp, 640 + 8000);
    assert_true(b.last.marker);
    assert_int_equal(b.last.pt, PT_PCMU); /* recoded */
    assert_int_equal(b.last.payload[0], player_encode(PT_PCMU, player_decode(PT_PCMA, 0xd5)));
}

/* ---- the handshake ---- */

static void test_a_hello_in_two_datagrams_is_understood_in_both_orders(void **state)
{
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        SSL_set_mtu(b.ssl, 256);
        b.swap = swap;
        open_session("sendrecv");
        connect_browser();
        webrtc_close(session);
        session = NULL;
        told.ready = 0;
        browser_free(&b);
        browser_new(&b, BROWSER_GCM, true);
    }
}

static void test_a_handshake_survives_loss(void **state)
{
    (void)state;
    open_session("sendrecv");
    b.lose = 15;
    for (int i = 0; i < 100 && !b.answers; i++) {
        browser_check(&b, BROWSER_NOMINATES);
        turn_idle(false);
    }
    turn_until(&told.ready, 1, true);
}

static void refuse(bool certificate, const char *print, enum webrtc_end expected)
{
    browser_free(&b);
    browser_new(&b, BROWSER_GCM, certificate);
    if (print)
        (void)snprintf(b.print, sizeof b.print, "%s", print);
    open_session("sendrecv");
    pass_check(BROWSER_NOMINATES);
    turn_until(&told.gone, 1, true);
    assert_int_equal(told.end, expected);
    assert_int_equal(told.ready, 0);
    assert_false(webrtc_ready(session));
    say(1, 1); /* has no effect */
}

static const char other_print[] = "00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:"
                                  "00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF";

/* PHONE-51 */
static void test_another_certificate_is_refused(void **state)
{
    (void)state;
    refuse(true, other_print, WEBRTC_NOT_THE_OFFERER);
}

/* PHONE-51 */
static void test_a_browser_without_certificate_is_refused(void **state)
{
    (void)state;
    refuse(false, other_print, WEBRTC_NOT_THE_OFFERER);
}

static void test_a_browser_without_srtp_is_refused(void **state)
{
    (void)state;
    browser_free(&b);
    browser_new(&b, NULL, true);
    open_session("sendrecv");
    pass_check(BROWSER_NOMINATES);
    while (!told.gone) {
        webrtc_socket_drain(w->socket);
        browser_receive(&b);
        (void)DTLSv1_handle_timeout(b.ssl);
        (void)SSL_do_handshake(b.ssl);
        browser_send_dtls(&b);
    }
    assert_int_equal(told.end, WEBRTC_NO_HANDSHAKE);
}

/* ---- checks ---- */

/* PHONE-49 */
static void test_a_check_with_another_name_or_password_gets_no_answer(void **state)
{
    (void)state;
    char name[160], slot_of_other[160];
    open_session("sendrecv");
    (void)snprintf(name, sizeof name, "%s:" BROWSER_UFRAG, b.ufrag);
    (void)snprintf(slot_of_other, sizeof slot_of_other, "1ff%.60s:" BROWSER_UFRAG, b.ufrag + 3);
    browser_check_as(&b, name, "another password", BROWSER_NOMINATES);
    browser_check_as(&b, "000AAAAAAAA:" BROWSER_UFRAG, b.password, BROWSER_NOMINATES);
    browser_check_as(&b, slot_of_other, b.password, BROWSER_NOMINATES);
    browser_check_as(&b, "fffAAAAAAAA:" BROWSER_UFRAG, b.password, BROWSER_NOMINATES);
    browser_check_as(&b, b.ufrag, b.password, BROWSER_NOMINATES);
    name[strlen(name) - 1]++;
    browser_check_as(&b, name, b.password, BROWSER_NOMINATES);
    turn_idle(true); /* the browser's hello comes as well */
    assert_int_equal(b.answers + b.errors, 0);
    assert_null(session->path);
    assert_null(session->dtls);
}

static void test_a_browser_must_be_in_control(void **state)
{
    (void)state;
    open_session("sendrecv");
    browser_check(&b, BROWSER_CONTROLLED);
    turn_until(&b.errors, 1, false);
    assert_null(session->path);
}

/* PHONE-50 */
static void test_only_a_nominating_check_moves_the_audio(void **state)
{
    (void)state;
    struct browser moved;
    open_session("sendrecv");
    connect_browser();
    moved = b;
    browser_bind(&moved, "127.0.0.1");
    moved.answers = moved.heard = 0;
    browser_talk(&moved, PT_PCMU, 1); /* from an unchecked address */
    turn_idle(true);
    assert_int_equal(told.packets, 0);
    const struct browser before = b;
    b = moved;
    pass_check(BROWSER_PLAIN);
    say(1, 1);
    turn_idle(true);
    assert_int_equal(b.heard, 0);
    pass_check(BROWSER_NOMINATES);
    say(2, 1);
    turn_until(&b.heard, 1, true);
    browser_talk(&b, PT_PCMU, 1);
    turn_until(&told.packets, 1, true);
    close(before.fd);
}

/* PHONE-50 */
static void test_another_session_does_not_take_over_a_path_in_use(void **state)
{
    (void)state;
    struct webrtc_session *first, *second;
    open_session("sendrecv");
    connect_browser();
    first = session;
    assert_int_equal(try_offer(browser_offer(&b, "sendrecv"), 2, &second), WEBRTC_TAKEN);
    browser_check(&b, BROWSER_NOMINATES);
    turn_idle(true);
    assert_null(second->path);
    assert_non_null(first->path);
    now_ms += 11000; /* a path without checks may be taken over */
    pass_check(BROWSER_NOMINATES);
    assert_non_null(second->path);
    assert_null(first->path);
    say(1, 1); /* goes nowhere */
    webrtc_close(second);
}

/* PHONE-49 */
static void test_a_browser_may_use_many_addresses(void **state)
{
    (void)state;
    open_session("sendrecv");
    for (int i = 0; i < 20; i++) {
        close(b.fd);
        browser_bind(&b, "127.0.0.1");
        now_ms++;
        pass_check(i == 3 ? BROWSER_NOMINATES : BROWSER_PLAIN);
    }
    unsigned paths = 0;
    for (size_t i = 0; i < WEBRTC_PATHS_MAX; i++)
        paths += session->paths[i].session != NULL;
    assert_int_equal(paths, WEBRTC_PATHS_MAX);
    assert_non_null(session->path);
}

static void reach(const char *listen, const char *from, const char *to)
{
    webrtc_free(w);
    open_endpoint(listen);
    open_session("sendrecv");
    const uint16_t port = sa_port(webrtc_address(w));
    assert_int_equal(sa_set_str(&b.service, to, port), 0);
    close(b.fd);
    browser_bind(&b, from);
    assert_int_equal(connect(b.fd, &b.service.u.sa, b.service.len), 0); /* takes packets from there only */
    b.answers = 0;
    pass_check(BROWSER_NOMINATES);
    webrtc_close(session);
    session = NULL;
}

static void test_answers_leave_from_the_address_of_the_check(void **state)
{
    (void)state;
    reach("0.0.0.0", "127.0.0.5", "127.0.0.2");
    reach("::", "127.0.0.5", "127.0.0.2");
    reach("::", "::1", "::1");
}

/* ---- the end ---- */

static void test_a_browser_that_closes_is_gone_at_once(void **state)
{
    (void)state;
    open_session("sendrecv");
    connect_browser();
    (void)SSL_shutdown(b.ssl);
    turn_until(&told.gone, 1, true);
    assert_int_equal(told.end, WEBRTC_CLOSED);
    browser_check(&b, BROWSER_NOMINATES); /* is not answered any more */
    const unsigned answers = b.answers;
    turn_idle(true);
    assert_int_equal(b.answers, answers);
}

static void test_a_browser_hears_that_we_close(void **state)
{
    (void)state;
    open_session("sendrecv");
    connect_browser();
    webrtc_close(session);
    session = NULL;
    const int64_t end_us = clock_monotonic_us() + PATIENCE_MS * 1000LL;
    while (!(SSL_get_shutdown(b.ssl) & SSL_RECEIVED_SHUTDOWN) && clock_monotonic_us() < end_us)
        turn(true);
    assert_true(SSL_get_shutdown(b.ssl) & SSL_RECEIVED_SHUTDOWN);
    assert_int_equal(webrtc_count(w), 0);
    assert_int_equal(told.gone, 0);
}

static void pass_time(int64_t ms)
{
    now_ms += ms;
    webrtc_on_tick(w, now_ms);
}

static void test_a_browser_that_never_arrives_is_gone_after_15_s(void **state)
{
    (void)state;
    open_session("sendrecv");
    pass_time(14999);
    assert_int_equal(told.gone, 0);
    pass_time(1);
    assert_int_equal(told.gone, 1);
    assert_int_equal(told.end, WEBRTC_UNREACHED);
    pass_time(60000);
    assert_int_equal(told.gone, 1);
}

static void test_a_handshake_has_15_s(void **state)
{
    (void)state;
    open_session("sendrecv");
    pass_time(10000);
    pass_check(BROWSER_NOMINATES);
    pass_time(4999);
    assert_int_equal(told.gone, 0);
    pass_time(1);
    assert_int_equal(told.end, WEBRTC_NO_HANDSHAKE);
}

static void test_a_browser_without_checks_for_30_s_is_gone(void **state)
{
    (void)state;
    open_session("sendrecv");
    connect_browser();
    pass_time(29000);
    pass_check(BROWSER_PLAIN);
    pass_time(29999);
    browser_talk(&b, PT_PCMU, 1); /* packets are no consent */
    turn_until(&told.packets, 1, true);
    assert_int_equal(webrtc_alive_ms(session), now_ms);
    assert_int_equal(told.gone, 0);
    pass_time(1);
    assert_int_equal(told.end, WEBRTC_SILENT);
}

static void test_a_session_may_be_closed_within_each_report(void **state)
{
    (void)state;
    for (closes = CLOSE_READY; closes <= CLOSE_GONE; closes++) {
        open_session("sendrecv");
        pass_check(BROWSER_NOMINATES);
        told.ready = 0;
        turn_until(&told.ready, 1, true);
        while (closes != CLOSE_READY && !b.up)
            turn(true);
        if (closes == CLOSE_PACKET)
            browser_talk(&b, PT_PCMU, 1);
        if (closes == CLOSE_GONE)
            pass_time(30000);
        while (session)
            turn(true);
        assert_int_equal(webrtc_count(w), 0);
        browser_free(&b);
        browser_new(&b, BROWSER_GCM, true);
    }
}

/* ---- limits ---- */

static void test_sessions_are_bounded_for_an_owner_and_in_all(void **state)
{
    (void)state;
    static struct webrtc_session *all[WEBRTC_SESSIONS_MAX];
    struct webrtc_session *more;
    const char *offer = browser_offer(&b, "sendrecv");
    for (unsigned i = 0; i < WEBRTC_SESSIONS_MAX; i++) {
        assert_int_equal(try_offer(offer, i / WEBRTC_OWNER_MAX, &all[i]), WEBRTC_TAKEN);
        if (i == WEBRTC_OWNER_MAX - 1)
            assert_int_equal(try_offer(offer, 0, &more), WEBRTC_OWNER_HAS_MANY);
    }
    assert_int_equal(try_offer(offer, 10000, &more), WEBRTC_FULL);
    assert_int_equal(webrtc_count(w), WEBRTC_SESSIONS_MAX);
    webrtc_close(all[77]);
    assert_int_equal(try_offer(offer, 10000, &all[77]), WEBRTC_TAKEN);
    for (unsigned i = 0; i < WEBRTC_SESSIONS_MAX; i++)
        webrtc_close(all[i]);
}

static void test_an_endpoint_may_be_freed_with_sessions(void **state)
{
    (void)state;
    open_session("sendrecv");
    connect_browser();
    session = NULL; /* tear_down() frees the endpoint */
}

static void test_loopback_alone_is_told_apart(void **state)
{
    (void)state;
    struct sa external, at;
    struct webrtc *other;
    assert_true(webrtc_is_local(w));
    assert_int_equal(sa_set_str(&external, "192.0.2.7", 0) + sa_set_str(&at, "127.0.0.1", 0), 0);
    assert_int_equal(webrtc_new(&other, &(struct webrtc_options){.listen = &at, .external = &external, .tick = tick}),
                     ERR_NONE);
    assert_false(webrtc_is_local(other));
    webrtc_free(other);
    at = *webrtc_address(w);
    assert_int_equal(webrtc_new(&other, &(struct webrtc_options){.listen = &at, .tick = tick}), ERR_IO);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(both_talk_with_gcm),
        T(both_talk_with_sha1),
        T(a_browser_that_only_listens_gets_audio),
        T(losses_of_the_other_leg_stay_visible),
        T(a_hello_in_two_datagrams_is_understood_in_both_orders),
        T(a_handshake_survives_loss),
        T(another_certificate_is_refused),
        T(a_browser_without_certificate_is_refused),
        T(a_browser_without_srtp_is_refused),
        T(a_check_with_another_name_or_password_gets_no_answer),
        T(a_browser_must_be_in_control),
        T(only_a_nominating_check_moves_the_audio),
        T(another_session_does_not_take_over_a_path_in_use),
        T(a_browser_may_use_many_addresses),
        T(answers_leave_from_the_address_of_the_check),
        T(a_browser_that_closes_is_gone_at_once),
        T(a_browser_hears_that_we_close),
        T(a_browser_that_never_arrives_is_gone_after_15_s),
        T(a_handshake_has_15_s),
        T(a_browser_without_checks_for_30_s_is_gone),
        T(a_session_may_be_closed_within_each_report),
        T(sessions_are_bounded_for_an_owner_and_in_all),
        T(an_endpoint_may_be_freed_with_sessions),
        T(loopback_alone_is_told_apart),
    };
    if (libre_init())
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    libre_close();
    return failed;
}
