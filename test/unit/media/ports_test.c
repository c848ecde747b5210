/* The RTP ports of an address: their order, and who sends to them too early. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <re/re.h>

#include "media/ports.h"
#include "media/raw_sip.h"

#define PAIRS   4
#define WAIT_MS 200 /* a packet on loopback takes far less */

static struct media_ports *ports;
static struct media_strays strays; /* of the last port */
static const struct media_strays none;
static uint16_t low;

static void on_rtp(const struct sa *src, const struct rtp_header *header, struct mbuf *mb, void *arg)
{
    (void)src;
    (void)header;
    (void)mb;
    (void)arg;
}

static int set_up(void **state)
{
    (void)state;
    struct sa local;
    do
        low = (uint16_t)(20000 + 2 * (rand_u16() % 10000));
    while (!raw_ports_are_free(low, 2 * PAIRS));
    assert_int_equal(sa_set_str(&local, "127.0.0.1", 0), 0);
    assert_int_equal(media_ports_new(&ports, &local, low, (uint16_t)(low + 2 * PAIRS - 1)), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mem_deref(ports);
    return 0;
}

static struct rtp_sock *take(void)
{
    struct rtp_sock *rtp = NULL;
    assert_int_equal(media_ports_take(ports, on_rtp, NULL, &rtp, &strays), 0);
    return rtp;
}

static uint16_t number(const struct rtp_sock *rtp)
{
    return sa_port(rtp_local(rtp));
}

static void test_every_port_comes_before_one_comes_again(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 3; round++) {
        unsigned seen = 0;
        for (unsigned i = 0; i < PAIRS; i++) {
            struct rtp_sock *rtp = take();
            assert_in_range(number(rtp), low, low + 2 * PAIRS - 2);
            assert_int_equal(number(rtp) % 2, 0);
            seen |= 1U << (number(rtp) - low) / 2;
            media_ports_give(ports, rtp, &none);
        }
        assert_int_equal(seen, (1U << PAIRS) - 1);
    }
}

static void test_the_port_that_was_freed_last_comes_last(void **state)
{
    (void)state;
    struct rtp_sock *all[PAIRS], *more = NULL;
    uint16_t numbers[PAIRS];
    for (unsigned i = 0; i < PAIRS; i++) {
        all[i] = take();
        numbers[i] = number(all[i]);
    }
    assert_int_equal(media_ports_take(ports, on_rtp, NULL, &more, &strays), ERR_IO);
    static const unsigned order[PAIRS] = {2, 0, 3, 1};
    for (unsigned i = 0; i < PAIRS; i++)
        media_ports_give(ports, all[order[i]], &none);
    for (unsigned i = 0; i < PAIRS; i++) {
        all[i] = take();
        assert_int_equal(number(all[i]), numbers[order[i]]);
    }
    for (unsigned i = 0; i < PAIRS; i++)
        media_ports_give(ports, all[i], &none);
}

static void test_the_port_of_another_program_is_left_out(void **state)
{
    (void)state;
    struct rtp_sock *rtp = take();
    const uint16_t taken = number(rtp);
    struct sockaddr_storage at;
    const socklen_t n = raw_address("127.0.0.1", taken, &at);
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    mem_ref(rtp);
    media_ports_give(ports, rtp, &none); /* which cannot watch it */
    mem_deref(rtp);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, n), 0);
    for (unsigned i = 0; i < 2 * PAIRS; i++) {
        rtp = take();
        assert_int_not_equal(number(rtp), taken);
        media_ports_give(ports, rtp, &none);
    }
    close(fd);
}

static void on_wait(void *arg)
{
    (void)arg;
    re_cancel();
}

static void test_who_sends_to_a_port_before_it_is_taken_is_a_stray(void **state)
{
    (void)state;
    struct sa early, late;
    struct tmr wait;
    int port;
    const int fd = raw_socket(&port);
    tmr_init(&wait);
    assert_int_equal(sa_set_str(&early, "127.0.0.1", (uint16_t)port), 0);
    assert_int_equal(sa_set_str(&late, "127.0.0.1", (uint16_t)(port ^ 1)), 0);
    for (unsigned i = 0; i < PAIRS; i++)
        for (unsigned times = 0; times < 2; times++)
            raw_press(fd, low + 2 * (int)i, 1000, 7);
    tmr_start(&wait, WAIT_MS, on_wait, NULL);
    (void)re_main(NULL);
    for (unsigned i = 0; i < PAIRS; i++) {
        struct rtp_sock *rtp = take();
        assert_true(media_strays_have(&strays, &early));
        assert_false(media_strays_have(&strays, &late));
        media_ports_give(ports, rtp, &none);
    }
    struct rtp_sock *rtp = take(); /* nobody sent since */
    assert_false(media_strays_have(&strays, &early));
    media_ports_give(ports, rtp, &none);
    close(fd);
}

/* PHONE-34 */
static void test_who_was_refused_is_a_stray_of_the_next_session(void **state)
{
    (void)state;
    struct sa from;
    struct media_strays refused = {0};
    assert_int_equal(sa_set_str(&from, "127.0.0.1", 4000), 0);
    for (uint16_t i = 0; i < MEDIA_STRAYS + 1; i++) {
        sa_set_port(&from, 4000 + i);
        media_strays_note(&refused, &from);
    }
    struct rtp_sock *rtp = take();
    const uint16_t port = number(rtp);
    media_ports_give(ports, rtp, &refused);
    for (unsigned i = 0; i < PAIRS; i++) {
        rtp = take();
        assert_int_equal(media_strays_have(&strays, &from), number(rtp) == port);
        media_ports_give(ports, rtp, &none);
    }
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(every_port_comes_before_one_comes_again),        T(the_port_that_was_freed_last_comes_last),
        T(the_port_of_another_program_is_left_out),        T(who_sends_to_a_port_before_it_is_taken_is_a_stray),
        T(who_was_refused_is_a_stray_of_the_next_session),
    };
    assert_int_equal(libre_init(), 0);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    libre_close();
    return failed;
}
