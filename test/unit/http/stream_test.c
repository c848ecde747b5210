/* Streams: their bytes, their bounds, and their ends. */
#include "http/stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first */
#include <cmocka.h>

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/http1.h"
#include "http/loop.h"

#define REQUEST "GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n"

struct rig {
    struct http_shared shared;
    struct http_output output;
    struct http_loop *loop;
    struct http_conn *stream;
    int client;
    unsigned beats, taken, closed;
    bool gone; /* the client leaves before its answer */
};

static void on_beat(void *user)
{
    struct rig *g = user;
    g->beats++;
    assert_true(http_stream_send(g->stream, STR(":\n\n")));
}

static void on_drain(void *user)
{
    struct rig *g = user;
    assert_true(http_stream_send(g->stream, STR("bye\n\n")));
    http_stream_end(g->stream);
}

static void on_taken(void *user)
{
    struct rig *g = user;
    g->taken++;
}

static void on_closed(void *user)
{
    struct rig *g = user;
    g->closed++;
    g->stream = NULL;
}

static const struct http_stream_handler handler = {
    .beat = on_beat, .drain = on_drain, .taken = on_taken, .closed = on_closed};

static void on_head(void *ctx, struct http_request *r, unsigned loop)
{
    (void)ctx, (void)r, (void)loop;
}

static void on_request(void *ctx, struct http_request *r, unsigned loop)
{
    struct rig *g = ctx;
    (void)loop;
    if (g->gone)
        http_conns_abort(&g->loop->conns);
    g->stream = http_stream_begin(r, STR("Content-Type: text/event-stream\r\n"), &handler, g);
}

static void on_refuse(void *ctx, struct http_request *r, enum err why, unsigned loop)
{
    (void)ctx, (void)loop;
    http_respond(r, err_info(why)->status, STR(""), STR(""));
}

static void turn(struct rig *g)
{
    event_base_loop(g->loop->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
    http_conns_turn(&g->loop->conns);
}

/* The client's bytes so far. */
static const char *received(const struct rig *g)
{
    static char text[1 << 20];
    size_t n = 0;
    ssize_t got;
    while (n < sizeof text - 1 && (got = recv(g->client, text + n, sizeof text - 1 - n, 0)) > 0)
        n += (size_t)got;
    text[n] = '\0';
    return text;
}

static bool has_ended(const struct rig *g)
{
    char byte;
    return recv(g->client, &byte, 1, 0) == 0;
}

static int setup(void **state)
{
    struct http_origin origin = {.loopback = true, .text = "127.0.0.1"};
    struct rig *g = calloc(1, sizeof *g);
    int fds[2];
    assert_non_null(g);
    g->shared = (struct http_shared){.handler = {.ctx = g, .head = on_head, .request = on_request, .refuse = on_refuse},
                                     .protocol = &http1_protocol,
                                     .counter = http_conn_counter_new(10, 10),
                                     .output = &g->output,
                                     .limit_ms[CONN_STREAM] = 1};
    g->output.most = 1 << 20;
    assert_non_null(g->loop = calloc(1, sizeof *g->loop));
    assert_int_equal(http_loop_init(g->loop, &g->shared, 0), ERR_NONE);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    assert_int_equal(http_conn_counter_add(g->shared.counter, &origin.address, true), HTTP_ADMITTED);
    http_conn_open(&g->loop->conns, fds[1], NULL, &origin);
    g->client = fds[0];
    *state = g;
    return 0;
}

static int teardown(void **state)
{
    struct rig *g = *state;
    http_conns_abort(&g->loop->conns);
    assert_null(g->stream);
    http_loop_done(g->loop);
    http_conn_counter_free(g->shared.counter);
    free(g->loop);
    close(g->client);
    free(g);
    return 0;
}

static void begin(struct rig *g)
{
    assert_int_equal(send(g->client, REQUEST, strlen(REQUEST), 0), strlen(REQUEST));
    turn(g);
    assert_non_null(g->stream);
}

static void test_a_stream_has_no_length_and_sends_what_comes(void **state)
{
    struct rig *g = *state;
    begin(g);
    assert_true(http_stream_send(g->stream, STR("data: 1\n\n")));
    turn(g);
    const char *text = received(g);
    assert_memory_equal(text, "HTTP/1.1 200 OK\r\nDate: ", 23);
    assert_non_null(strstr(text, "\r\nConnection: close\r\n"));
    assert_null(strstr(text, "Content-Length"));
    assert_non_null(strstr(text, "\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n"));
    assert_true(http_stream_send(g->stream, STR("data: 2\n\n")));
    turn(g);
    assert_string_equal(received(g), "data: 2\n\n");
    assert_int_equal(g->closed, 0);
}

static void test_a_stream_holds_neither_the_request_nor_a_buffer(void **state)
{
    struct rig *g = *state;
    begin(g);
    assert_null(g->stream->exchange);
    assert_null(g->stream->in);
    assert_int_equal(g->stream->out.cap, 0);
}

static void test_input_on_a_stream_is_dropped_and_its_end_noticed(void **state)
{
    struct rig *g = *state;
    begin(g);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(send(g->client, REQUEST, strlen(REQUEST), 0), strlen(REQUEST));
        turn(g);
    }
    assert_non_null(g->stream);
    assert_int_equal(shutdown(g->client, SHUT_WR), 0);
    turn(g);
    assert_int_equal(g->closed, 1);
    assert_int_equal(g->loop->conns.count, 0);
}

