/* Stopping: every accepted request is answered, and no client can prevent the end. */
#include "base/clock.h"
#include "http/harness.h"

#define HOST "Host: localhost\r\n"

struct stopper {
    struct rig *g;
    int wait_ms;
    pthread_t thread;
};

static void *stop(void *arg)
{
    struct stopper *s = arg;
    http_server_stop(s->g->server, s->wait_ms);
    return NULL;
}

static void stop_in_background(struct stopper *s, struct rig *g, int wait_ms)
{
    *s = (struct stopper){.g = g, .wait_ms = wait_ms};
    assert_int_equal(pthread_create(&s->thread, NULL, stop, s), 0);
}

static void await_refused_connections(uint16_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    for (bool refused = false; !refused;) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        refused = connect(fd, (struct sockaddr *)&to, sizeof to) != 0 && errno == ECONNREFUSED;
        close(fd);
    }
}

static void accepted_requests_are_answered_and_idle_connections_close(void **state)
{
    (void)state;
    for (int tls = 0; tls < 2; tls++) {
        struct rig g;
        struct stopper s;
        struct answer a = {0}, b = {0}, d = {0};
        rig_init(&g);
        g.config.http_threads = 2;
        rig_start(&g);
        struct client busy = client_open(&g, tls), idle = client_open(&g, tls), half = client_open(&g, tls);
        expect(&idle, &b, STR("GET /echo HTTP/1.1\r\n" HOST "\r\n"), 200, "");
        expect(&half, &d,
               STR("GET /echo HTTP/1.1\r\n" HOST "\r\nPOST /echo HTTP/1.1\r\n" HOST "Expect: 100-continue\r\n"
                   "Content-Length: 5\r\n\r\n"),
               200, "");
        assert_true(answer_next(&d, &half)); /* 100 */
        client_send(&busy, STR("GET /wait HTTP/1.1\r\n" HOST "\r\n"));
        rig_await(&g, &g.waiting_count, 1);

        stop_in_background(&s, &g, PATIENCE_S * 1000);
        assert_false(answer_next(&b, &idle));
        await_refused_connections(tls ? g.tls : g.plain);
        expect(&half, &d, STR("hello"), 200, "hello");
        assert_true(str_eq(answer_field(d.head, "Connection"), STR("close")));
        rig_release(&g);
        assert_true(answer_next(&a, &busy));
        assert_int_equal(a.statuses[0], 202);
        assert_true(str_eq(answer_field(a.head, "Connection"), STR("close")));
        assert_false(answer_next(&a, &busy));
        client_close(&busy);
        client_close(&idle);
        client_close(&half);
        pthread_join(s.thread, NULL);
        answer_done(&a);
        answer_done(&b);
        answer_done(&d);
        rig_done(&g);
    }
}

/* Whether the answer to a request on a new connection closes it. */
static bool a_new_connection_closes(struct rig *g, bool tls)
{
    struct answer a = {0};
    struct client c = client_open(g, tls);
    expect(&c, &a, STR("GET /echo HTTP/1.1\r\n" HOST "\r\n"), 200, "");
    const bool closes = str_eq(answer_field(a.head, "Connection"), STR("close"));
    if (closes)
        assert_false(answer_next(&a, &c));
    client_close(&c);
    answer_done(&a);
    return closes;
}

/* SERVICE-18 */
static void for_a_while_all_are_served_and_their_connections_close(void **state)
{
    (void)state;
    for (int tls = 0; tls < 2; tls++) {
        struct rig g;
        struct stopper s;
        struct answer a = {0};
        rig_init(&g);
        g.config.http_drain_s = 5;
        rig_start(&g);
        struct client idle = client_open(&g, tls);
        expect(&idle, &a, STR("GET /echo HTTP/1.1\r\n" HOST "\r\n"), 200, "");
        assert_false(a_new_connection_closes(&g, tls));
        stop_in_background(&s, &g, PATIENCE_S * 1000);
        while (!a_new_connection_closes(&g, tls))
            ;
        expect(&idle, &a, STR("GET /echo HTTP/1.1\r\n" HOST "\r\n"), 200, "");
        assert_true(str_eq(answer_field(a.head, "Connection"), STR("close")));
        assert_false(answer_next(&a, &idle));
        assert_true(a_new_connection_closes(&g, tls));
        pthread_join(s.thread, NULL);
        await_refused_connections(tls ? g.tls : g.plain);
        client_close(&idle);
        answer_done(&a);
        rig_done(&g);
    }
}

/* SERVICE-18 */
static void after_the_time_limit_the_rest_is_dropped(void **state)
{
    (void)state;
    for (int tls = 0; tls < 2; tls++) {
        struct rig g;
        struct answer a = {0}, b = {0};
        rig_init(&g);
        rig_start(&g);
        struct client waiting = client_open(&g, tls), reading = client_open(&g, tls);
        client_send(&waiting, STR("GET /wait HTTP/1.1\r\n" HOST "\r\n"));
        rig_await(&g, &g.waiting_count, 1);
        client_send(&reading, STR("POST /echo HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n"));
        assert_true(answer_next(&b, &reading)); /* 100 */
        http_server_stop(g.server, 10);
        assert_false(answer_next(&a, &waiting));
        assert_false(answer_next(&b, &reading));
        assert_int_equal(rig_read(&g, &g.refusals), 1); /* the one whose body never arrived */
        client_close(&waiting);
        client_close(&reading);
        answer_done(&a);
        answer_done(&b);
        rig_done(&g);
    }
}

/* SERVICE-10 */
static void a_loop_that_hangs_is_noticed(void **state)
{
    struct rig g;
    struct answer a = {0};
    (void)state;
    rig_init(&g);
    rig_start(&g);
    struct client c = client_open(&g, false);
    pthread_mutex_lock(&g.lock); /* the handler waits for it */
    client_send(&c, STR("GET /echo HTTP/1.1\r\n" HOST "\r\n"));
    while (clock_monotonic_us() < http_server_turned_us(g.server) + 2 * US_PER_S)
        usleep(10000);
    pthread_mutex_unlock(&g.lock);
    while (clock_monotonic_us() > http_server_turned_us(g.server) + US_PER_S)
        usleep(10000);
    assert_true(answer_next(&a, &c));
    client_close(&c);
    answer_done(&a);
    rig_done(&g);
}

static void a_server_that_never_started_can_be_freed(void **state)
{
    struct rig g;
    (void)state;
    rig_init(&g);
    rig_bind(&g);
    rig_done(&g);
}

static void stopping_twice_is_harmless(void **state)
{
    struct rig g;
    (void)state;
    rig_init(&g);
    rig_start(&g);
    http_server_stop(g.server, 1000);
    http_server_stop(g.server, 1000);
    rig_done(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted_requests_are_answered_and_idle_connections_close),
        cmocka_unit_test(for_a_while_all_are_served_and_their_connections_close),
        cmocka_unit_test(after_the_time_limit_the_rest_is_dropped),
        cmocka_unit_test(a_loop_that_hangs_is_noticed),
        cmocka_unit_test(a_server_that_never_started_can_be_freed),
        cmocka_unit_test(stopping_twice_is_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
