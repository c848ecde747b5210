/* Unread replies: their memory is limited, and other clients are served. */
#include "http/harness.h"

#include <malloc.h>

#define HOST  "Host: localhost\r\n\r\n"
#define SLOW  100 /* clients */
#define PIPED 10  /* requests of each */

/* Bytes that the process has allocated. */
static size_t used(void)
{
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

/* A small receive buffer, as if the client were far away. */
static struct client open_slow(const struct rig *g, bool tls)
{
    struct client c = client_open(g, tls);
    setsockopt(c.fd, SOL_SOCKET, SO_RCVBUF, &(int){4096}, sizeof(int));
    return c;
}

static void send_often(struct client *c, const char *request, int times)
{
    struct buf b = BUF(1 << 20);
    while (times--)
        buf_str(&b, str_z(request));
    client_send(c, buf_view(&b));
    buf_done(&b);
}

static void check_constant(bool tls, size_t most_each)
{
    static struct client clients[SLOW];
    struct rig g;
    rig_init(&g);
    rig_start(&g);
    for (int i = 0; i < SLOW; i++)
        clients[i] = open_slow(&g, tls);
    size_t before = used();
    for (int i = 0; i < SLOW; i++)
        send_often(&clients[i], "GET /constant HTTP/1.1\r\n" HOST, PIPED);
    rig_await(&g, &g.requests, SLOW);
    usleep(100000);
    assert_in_range(used() - before, 0, SLOW * most_each);
    assert_int_equal(rig_read(&g, &g.requests), SLOW); /* the next one waits until the first is read */
    for (int i = 0; i < SLOW; i++)
        client_close(&clients[i]);
    rig_done(&g);
}

/* HTTP-47 */
static void an_unread_constant_body_is_not_copied(void **state)
{
    (void)state;
    check_constant(false, 8192);
    check_constant(true, 40000); /* the record that libssl holds */
}

static void a_constant_body_arrives_complete_when_read_late(void **state)
{
    (void)state;
    for (int tls = 0; tls < 2; tls++) {
        struct rig g;
        struct answer a = {0};
        rig_init(&g);
        rig_start(&g);
        struct client c = client_open(&g, tls);
        send_often(&c, "GET /constant HTTP/1.1\r\n" HOST, PIPED);
        rig_await(&g, &g.requests, 1);
        usleep(50000);
        for (int i = 0; i < PIPED; i++) {
            assert_true(answer_next(&a, &c));
            assert_true(str_eq(a.body, rig_constant()));
        }
        client_send(&c, STR("HEAD /constant HTTP/1.1\r\n" HOST));
        assert_true(answer_next_to(&a, &c, true));
        assert_true(str_eq(answer_field(a.head, "Content-Length"), STR("400000")));
        expect(&c, &a, STR("GET /echo HTTP/1.1\r\n" HOST), 200, "");
        answer_done(&a);
        client_close(&c);
        rig_done(&g);
    }
}

static void small_replies_to_a_long_pipeline_do_not_accumulate(void **state)
{
    (void)state;
    for (int tls = 0; tls < 2; tls++) {
        struct rig g;
        rig_init(&g);
        rig_start(&g);
        struct client c = open_slow(&g, tls);
        size_t before = used();
        send_often(&c, "GET /big?8000 HTTP/1.1\r\n" HOST, 60);
        rig_await(&g, &g.requests, 1);
        usleep(100000);
        assert_in_range(used() - before, 0, 150000); /* of 480,000 bytes */
        client_close(&c);
        rig_done(&g);
    }
}

/* HTTP-47 */
static void over_the_output_limit_the_slowest_connections_are_closed(void **state)
{
    enum { COUNT = 10 };
    (void)state;
    for (int tls = 0; tls < 2; tls++) {
        struct rig g;
        struct client c[COUNT];
        bool whole[COUNT];
        rig_init(&g);
        g.config.http_output_memory_mb = 1;
        rig_start(&g);
        for (unsigned i = 0; i < COUNT; i++) {
            c[i] = client_open(&g, tls);
            client_send(&c[i], STR("GET /big?500000 HTTP/1.1\r\n" HOST));
            rig_await(&g, &g.requests, i + 1);
        }
        struct client honest = client_open(&g, tls);
        struct answer a = {0};
        expect(&honest, &a, STR("GET /big?500000 HTTP/1.1\r\n" HOST), 200, NULL);
        answer_done(&a);
        client_close(&honest);
        for (unsigned i = 0; i < COUNT; i++) {
            struct answer b = {0};
            whole[i] = answer_next(&b, &c[i]);
            answer_done(&b);
            client_close(&c[i]);
        }
        for (unsigned i = 0; i < COUNT - 3; i++)
            assert_false(whole[i]);
        assert_true(whole[COUNT - 1]);
        rig_done(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unread_constant_body_is_not_copied),
        cmocka_unit_test(a_constant_body_arrives_complete_when_read_late),
        cmocka_unit_test(small_replies_to_a_long_pipeline_do_not_accumulate),
        cmocka_unit_test(over_the_output_limit_the_slowest_connections_are_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