static void test_a_quiet_stream_beats(void **state)
{
    struct rig *g = *state;
    begin(g);
    (void)received(g);
    for (unsigned i = 1; i <= 3; i++) {
        while (g->beats < i) {
            usleep(2000);
            http_conns_expire(&g->loop->conns);
        }
        turn(g);
        assert_non_null(strstr(received(g), ":\n\n"));
    }
}

/* Sends until the stream is cut. Returns the bytes that were accepted. */
static size_t flood(struct rig *g)
{
    static char block[8192];
    size_t sent = 0;
    memset(block, 'x', sizeof block);
    while (g->stream && sent < (16u << 20)) {
        sent += http_stream_send(g->stream, str_n(block, sizeof block)) ? sizeof block : 0;
        turn(g);
    }
    return sent;
}

/* LOG-15 */
static void test_a_peer_that_does_not_read_is_cut(void **state)
{
    struct rig *g = *state;
    begin(g);
    assert_in_range(flood(g), HTTP_STREAM_OUTPUT - 8192, (4 << 20));
    assert_int_equal(g->closed, 1);
    assert_int_equal(g->loop->conns.count, 0);
    assert_int_equal(g->output.held, 0);
}

/* LOG-15 */
static void test_a_peer_that_reads_nothing_between_two_beats_is_cut(void **state)
{
    struct rig *g = *state;
    begin(g);
    static char block[4096];
    memset(block, 'x', sizeof block);
    while (!http_conn_is_blocked(g->stream)) {
        assert_true(http_stream_send(g->stream, str_n(block, sizeof block)));
        turn(g);
    }
    while (g->stream) {
        usleep(2000);
        http_conns_expire(&g->loop->conns);
        turn(g);
    }
    assert_int_equal(g->beats, 1);
    assert_int_equal(g->loop->conns.count, 0);
}

static void test_a_sender_that_waits_is_told_once_when_all_is_taken(void **state)
{
    struct rig *g = *state;
    static char block[4096];
    begin(g);
    memset(block, 'x', sizeof block);
    while (!http_conn_is_blocked(g->stream)) {
        assert_true(http_stream_send(g->stream, str_n(block, sizeof block)));
        turn(g);
    }
    assert_true(http_stream_room(g->stream) < HTTP_STREAM_OUTPUT);
    http_stream_await(g->stream);
    turn(g);
    assert_int_equal(g->taken, 0);
    for (int i = 0; i < 100; i++) {
        (void)received(g);
        turn(g);
    }
    assert_int_equal(g->taken, 1);
    assert_int_equal(http_stream_room(g->stream), HTTP_STREAM_OUTPUT);
    http_stream_await(g->stream);
    turn(g);
    assert_int_equal(g->taken, 2);
}

static void test_held_output_of_streams_is_relieved(void **state)
{
    struct rig *g = *state;
    begin(g);
    g->output.most = 16384;
    assert_true(flood(g) > 0);
    http_conns_relieve(&g->loop->conns, NULL);
    assert_int_equal(g->closed, 1);
    assert_int_equal(g->output.held, 0);
}

static void test_the_end_of_a_stream_comes_after_its_bytes(void **state)
{
    struct rig *g = *state;
    begin(g);
    struct http_conn *c = g->stream;
    assert_true(http_stream_send(c, STR("last\n\n")));
    http_stream_end(c);
    assert_int_equal(g->closed, 1);
    turn(g);
    assert_non_null(strstr(received(g), "\r\n\r\nlast\n\n"));
    assert_true(has_ended(g));
}

static void test_a_stop_ends_streams_after_their_last_words(void **state)
{
    struct rig *g = *state;
    begin(g);
    http_streams_drain(&g->loop->conns);
    assert_int_equal(g->closed, 1);
    turn(g);
    assert_non_null(strstr(received(g), "\r\n\r\nbye\n\n"));
    assert_true(has_ended(g));
}

static void test_a_peer_that_has_gone_gets_no_stream(void **state)
{
    struct rig *g = *state;
    g->gone = true;
    assert_int_equal(send(g->client, REQUEST, strlen(REQUEST), 0), strlen(REQUEST));
    turn(g);
    assert_null(g->stream);
    assert_int_equal(g->closed, 0);
    assert_int_equal(g->loop->conns.count, 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_a_stream_has_no_length_and_sends_what_comes),
        TEST(test_a_stream_holds_neither_the_request_nor_a_buffer),
        TEST(test_input_on_a_stream_is_dropped_and_its_end_noticed),
        TEST(test_a_quiet_stream_beats),
        TEST(test_a_peer_that_does_not_read_is_cut),
        TEST(test_a_peer_that_reads_nothing_between_two_beats_is_cut),
        TEST(test_a_sender_that_waits_is_told_once_when_all_is_taken),
        TEST(test_held_output_of_streams_is_relieved),
        TEST(test_the_end_of_a_stream_comes_after_its_bytes),
        TEST(test_a_stop_ends_streams_after_their_last_words),
        TEST(test_a_peer_that_has_gone_gets_no_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
