/* One call's audio, without a call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "voice/media.h"
#include "voice/raw_sip.h"

#define WAIT_MS 200 /* a packet on loopback takes far less */

static int keys;

static void on_key(char key, void *arg)
{
    (void)key;
    (void)arg;
    keys++;
    re_cancel();
}

static void on_played(void *arg)
{
    (void)arg;
}

static void on_wait(void *arg)
{
    (void)arg;
    re_cancel();
}

/* The keys that a send-only peer at 127.0.0.1 can press while its SIP comes from `signalling`. */
static int pressed_by_a_peer_of(const char *signalling)
{
    static const struct media_events events = {.key = on_key, .played = on_played};
    struct raw box = {.host = "127.0.0.1"};
    struct media *m;
    struct tick *tick;
    struct sa local, from;
    struct tmr wait;
    struct mbuf *offer = mbuf_alloc(512), *answer;
    box.rtp = raw_socket(&box.rtp_port);
    keys = 0;
    tmr_init(&wait);
    assert_int_equal(sa_set_str(&local, "127.0.0.1", 0) + sa_set_str(&from, signalling, 5060), 0);
    assert_int_equal(tick_new(&tick), ERR_NONE);
    assert_int_equal(media_new(&m, &(struct media_options){.laddr = &local, .events = true}, &events, NULL), ERR_NONE);
    assert_int_equal(mbuf_write_str(offer, raw_offer(&box, "sendonly")), 0);
    offer->pos = 0;
    assert_int_equal(media_take_sdp(m, true, offer), ERR_NONE);
    assert_int_equal(media_make_sdp(m, false, &answer), ERR_NONE);
    media_start(m, tick, &from);
    char text[1024] = "";
    memcpy(text, mbuf_buf(answer), mbuf_get_left(answer));
    raw_press(box.rtp, atoi(strstr(text, "m=audio ") + 8), 1000, 7);
    tmr_start(&wait, WAIT_MS, on_wait, NULL);
    (void)re_main(NULL);
    tmr_cancel(&wait);
    media_stop(m);
    media_free(m);
    tick_free(tick);
    mem_deref(offer);
    mem_deref(answer);
    close(box.rtp);
    return keys;
}

static void test_only_a_caller_on_this_machine_has_its_audio_here(void **state)
{
    (void)state;
    assert_int_equal(pressed_by_a_peer_of("127.0.0.5"), 1);
    assert_int_equal(pressed_by_a_peer_of("192.0.2.1"), 0);
    assert_int_equal(pressed_by_a_peer_of("169.254.1.1"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_only_a_caller_on_this_machine_has_its_audio_here)};
    if (libre_init())
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    libre_close();
    return failed;
}
