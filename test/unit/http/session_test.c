/* One connection: order of replies, half-close, early answers, HEAD, HTTP/1.0, backpressure. */
#include "http/harness.h"

#define HOST "Host: localhost\r\n"

struct setup {
    struct rig g;
    struct client c;
    struct answer a;
};

static void begin(struct setup *s, bool tls)
{
    rig_init(&s->g);
    rig_start(&s->g);
    s->c = client_open(&s->g, tls);
    s->a = (struct answer){0};
}

static void end(struct setup *s)
{
    answer_done(&s->a);
    client_close(&s->c);
    rig_done(&s->g);
}

static void assert_answered(const struct answer *a, const char *statuses)
{
    char text[128];
    assert_string_equal(answer_text(a, text), statuses);
}

static void replies_keep_the_order_of_requests(void **state)
{
    (void)state;
    for (int tls = 0; tls < 2; tls++) {
        struct setup s;
        begin(&s, tls);
        client_send(&s.c, STR("GET /echo HTTP/1.1\r\n" HOST "\r\n"
                              "POST /wait?1 HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nabc"
                              "GET /wait?2 HTTP/1.1\r\n" HOST "\r\n"
                              "GET /last HTTP/1.1\r\n" HOST "\r\n"));
        assert_true(answer_next(&s.a, &s.c));
        rig_release(&s.g);
        assert_true(answer_next(&s.a, &s.c));
        assert_true(str_eq(s.a.body, STR("/wait?1")));
        rig_release(&s.g);
        assert_true(answer_next(&s.a, &s.c));
        assert_true(str_eq(s.a.body, STR("/wait?2")));
        assert_true(answer_next(&s.a, &s.c));
        assert_true(str_eq(s.a.body, STR("/last")));
        assert_answered(&s.a, "200,202,202,404");
        end(&s);
    }
}

/* More bytes than the read buffer holds arrive while the first request waits. All are kept. */
static void a_long_pipeline_behind_a_waiting_request_is_served(void **state)
{
    (void)state;
    for (int tls = 0; tls < 2; tls++) {
        struct setup s;
        begin(&s, tls);
        struct buf b = BUF(1u << 20);
        buf_lit(&b, "GET /wait HTTP/1.1\r\n" HOST "\r\n");
        for (int i = 0; i < 2000; i++)
            buf_lit(&b, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 4\r\n\r\nping");
        client_send(&s.c, buf_view(&b));
        rig_release(&s.g);
        assert_true(answer_next(&s.a, &s.c));
        assert_answered(&s.a, "202");
        for (int i = 0; i < 2000; i++) {
            s.a.count = 0;
            assert_true(answer_next(&s.a, &s.c));
            assert_answered(&s.a, "200");
            assert_true(str_eq(s.a.body, STR("ping")));
        }
        buf_done(&b);
        end(&s);
    }
}

static void a_client_that_has_closed_its_side_gets_all_its_replies(void **state)
{
    (void)state;
    for (int tls = 0; tls < 2; tls++) {
        struct setup s;
        begin(&s, tls);
        client_send(&s.c, STR("GET /wait HTTP/1.1\r\n" HOST "\r\n"
                              "GET /echo HTTP/1.1\r\n" HOST "\r\n"));
        if (tls)
            SSL_shutdown(s.c.ssl);
        shutdown(s.c.fd, SHUT_WR);
        rig_release(&s.g);
        answer_rest(&s.a, &s.c);
        assert_answered(&s.a, "202,200");
        end(&s);
    }
}

static void a_client_that_closes_its_side_within_a_request_is_refused(void **state)
{
    static const struct str cut[] = {
        {"GET /echo HTTP/1.1\r\nHo", 22},
        {"POST /echo HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nab", 59},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        struct setup s;
        begin(&s, false);
        client_send(&s.c, cut[i]);
        shutdown(s.c.fd, SHUT_WR);
        answer_rest(&s.a, &s.c);
        assert_answered(&s.a, "400");
        end(&s);
    }
}

/* Connects repeatedly until the server, which accepts one connection at a time, has closed the previous one. */
static void await_room(const struct rig *g)
{
    for (;;) {
        struct client c = client_open(g, false);
        struct answer a = {0};
        client_send(&c, STR("GET /echo HTTP/1.1\r\n" HOST "\r\n"));
        bool served = answer_next(&a, &c);
        answer_done(&a);
        client_close(&c);
        if (served)
            return;
        usleep(1000);
    }
}

static void reset(struct client *c)
{
    struct linger l = {.l_onoff = 1};
    setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &l, sizeof l);
    client_close(c);
}

