/* A whole connection: arbitrary bytes in arbitrary pieces, answered early, at once or later, closed at any moment.
 * Nothing may be lost, leaked or answered twice; what comes out must be a row of complete replies.
 *
 * Input: one byte of options, one for the size of the pieces, then what the client sends. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/loop.h"
#include "http/session.h"

#define LATER_MAX 64

enum option { RESET = 1, HALF_CLOSE = 2, READ_LATE = 4 };

static struct http_request *later[LATER_MAX];
static size_t later_count;
static struct http_loop loop;
static struct http_shared shared;

static void must(bool condition)
{
    if (!condition)
        abort();
}

static void answer(struct http_request *r, int status)
{
    http_reply(r, status, STR("X-A: b\r\n"), arena_printf(&r->arena, "%.*s", STR_ARG(r->body)));
}

static void on_head(void *ctx, struct http_request *r, unsigned index)
{
    (void)ctx;
    (void)index;
    if (r->path.n > 1 && r->path.p[1] == 'e')
        answer(r, 401);
}

static void on_request(void *ctx, struct http_request *r, unsigned index)
{
    (void)ctx;
    (void)index;
    must(r->body.n <= HTTP_MAX_BODY && r->path.n > 0);
    if (r->path.n > 1 && r->path.p[1] == 'w' && later_count < LATER_MAX)
        later[later_count++] = r;
    else
        answer(r, 200);
}

static void on_refuse(void *ctx, struct http_request *r, enum err why, unsigned index)
{
    (void)ctx;
    (void)index;
    answer(r, err_info(why)->status);
}

static void turn(void)
{
    while (loop.lists[CONN_READY].first)
        http_session_run(loop.lists[CONN_READY].first);
    event_base_loop(loop.base, EVLOOP_NONBLOCK);
}

static void answer_one(void)
{
    if (later_count)
        answer(later[--later_count], 202);
}

static void take_replies(int fd, struct buf *out)
{
    char bytes[4096];
    for (ssize_t n; (n = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0;)
        buf_put(out, bytes, (size_t)n);
}

static void check_replies(struct str out)
{
    while (out.n) {
        must(str_starts(out, STR("HTTP/1.1 ")));
        const char *end = memmem(out.p, out.n, "\r\n\r\n", 4);
        must(end);
        struct str head = str_n(out.p, (size_t)(end - out.p) + 4);
        const char *field = memmem(head.p, head.n, "Content-Length: ", 16);
        size_t length = field ? strtoul(field + 16, NULL, 10) : 0;
        must(field || str_starts(head, STR("HTTP/1.1 100 ")));
        out = str_from(out, head.n);
        if (out.n >= length && (out.n == length || str_starts(str_from(out, length), STR("HTTP/1.1 "))))
            out = str_from(out, length);
        else
            must(out.n == 0 || str_starts(out, STR("HTTP/1.1 "))); /* the answer to a HEAD */
    }
}

static void set_up(void)
{
    shared.handler = (struct http_handler){.head = on_head, .request = on_request, .refuse = on_refuse};
    shared.census = http_census_new(10, 10);
    signal(SIGPIPE, SIG_IGN);
    if (http_loop_init(&loop, &shared, 0))
        abort();
}

static void open_pair(int ret_fds[2])
{
    struct http_origin origin = {.loopback = true, .text = "127.0.0.1"};
    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ret_fds) == 0);
    must(http_census_enter(shared.census, &origin.address, true) == HTTP_ADMITTED);
    http_conn_open(&loop, ret_fds[1], NULL, &origin);
}

static void talk(int fd, unsigned options, size_t piece, struct str in, struct buf *out)
{
    while (in.n) {
        size_t n = piece < in.n ? piece : in.n;
        ssize_t sent = send(fd, in.p, n, MSG_NOSIGNAL);
        turn();
        if (sent < 0 && loop.lists[CONN_WAIT].first)
            answer_one();
        else if (sent < 0)
            break;
        in = str_from(in, sent > 0 ? (size_t)sent : 0);
        if (!(options & READ_LATE))
            take_replies(fd, out);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    if (!shared.census)
        set_up();
    unsigned options = data[0];
    struct buf out = BUF(1u << 24);
    int fds[2];
    open_pair(fds);
    talk(fds[0], options, (size_t)data[1] * 16 + 1, str_n((const char *)data + 2, size - 2), &out);
    if (options & HALF_CLOSE)
        shutdown(fds[0], SHUT_WR);
    if (options & RESET) {
        close(fds[0]);
        turn();
    }
    for (int i = 0; i < 10000 && (later_count || loop.lists[CONN_READY].first); i++) {
        answer_one();
        turn();
        if (!(options & RESET))
            take_replies(fds[0], &out);
    }
    must(later_count == 0);
    if (!(options & RESET)) {
        turn();
        take_replies(fds[0], &out);
        check_replies(buf_view(&out));
        close(fds[0]);
    }
    for (int i = 0; i < 100 && loop.connections; i++)
        turn();
    must(loop.connections == 0);
    buf_done(&out);
    return 0;
}
