/* The release tone of a building: its form, and SIP INFO. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "sip/fixture.h"

static struct raw r;

static void release_as(struct release form)
{
    pthread_mutex_lock(&fake.lock);
    fake.release = form;
    pthread_mutex_unlock(&fake.lock);
}

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

/* A call that the service answers with a door that is open at once, or with code 7. */
static void call_door(const char *number, const char *offer)
{
    raw_request(&r, "INVITE", number, 1, RAW_SDP, offer);
    assert_int_equal(raw_final(&r), 200);
    const int port = raw_media_port(&r);
    raw_request(&r, "ACK", number, 1, "", "");
    if (strcmp(number, FAKE_CODE) == 0) {
        raw_press(r.rtp, port, 1000, 7);
        raw_press(r.rtp, port, 3000, 11);
    }
}

/* Answers the INFO that was received, and returns its key; 0 for another request. */
static char take_info(int status)
{
    char reply[2048], via[300] = "", from[200] = "", to[200] = "", id[200] = "", cseq[60] = "";
    if (strncmp(r.reply, "INFO ", 5) != 0)
        return 0;
    (void)sscanf(strstr(r.reply, "\r\nVia: ") + 2, "%299[^\r]", via);
    (void)sscanf(strstr(r.reply, "\r\nFrom: ") + 2, "%199[^\r]", from);
    (void)sscanf(strstr(r.reply, "\r\nTo: ") + 2, "%199[^\r]", to);
    (void)sscanf(strstr(r.reply, "\r\nCall-ID: ") + 2, "%199[^\r]", id);
    (void)sscanf(strstr(r.reply, "\r\nCSeq: ") + 2, "%59[^\r]", cseq);
    const int n =
        snprintf(reply, sizeof reply, "SIP/2.0 %d X\r\n%s\r\n%s\r\n%s\r\n%s\r\n%s\r\nContent-Length: 0\r\n\r\n", status,
                 via, from, to, id, cseq);
    raw_send(&r, reply, (size_t)n);
    assert_non_null(strstr(r.reply, "Content-Type: application/dtmf-relay\r\n"));
    const char *signal = strstr(r.reply, "\r\n\r\nSignal=");
    return signal ? signal[11] : 0;
}

/* The keys of the requests until the BYE. */
static void collect_infos(int status, char *ret)
{
    int got;
    while ((got = raw_receive(&r, RAW_PATIENCE_MS)) == 1 && strncmp(r.reply, "BYE ", 4) != 0)
        *ret++ = take_info(status);
    *ret = '\0';
    assert_int_equal(got, 1);
}

/* The keys of the events that arrive until nothing comes, with the number of silent packets before the first. */
static void collect_events(char *ret, unsigned *ret_silence, size_t *ret_tones)
{
    uint8_t packet[2048];
    uint32_t last = 0;
    struct pollfd p = {.fd = r.rtp, .events = POLLIN};
    *ret_silence = 0;
    *ret_tones = 0;
    char *at = ret;
    while (poll(&p, 1, 1500) > 0) {
        const ssize_t n = recv(r.rtp, packet, sizeof packet, 0);
        uint32_t timestamp;
        memcpy(&timestamp, packet + 4, 4);
        if (n == 16 && (packet[1] & 0x7f) == 96) {
            if (timestamp != last)
                *at++ = "0123456789*#"[packet[12] % 12];
            last = timestamp;
        } else if (n == 172 && at == ret && packet[12] == 0xff && packet[171] == 0xff) {
            ++*ret_silence;
        } else if (n == 172 && (packet[12] != 0xff || packet[171] != 0xff)) {
            ++*ret_tones;
        }
    }
    *at = '\0';
}

static void test_the_tone_waits_and_is_repeated_as_the_building_asks(void **state)
{
    (void)state;
    char keys[32];
    unsigned silence;
    size_t tones;
    release_as((struct release){.length_ms = 60, .gap_ms = 60, .delay_ms = 400, .repeat = 3});
    call_door(FAKE_OPEN, raw_offer(&r, "sendrecv"));
    collect_events(keys, &silence, &tones);
    assert_string_equal(keys, "999");
    assert_in_range(silence, 20, 25);
    assert_int_equal(tones, 0);
}

static void test_the_tone_is_in_the_audio_if_the_building_asks_for_it(void **state)
{
    (void)state;
    char keys[32];
    unsigned silence;
    size_t tones;
    release_as((struct release){.length_ms = 100, .gap_ms = 60, .delay_ms = 200, .repeat = 2, .mode = RELEASE_INBAND});
    call_door(FAKE_OPEN, raw_offer(&r, "sendrecv"));
    collect_events(keys, &silence, &tones);
    assert_string_equal(keys, "");
    assert_in_range(tones, 8, 14);
}

/* PHONE-44 */
static void test_the_tone_goes_out_as_info(void **state)
{
    (void)state;
    char keys[32];
    release_as((struct release){.length_ms = 100, .gap_ms = 60, .repeat = 2, .mode = RELEASE_INFO});
    call_door(FAKE_CODE, raw_offer(&r, "sendrecv"));
    collect_infos(200, keys);
    assert_string_equal(keys, "9#09#0");
}

/* PHONE-44 */
static void test_keys_that_are_refused_as_info_go_out_as_events(void **state)
{
    (void)state;
    char keys[32], events[32];
    unsigned silence;
    size_t tones;
    release_as((struct release){.length_ms = 60, .gap_ms = 60, .mode = RELEASE_INFO});
    call_door(FAKE_CODE, raw_offer(&r, "sendrecv"));
    collect_infos(415, keys);
    assert_string_equal(keys, "9");
    collect_events(events, &silence, &tones);
    assert_string_equal(events, "9#0");
}

/* PHONE-44 */
static void test_an_info_that_is_not_answered_holds_up_no_key(void **state)
{
    (void)state;
    release_as((struct release){.length_ms = 60, .gap_ms = 60, .mode = RELEASE_INFO});
    call_door(FAKE_OPEN, raw_offer(&r, "sendrecv"));
    while (raw_receive(&r, RAW_PATIENCE_MS) == 1 && strncmp(r.reply, "BYE ", 4) != 0)
        assert_memory_equal(r.reply, "INFO ", 5); /* repeated, as its transaction does */
    assert_memory_equal(r.reply, "BYE ", 4);
}

static void test_a_bye_ends_an_info_that_is_not_answered(void **state)
{
    (void)state;
    release_as((struct release){.length_ms = 60, .gap_ms = 60, .mode = RELEASE_INFO});
    call_door(FAKE_OPEN, raw_offer(&r, "sendrecv"));
    assert_int_equal(raw_receive(&r, RAW_PATIENCE_MS), 1);
    assert_memory_equal(r.reply, "INFO ", 5);
    raw_request(&r, "BYE", FAKE_OPEN, 2, "", "");
    int got;
    do /* a repetition that was sent before the BYE arrived is 1 */
        got = raw_receive(&r, RAW_PATIENCE_MS);
    while (got == 1);
    assert_int_equal(got, 200);
    assert_int_equal(raw_receive(&r, 2500), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(the_tone_waits_and_is_repeated_as_the_building_asks),
        T(the_tone_is_in_the_audio_if_the_building_asks_for_it),
        T(the_tone_goes_out_as_info),
        T(keys_that_are_refused_as_info_go_out_as_events),
        T(an_info_that_is_not_answered_holds_up_no_key),
        T(a_bye_ends_an_info_that_is_not_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