static void a_request_outlives_its_connection_until_it_is_answered(void **state)
{
    (void)state;
    for (int tls = 0; tls < 2; tls++) {
        struct rig g;
        rig_init(&g);
        g.config.http_connections = 1;
        rig_start(&g);
        struct client c = client_open(&g, tls);
        client_send(&c, STR("POST /wait?who HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nabc"));
        rig_await(&g, &g.waiting_count, 1);
        reset(&c);
        await_room(&g); /* the server has seen the close */
        rig_release(&g);
        rig_await(&g, &g.abandoned, 1);
        rig_done(&g);
    }
}

/* A handler that got a head must learn that the body will not arrive, so that it can free its state. */
static void a_request_cut_off_in_its_body_is_refused(void **state)
{
    struct rig g;
    (void)state;
    rig_init(&g);
    rig_start(&g);
    struct client c = client_open(&g, false);
    struct answer a = {0};
    client_send(&c, STR("POST /echo HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 50\r\n\r\n"));
    assert_true(answer_next(&a, &c));
    assert_answered(&a, "100");
    reset(&c);
    rig_await(&g, &g.refusals, 1);
    answer_done(&a);
    rig_done(&g);
}

static void an_early_answer_keeps_the_connection_only_without_a_missing_body(void **state)
{
    static const struct {
        struct str bytes;
        bool open;
    } cases[] = {
#define C(bytes, open) {{bytes, sizeof(bytes) - 1}, open}
        C("GET /early HTTP/1.1\r\n" HOST "\r\n", true),
        C("POST /early HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhello", true),
        C("POST /early HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhell", false),
        C("POST /early HTTP/1.1\r\n" HOST "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n", false),
        C("POST /early HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false),
        C("POST /early HTTP/1.1\r\n" HOST "Content-Length: 1000000\r\n\r\n", false), /* before 413 */
#undef C
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct setup s;
        begin(&s, i % 2);
        expect(&s.c, &s.a, cases[i].bytes, 401, "early");
        bool says_close = str_eq(answer_field(s.a.head, "Connection"), STR("close"));
        assert_int_equal(says_close, !cases[i].open);
        if (cases[i].open)
            expect(&s.c, &s.a, STR("GET /next HTTP/1.1\r\n" HOST "\r\n"), 404, "/next");
        else
            assert_false(answer_next(&s.a, &s.c));
        end(&s);
    }
}

static void head_is_answered_with_the_length_but_without_the_body(void **state)
{
    struct setup s;
    (void)state;
    begin(&s, false);
    client_send(&s.c, STR("HEAD /big?1000 HTTP/1.1\r\n" HOST "\r\n"));
    assert_true(answer_next_to(&s.a, &s.c, true));
    assert_answered(&s.a, "200");
    assert_true(str_eq(answer_field(s.a.head, "Content-Length"), STR("1000")));
    expect(&s.c, &s.a, STR("GET /next HTTP/1.1\r\n" HOST "\r\n"), 404, "/next");
    end(&s);
}

/* HTTP-42 */
static void http_1_0_closes_unless_asked_to_stay(void **state)
{
    struct setup s;
    (void)state;
    begin(&s, false);
    expect(&s.c, &s.a, STR("GET /echo HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"), 200, "");
    assert_true(str_eq(answer_field(s.a.head, "Connection"), STR("keep-alive")));
    expect(&s.c, &s.a, STR("GET /echo HTTP/1.0\r\n\r\n"), 200, "");
    assert_true(str_eq(answer_field(s.a.head, "Connection"), STR("close")));
    assert_false(answer_next(&s.a, &s.c));
    end(&s);
}

static void every_reply_is_dated(void **state)
{
    struct setup s;
    struct tm t = {0};
    (void)state;
    begin(&s, false);
    expect(&s.c, &s.a, STR("GET /echo HTTP/1.1\r\n" HOST "\r\n"), 200, "");
    struct str date = answer_field(s.a.head, "Date");
    assert_int_equal(date.n, 29);
    assert_ptr_equal(strptime(date.p, "%a, %d %b %Y %H:%M:%S GMT", &t), date.p + date.n);
    assert_in_range(time(NULL) - timegm(&t), 0, PATIENCE_S);
    end(&s);
}

static void a_body_of_any_coding_and_size_arrives_complete(void **state)
{
    static const size_t sizes[] = {1, 100, 3000, 4000, 4100, 20000, 65536, HTTP_MAX_BODY};
    (void)state;
    for (int tls = 0; tls < 2; tls++) {
        struct setup s;
        begin(&s, tls);
        for (size_t i = 0; i < 2 * (sizeof sizes / sizeof *sizes); i++) {
            size_t n = sizes[i / 2];
            struct buf body = BUF(HTTP_MAX_BODY), request = BUF(1u << 20);
            for (size_t at = 0; at < n; at++)
                buf_char(&body, (char)('a' + at * 7 % 26));
            buf_lit(&request, "POST /echo HTTP/1.1\r\n" HOST);
            if (i % 2) {
                buf_lit(&request, "Transfer-Encoding: chunked\r\n\r\n");
                for (size_t at = 0, piece = 1; at < n; at += piece, piece = piece * 3 + 1) {
                    piece = piece < n - at ? piece : n - at;
                    buf_printf(&request, "%zx\r\n%.*s\r\n", piece, (int)piece, body.p + at);
                }
                buf_lit(&request, "0\r\n\r\n");
            } else {
                buf_printf(&request, "Content-Length: %zu\r\n\r\n", n);
                buf_str(&request, buf_view(&body));
            }
            s.a.count = 0;
            client_send(&s.c, buf_view(&request));
            assert_true(answer_next(&s.a, &s.c));
            assert_true(str_eq(s.a.body, buf_view(&body)));
            buf_done(&body);
            buf_done(&request);
        }
        end(&s);
    }
}

/* The client requests 100 MB at once: the server produces replies only as fast as they are read. */
static void a_peer_that_does_not_read_is_not_read_from(void **state)
{
    enum { REQUESTS = 1000, SIZE = 100000 };
    (void)state;
    for (int tls = 0; tls < 2; tls++) {
        struct setup s;
        begin(&s, tls);
        /* otherwise the kernel's buffer could hold everything */
        assert_int_equal(setsockopt(s.c.fd, SOL_SOCKET, SO_RCVBUF, &(int){1 << 18}, sizeof(int)), 0);
        struct buf b = BUF(1u << 20);
        for (int i = 0; i < REQUESTS; i++)
            buf_lit(&b, "GET /big?100000 HTTP/1.1\r\nHost: a\r\n\r\n");
        client_send(&s.c, buf_view(&b));
        for (int i = 0; i < REQUESTS; i++) {
            s.a.count = s.a.at = 0;
            assert_true(answer_next(&s.a, &s.c));
            assert_int_equal(s.a.body.n, SIZE);
            /* The kernel's buffers hold only a small part. */
            assert_in_range(rig_read(&s.g, &s.g.requests), i + 1, i + 1 + REQUESTS / 4);
            s.a.in.n -= s.a.at;
            memmove(s.a.in.p, s.a.in.p + s.a.at, s.a.in.n);
        }
        buf_done(&b);
        end(&s);
    }
}

static void a_large_reply_arrives_complete(void **state)
{
    (void)state;
    for (int tls = 0; tls < 2; tls++) {
        struct setup s;
        begin(&s, tls);
        client_send(&s.c, STR("GET /big?12000000 HTTP/1.1\r\n" HOST "\r\n"
                              "GET /big?16384 HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n"));
        answer_rest(&s.a, &s.c);
        assert_answered(&s.a, "200,200");
        assert_int_equal(s.a.body.n, 16384);
        end(&s);
    }
}

/* SERVICE-29 */
static void the_control_socket_is_local_and_private(void **state)
{
    struct rig g;
    (void)state;
    rig_init(&g);
    rig_start(&g);
    struct stat st;
    assert_int_equal(stat(g.control, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    struct client c = client_unix(g.control);
    struct answer a = {0};
    expect(&c, &a, STR("GET /peer HTTP/1.1\r\n" HOST "\r\n"), 200, "127.0.0.1 secure=1 loopback=1 local=1");
    answer_done(&a);
    client_close(&c);
    rig_done(&g);
}

static void the_peer_is_known_with_and_without_tls(void **state)
{
    (void)state;
    for (int tls = 0; tls < 2; tls++) {
        struct setup s;
        begin(&s, tls);
        expect(&s.c, &s.a, STR("GET /peer HTTP/1.1\r\n" HOST "\r\n"), 200,
               tls ? "127.0.0.1 secure=1 loopback=1 local=0" : "127.0.0.1 secure=0 loopback=1 local=0");
        end(&s);
    }
}

static void a_trusted_proxy_names_its_client(void **state)
{
    static const char *const proxies[] = {"127.0.0.0/8", NULL};
    struct rig g;
    (void)state;
    rig_init(&g);
    g.config.top_trusted_proxies = proxies;
    rig_start(&g);
    struct client c = client_open(&g, false);
    struct answer a = {0};
    expect(&c, &a,
           STR("GET /peer HTTP/1.1\r\n" HOST "X-Forwarded-For: 198.51.100.7\r\nX-Forwarded-Proto: https\r\n\r\n"), 200,
           "198.51.100.7 secure=1 loopback=0 local=0");
    answer_done(&a);
    client_close(&c);
    rig_done(&g);
}

/* ---- several loops at once ---- */

static void *work(void *arg)
{
    const struct rig *g = arg;
    for (int i = 0; i < 20; i++) {
        struct client c = client_open(g, i % 2);
        struct answer a = {0};
        for (int n = 0; n < 10; n++)
            expect(&c, &a, STR("POST /echo HTTP/1.1\r\n" HOST "Content-Length: 4\r\n\r\nping"), 200, "ping");
        answer_done(&a);
        client_close(&c);
    }
    return NULL;
}

static void several_loops_share_one_port(void **state)
{
    enum { CLIENTS = 6 };
    pthread_t threads[CLIENTS];
    struct rig g;
    (void)state;
    rig_init(&g);
    g.config.http_threads = 4;
    rig_start(&g);
    for (int i = 0; i < CLIENTS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &g), 0);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(rig_read(&g, &g.requests), CLIENTS * 20 * 10);
    rig_done(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replies_keep_the_order_of_requests),
        cmocka_unit_test(a_long_pipeline_behind_a_waiting_request_is_served),
        cmocka_unit_test(a_client_that_has_closed_its_side_gets_all_its_replies),
        cmocka_unit_test(a_client_that_closes_its_side_within_a_request_is_refused),
        cmocka_unit_test(a_request_outlives_its_connection_until_it_is_answered),
        cmocka_unit_test(a_request_cut_off_in_its_body_is_refused),
        cmocka_unit_test(an_early_answer_keeps_the_connection_only_without_a_missing_body),
        cmocka_unit_test(head_is_answered_with_the_length_but_without_the_body),
        cmocka_unit_test(http_1_0_closes_unless_asked_to_stay),
        cmocka_unit_test(every_reply_is_dated),
        cmocka_unit_test(a_body_of_any_coding_and_size_arrives_complete),
        cmocka_unit_test(a_peer_that_does_not_read_is_not_read_from),
        cmocka_unit_test(a_large_reply_arrives_complete),
        cmocka_unit_test(the_control_socket_is_local_and_private),
        cmocka_unit_test(the_peer_is_known_with_and_without_tls),
        cmocka_unit_test(a_trusted_proxy_names_its_client),
        cmocka_unit_test(several_loops_share_one_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
