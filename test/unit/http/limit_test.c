/* The connection limit. Loopback has no limit per address: conn_counter_test tests that one. */
#include "http/harness.h"

#include <sys/resource.h>

#include "base/metric.h"

#define MOST    16
#define REQUEST STR("GET /echo HTTP/1.1\r\nHost: localhost\r\n\r\n")

static void check_bound(struct rig *g, unsigned most)
{
    struct answer a = {0};
    struct client busy[MOST];
    for (unsigned i = 0; i < most; i++) {
        busy[i] = client_open(g, i % 2);
        client_send(&busy[i], STR("GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n"));
        rig_await(g, &g->waiting_count, i + 1);
    }
    struct client extra = client_open(g, false);
    assert_false(answer_next(&a, &extra));
    for (unsigned i = 0; i < most; i++) {
        struct answer b = {0};
        rig_release(g);
        assert_true(answer_next(&b, &busy[i]));
        answer_done(&b);
        client_close(&busy[i]);
    }
    answer_done(&a);
    client_close(&extra);
}

/* HTTP-48 */
static void connections_over_the_limit_are_closed(void **state)
{
    struct rig g;
    (void)state;
    rig_init(&g);
    g.config.http_connections = 2;
    rig_start(&g);
    check_bound(&g, 2);
    rig_done(&g);
}

/* HTTP-48 */
static void connections_use_at_most_half_of_the_descriptors(void **state)
{
    struct rig g;
    struct rlimit before, tight;
    (void)state;
    rig_init(&g);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    tight = before;
    tight.rlim_cur = 2 * MOST;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
    rig_start(&g);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0); /* the clients are also in this process */
    check_bound(&g, MOST);
    rig_done(&g);
}

/* HTTP-48 */
static void the_longest_idle_connection_is_evicted(void **state)
{
    struct rig g;
    struct answer a = {0}, b = {0}, c = {0};
    (void)state;
    rig_init(&g);
    g.config.http_connections = 2;
    rig_start(&g);
    struct client first = client_open(&g, false), second = client_open(&g, false);
    expect(&first, &a, REQUEST, 200, "");
    expect(&second, &b, REQUEST, 200, "");
    expect(&first, &a, REQUEST, 200, ""); /* now the second one is idle for longer */
    struct client third = client_open(&g, false);
    expect(&third, &c, REQUEST, 200, "");
    assert_false(answer_next(&b, &second));
    expect(&first, &a, REQUEST, 200, "");
    answer_done(&a);
    answer_done(&b);
    answer_done(&c);
    client_close(&first);
    client_close(&second);
    client_close(&third);
    rig_done(&g);
}

static void shake_and_ask(struct client *c)
{
    struct answer a = {0};
    client_shake(c);
    expect(c, &a, REQUEST, 200, "");
    answer_done(&a);
    client_close(c);
}

/* HTTP-48 */
static void a_handshake_in_progress_is_not_dropped_for_a_new_connection(void **state)
{
    struct rig g;
    struct client early[2];
    (void)state;
    rig_init(&g);
    g.config.http_connections = 2;
    rig_start(&g);
    for (int i = 0; i < 2; i++)
        early[i] = client_plain(g.tls);
    for (int i = 0; i < 20; i++) {
        char byte;
        struct client late = client_plain(g.tls);
        assert_int_equal(client_recv(&late, &byte, 1), 0);
        client_close(&late);
    }
    for (int i = 0; i < 2; i++)
        shake_and_ask(&early[i]);
    rig_done(&g);
}

static int64_t waits_for_descriptors(void)
{
    return metric_get(&metrics.http_rejected[METRIC_LIMIT_DESCRIPTORS]);
}

/* HTTP-48 */
static void a_new_connection_waits_for_a_descriptor_and_the_others_go_on(void **state)
{
    struct rig g;
    struct answer a = {0};
    struct rlimit before, used_up;
    (void)state;
    rig_init(&g);
    rig_start(&g);
    struct client open = client_open(&g, true), early = client_plain(g.tls);
    struct client late = {.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(g.tls), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    client_patience(late.fd);
    for (int i = 0; i < 2; i++)
        expect(&open, &a, REQUEST, 200, ""); /* so the early one was accepted */
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    used_up = before;
    used_up.rlim_cur = 3;
    const int64_t waits = waits_for_descriptors();
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &used_up), 0);
    assert_int_equal(connect(late.fd, (struct sockaddr *)&to, sizeof to), 0);
    while (waits_for_descriptors() == waits)
        usleep(1000);
    expect(&open, &a, REQUEST, 200, "");
    shake_and_ask(&early);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    shake_and_ask(&late);
    answer_done(&a);
    client_close(&open);
    rig_done(&g);
}

static void a_closed_connection_no_longer_counts(void **state)
{
    struct rig g;
    (void)state;
    rig_init(&g);
    g.config.http_connections = 1;
    rig_start(&g);
    for (int i = 0; i < 50; i++) {
        struct client c = client_open(&g, i % 2);
        struct answer a = {0};
        expect(&c, &a, STR("GET /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"), 200, "");
        assert_false(answer_next(&a, &c)); /* the server waits for us to close */
        answer_done(&a);
        if (c.ssl)
            SSL_shutdown(c.ssl);
        shutdown(c.fd, SHUT_WR);
        char byte;
        while (recv(c.fd, &byte, 1, 0) > 0)
            ;
        client_close(&c);
        /* The connection counts until the server has seen the close. */
        for (bool served = false; !served;) {
            struct client next = client_open(&g, false);
            struct answer b = {0};
            client_send(&next, REQUEST);
            served = answer_next(&b, &next);
            answer_done(&b);
            client_close(&next);
        }
    }
    rig_done(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connections_over_the_limit_are_closed),
        cmocka_unit_test(connections_use_at_most_half_of_the_descriptors),
        cmocka_unit_test(the_longest_idle_connection_is_evicted),
        cmocka_unit_test(a_handshake_in_progress_is_not_dropped_for_a_new_connection),
        cmocka_unit_test(a_new_connection_waits_for_a_descriptor_and_the_others_go_on),
        cmocka_unit_test(a_closed_connection_no_longer_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
