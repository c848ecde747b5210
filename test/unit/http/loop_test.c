/* The turns of a loop, one at a time: the events between an answer and its sending. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first */
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/http1.h"
#include "http/listen.h"
#include "http/loop.h"
#include "http/socket.h"
#include "http/tls_self_signed.h"

#define REQUEST "GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n"

struct rig {
    struct http_shared shared;
    struct http_output output;
    struct http_loop *loop;
    int client; /* its other end is a connection of the loop */
    bool again; /* the client sends another request while its first is answered */
    unsigned requests;
};

static void on_head(void *ctx, struct http_request *r, unsigned loop)
{
    (void)ctx;
    (void)r;
    (void)loop;
}

static void on_request(void *ctx, struct http_request *r, unsigned loop)
{
    struct rig *g = ctx;
    (void)loop;
    g->requests++;
    if (g->again)
        assert_int_equal(send(g->client, REQUEST, strlen(REQUEST), 0), strlen(REQUEST));
    g->again = false;
    http_respond(r, 200, STR(""), r->path);
}

static void on_refuse(void *ctx, struct http_request *r, enum err why, unsigned loop)
{
    (void)ctx;
    (void)loop;
    http_respond(r, err_info(why)->status, STR(""), STR(""));
}

/* `tls`: for the connection; NULL: plain. */
static void rig_open_with(struct rig *g, unsigned connections, struct http_tls *tls)
{
    struct http_origin origin = {.loopback = true, .text = "127.0.0.1"};
    int fds[2];
    *g = (struct rig){
        .shared = {.handler = {.ctx = g, .head = on_head, .request = on_request, .refuse = on_refuse},
                   .protocol = &http1_protocol,
                   .counter = http_conn_counter_new(connections, connections),
                   .output = &g->output},
        .output = {.most = 1 << 20},
    };
    assert_non_null(g->loop = calloc(1, sizeof *g->loop));
    assert_int_equal(http_loop_init(g->loop, &g->shared, 0), ERR_NONE);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    assert_int_equal(http_conn_counter_add(g->shared.counter, &origin.address, true), HTTP_ADMITTED);
    http_conn_open(&g->loop->conns, fds[1], tls ? http_tls_accept(tls, fds[1]) : NULL, &origin);
    g->client = fds[0];
}

static void rig_open(struct rig *g, unsigned connections)
{
    rig_open_with(g, connections, NULL);
}

static void rig_close(struct rig *g)
{
    http_conns_abort(&g->loop->conns);
    assert_int_equal(g->loop->conns.count, 0);
    http_loop_done(g->loop);
    free(g->loop);
    http_conn_counter_free(g->shared.counter);
    close(g->client);
}

/* The loop thread's turn, without waiting for events. */
static void turn(struct rig *g)
{
    event_base_loop(g->loop->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
    http_conns_turn(&g->loop->conns);
    http_conns_handshakes(&g->loop->conns);
}

/* Returns the number of replies that have arrived. *ret_end: the connection has ended. */
static unsigned replies(const struct rig *g, bool *ret_end)
{
    char text[4096];
    size_t n = 0;
    ssize_t got;
    while ((got = recv(g->client, text + n, sizeof text - 1 - n, 0)) > 0)
        n += (size_t)got;
    text[n] = '\0';
    *ret_end = got == 0;
    unsigned count = 0;
    for (const char *p = text; (p = strstr(p, "HTTP/1.1 200 OK\r\n")); p++)
        count++;
    return count;
}

static int connect_to(int listener)
{
    struct sockaddr_in at;
    socklen_t n = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &n), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, n), 0);
    return fd;
}

static void an_evicted_connection_still_gets_its_reply(void **state)
{
    (void)state;
    struct rig g;
    bool end;
    rig_open(&g, 1);
    struct http_listener *l = &g.loop->listeners[HTTP_LISTEN_PLAIN];
    l->kind = HTTP_LISTEN_PLAIN;
    assert_int_equal(http_listen_tcp("127.0.0.1:0", false, &l->fd), ERR_NONE);
    assert_int_equal(http_listener_start(l), ERR_NONE);
    turn(&g);

    /* In the same turn the request is answered and the new connection evicts this one. */
    assert_int_equal(send(g.client, REQUEST, strlen(REQUEST), 0), strlen(REQUEST));
    int newcomer = connect_to(l->fd);
    turn(&g);
    assert_int_equal(g.requests, 1);
    assert_int_equal(replies(&g, &end), 1);
    assert_true(end);
    close(newcomer);
    rig_close(&g);
}

