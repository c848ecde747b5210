/* Slow and silent clients. Each time limit is total: further bytes do not extend it. */
#include "http/harness.h"

#define HOST "Host: localhost\r\n"

#define LIMIT_S 3 /* long enough for all that a client must do in time */

/* Sends the text byte by byte until the server answers. */
static void trickle(struct client *clients, size_t count, char byte)
{
    for (int i = 0; i < PATIENCE_S * 20; i++) {
        size_t answered = 0;
        for (size_t c = 0; c < count; c++) {
            struct pollfd p = {.fd = clients[c].fd, .events = POLLIN};
            if (poll(&p, 1, 0) > 0)
                answered++;
            else
                client_send(&clients[c], str_n(&byte, 1));
        }
        if (answered == count)
            return;
        usleep(50000);
    }
    fail_msg("the server waits for ever");
}

static void assert_refused_late(struct client *c)
{
    struct answer a = {0};
    char text[128];
    answer_rest(&a, c);
    assert_string_equal(answer_text(&a, text), "408");
    answer_done(&a);
}

static void a_slow_head_is_refused(void **state)
{
    (void)state;
    struct rig g;
    struct client c[2];
    rig_init(&g);
    g.config.http_header_timeout_s = LIMIT_S;
    rig_start(&g);
    for (int tls = 0; tls < 2; tls++) {
        c[tls] = client_open(&g, tls);
        client_send(&c[tls], STR("GET /echo HTTP/1.1\r\n" HOST "X-Slow: "));
    }
    trickle(c, 2, 'x');
    for (int tls = 0; tls < 2; tls++) {
        assert_refused_late(&c[tls]);
        client_close(&c[tls]);
    }
    rig_done(&g);
}

/* Also when it follows a request on the same connection. */
static void a_head_that_stops_is_refused(void **state)
{
    struct rig g;
    (void)state;
    rig_init(&g);
    g.config.http_header_timeout_s = LIMIT_S;
    rig_start(&g);
    struct client c = client_open(&g, false);
    struct answer a = {0};
    expect(&c, &a, STR("GET /echo HTTP/1.1\r\n" HOST "\r\nGET /ec"), 200, "");
    assert_refused_late(&c);
    answer_done(&a);
    client_close(&c);
    rig_done(&g);
}

static void a_slow_body_is_refused(void **state)
{
    static const struct str heads[] = {
#define S(s) {s, sizeof(s) - 1}
        S("POST /echo HTTP/1.1\r\n" HOST "Content-Length: 50000\r\n\r\n"),
        S("POST /echo HTTP/1.1\r\n" HOST "Content-Length: 500\r\n\r\n"),
        S("POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n8000\r\n"),
#undef S
    };
    enum { COUNT = sizeof heads / sizeof *heads };
    struct client c[COUNT];
    struct rig g;
    (void)state;
    rig_init(&g);
    g.config.http_body_timeout_s = LIMIT_S;
    rig_start(&g);
    for (size_t i = 0; i < COUNT; i++) {
        c[i] = client_open(&g, i % 2);
        client_send(&c[i], heads[i]);
    }
    trickle(c, COUNT, 'x');
    for (size_t i = 0; i < COUNT; i++) {
        assert_refused_late(&c[i]);
        client_close(&c[i]);
    }
    assert_int_equal(rig_read(&g, &g.requests), 0);
    rig_done(&g);
}

static void an_idle_connection_is_closed_without_a_reply(void **state)
{
    (void)state;
    struct rig g;
    struct client fresh[2], used[2];
    struct answer a[2] = {0}, b[2] = {0};
    rig_init(&g);
    g.config.http_idle_timeout_s = LIMIT_S;
    rig_start(&g);
    for (int tls = 0; tls < 2; tls++) {
        fresh[tls] = client_open(&g, tls);
        used[tls] = client_open(&g, tls);
        /* one empty line too many */
        expect(&used[tls], &a[tls], STR("GET /echo HTTP/1.1\r\n" HOST "\r\n\r\n"), 200, "");
    }
    for (int tls = 0; tls < 2; tls++) {
        assert_false(answer_next(&b[tls], &fresh[tls]));
        assert_false(answer_next(&a[tls], &used[tls]));
        assert_int_equal(a[tls].in.n - a[tls].at + b[tls].in.n, 0);
        answer_done(&a[tls]);
        answer_done(&b[tls]);
        client_close(&fresh[tls]);
        client_close(&used[tls]);
    }
    rig_done(&g);
}

static void a_tls_handshake_that_does_not_begin_times_out(void **state)
{
    struct rig g;
    struct answer a = {0};
    (void)state;
    rig_init(&g);
    g.config.http_header_timeout_s = LIMIT_S;
    rig_start(&g);
    struct client c = client_plain(g.tls);
    assert_false(answer_next(&a, &c));
    answer_done(&a);
    client_close(&c);
    rig_done(&g);
}

/* The server accepts one connection: it serves a second one only after it has dropped the first. */
static void an_unread_reply_ends_the_connection(void **state)
{
    (void)state;
    for (int tls = 0; tls < 2; tls++) {
        struct rig g;
        rig_init(&g);
        g.config.http_write_timeout_s = 1;
        g.config.http_connections = 1;
        rig_start(&g);
        struct client c = client_open(&g, tls);
        client_send(&c, STR("GET /big?16000000 HTTP/1.1\r\n" HOST "\r\n"));
        rig_await(&g, &g.requests, 1);
        for (bool served = false; !served;) {
            struct client other = client_open(&g, false);
            struct answer a = {0};
            client_send(&other, STR("GET /echo HTTP/1.1\r\n" HOST "\r\n"));
            served = answer_next(&a, &other);
            answer_done(&a);
            client_close(&other);
            usleep(10000);
        }
        client_close(&c);
        rig_done(&g);
    }
}

static void a_request_that_waits_for_its_answer_has_no_time_limit(void **state)
{
    struct rig g;
    struct answer a = {0};
    (void)state;
    rig_init(&g);
    g.config.http_header_timeout_s = g.config.http_body_timeout_s = g.config.http_idle_timeout_s = LIMIT_S;
    rig_start(&g);
    struct client idle = client_open(&g, false), c = client_open(&g, false);
    client_send(&c, STR("GET /wait HTTP/1.1\r\n" HOST "\r\n"));
    rig_await(&g, &g.waiting_count, 1);
    struct client later = client_open(&g, false);
    assert_false(answer_next(&a, &idle)); /* every limit has passed */
    assert_false(answer_next(&a, &later));
    rig_release(&g);
    assert_true(answer_next(&a, &c));
    assert_int_equal(a.statuses[0], 202);
    answer_done(&a);
    client_close(&idle);
    client_close(&later);
    client_close(&c);
    rig_done(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_head_is_refused),
        cmocka_unit_test(a_head_that_stops_is_refused),
        cmocka_unit_test(a_slow_body_is_refused),
        cmocka_unit_test(an_idle_connection_is_closed_without_a_reply),
        cmocka_unit_test(a_tls_handshake_that_does_not_begin_times_out),
        cmocka_unit_test(an_unread_reply_ends_the_connection),
        cmocka_unit_test(a_request_that_waits_for_its_answer_has_no_time_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