static void stopping_answers_a_request_that_arrived_behind_another(void **state)
{
    (void)state;
    struct rig g;
    bool end;
    rig_open(&g, 1);
    g.again = true;
    turn(&g);
    assert_int_equal(send(g.client, REQUEST, strlen(REQUEST), 0), strlen(REQUEST));
    assert_int_equal(event_add(&g.loop->mail_ev, NULL), 0);
    http_loop_stop(g.loop, 1000);
    turn(&g);
    turn(&g);
    assert_int_equal(g.requests, 2);
    assert_int_equal(replies(&g, &end), 2);
    assert_true(end);
    rig_close(&g);
}

/* ---- another protocol ---- */

static void echo_input(struct http_conn *c)
{
    char bytes[64];
    struct str got = str_n(bytes, http_socket_recv(c, bytes, sizeof bytes));
    http_conn_send(c, &got, 1, false);
}

static void echo_run(struct http_conn *c)
{
    (void)c;
}

static void echo_settle(struct http_conn *c)
{
    if (c->eof || c->broken)
        http_conn_end(c, false);
    else
        http_conn_wait_for(c, http_conn_is_blocked(c) ? EV_WRITE : EV_READ);
}

static bool echo_close(struct http_conn *c)
{
    (void)c;
    return true;
}

static const struct http_protocol echo = {
    .input = echo_input, .run = echo_run, .settle = echo_settle, .close = echo_close};

static void a_connection_can_speak_a_protocol_other_than_http1(void **state)
{
    (void)state;
    struct rig g;
    char text[16];
    rig_open(&g, 1);
    g.loop->conns.lists[CONN_IDLE].first->protocol = &echo;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(send(g.client, "echo", 4, 0), 4);
        turn(&g);
        assert_int_equal(recv(g.client, text, sizeof text, 0), 4);
        assert_memory_equal(text, "echo", 4);
    }
    assert_int_equal(g.requests, 0);
    shutdown(g.client, SHUT_WR);
    turn(&g);
    assert_int_equal(recv(g.client, text, sizeof text, 0), 0);
    assert_int_equal(g.loop->conns.count, 0);
    rig_close(&g);
}

/* ---- in TLS ---- */

static struct http_tls *make_tls(void)
{
    char dir[] = "/tmp/portero-loop-XXXXXX", certificate[64], key[64], *why = NULL;
    struct http_tls *tls;
    assert_non_null(mkdtemp(dir));
    snprintf(certificate, sizeof certificate, "%s/crt", dir);
    snprintf(key, sizeof key, "%s/key", dir);
    assert_int_equal(tls_self_signed(certificate, key), ERR_NONE);
    assert_int_equal(http_tls_new(certificate, key, "X25519", &tls, &why), ERR_NONE);
    unlink(certificate);
    unlink(key);
    rmdir(dir);
    return tls;
}

static SSL *shake_hands(struct rig *g, SSL_CTX *ctx)
{
    SSL *ssl = SSL_new(ctx);
    SSL_set_fd(ssl, g->client);
    SSL_set_connect_state(ssl);
    for (int i = 0; i < 20 && SSL_do_handshake(ssl) != 1; i++)
        turn(g);
    turn(g);
    assert_true(SSL_is_init_finished(ssl));
    return ssl;
}

/* Each record needs a separate read that no event announces. They must not delay other output of the loop. */
static void a_body_in_many_small_records_takes_many_turns(void **state)
{
    enum { RECORDS = 200 };
    (void)state;
    struct rig g;
    struct http_tls *tls = make_tls();
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    rig_open_with(&g, 1, tls);
    SSL *ssl = shake_hands(&g, ctx);
    const char head[] = "POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200\r\n\r\n";
    assert_int_equal(SSL_write(ssl, head, sizeof head - 1), sizeof head - 1);
    for (int i = 0; i < RECORDS; i++)
        assert_int_equal(SSL_write(ssl, "x", 1), 1);
    turn(&g);
    assert_int_equal(g.requests, 0);
    for (int i = 0; i < RECORDS; i++)
        turn(&g);
    assert_int_equal(g.requests, 1);
    SSL_free(ssl);
    SSL_CTX_free(ctx);
    rig_close(&g);
    http_tls_free(tls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_evicted_connection_still_gets_its_reply),
        cmocka_unit_test(stopping_answers_a_request_that_arrived_behind_another),
        cmocka_unit_test(a_connection_can_speak_a_protocol_other_than_http1),
        cmocka_unit_test(a_body_in_many_small_records_takes_many_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
