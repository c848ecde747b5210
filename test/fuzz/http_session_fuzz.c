/* Whole connections, up to four on one loop: arbitrary bytes in arbitrary pieces, answered early, at once or later,
 * closed at any moment. No request may be lost, leaked or answered twice; the output must be a sequence of complete
 * replies.
 *
 * Input: one byte of options, one for the size of the pieces, then the bytes of each client. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/http1.h"
#include "http/loop.h"

#define LATER_MAX 64

#define PEERS_MAX 4
#define OUT_SMALL 1024 /* the kernel rounds it up a little */

enum option { RESET = 1, HALF_CLOSE = 2, READ_LATE = 4, SMALL = 8, PEERS = 0x30 };

struct peer {
    int fd;
    size_t piece;
    struct str in; /* not sent yet */
    struct buf out;
};

static struct http_request *later[LATER_MAX];
static size_t later_count;
static struct http_loop loop;
static char constant[20000]; /* more than one write gathers */
static struct http_output output = {.most = SIZE_MAX};
static struct http_shared shared = {.output = &output, .protocol = &http1_protocol};

static void must(bool condition)
{
    if (!condition)
        abort();
}

static void answer(struct http_request *r, int status)
{
    http_respond(r, status, STR("X-A: b\r\n"), arena_printf(&r->arena, "%.*s", STR_ARG(r->body)));
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
    else if (r->path.n > 1 && r->path.p[1] == 'c')
        http_respond_constant(r, 200, STR("X-A: b\r\n"), str_n(constant, sizeof constant));
    else
        answer(r, 200);
}

static void on_refuse(void *ctx, struct http_request *r, enum err why, unsigned index)
{
    (void)ctx;
    (void)index;
    answer(r, err_info(why)->status);
}

/* One turn, as the loop's thread makes it. */
static void turn(void)
{
    event_base_loop(loop.base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
    http_conns_turn(&loop.conns);
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
    shared.counter = http_conn_counter_new(10, 10);
    signal(SIGPIPE, SIG_IGN);
    if (http_loop_init(&loop, &shared, 0))
        abort();
}

static void open_peer(struct peer *p, unsigned options, size_t piece, struct str in)
{
    struct http_origin origin = {.loopback = true, .text = "127.0.0.1"};
    int fds[2];
    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
    if (options & SMALL)
        must(setsockopt(fds[1], SOL_SOCKET, SO_SNDBUF, &(int){OUT_SMALL}, sizeof(int)) == 0);
    must(http_conn_counter_add(shared.counter, &origin.address, true) == HTTP_ADMITTED);
    http_conn_open(&loop.conns, fds[1], NULL, &origin);
    *p = (struct peer){.fd = fds[0], .piece = piece, .in = in, .out = BUF(1u << 28)};
}

/* Sends one piece. */
static void talk(struct peer *p)
{
    if (!p->in.n)
        return;
    ssize_t sent = send(p->fd, p->in.p, p->piece < p->in.n ? p->piece : p->in.n, MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN)
        sent = 0;
    p->in = sent < 0 ? STR("") : str_from(p->in, (size_t)sent);
}

static void talk_all(struct peer *peers, unsigned count, unsigned options)
{
    bool more = true;
    for (int turns = 0; more && turns < 20000; turns++) {
        more = false;
        for (unsigned i = 0; i < count; i++) {
            talk(&peers[i]);
            more = more || peers[i].in.n;
        }
        turn();
        if (turns % 8 == 7)
            answer_one();
        for (unsigned i = 0; i < count && !(options & READ_LATE); i++)
            take_replies(peers[i].fd, &peers[i].out);
        if (options & READ_LATE && turns > 1000)
            options &= ~(unsigned)READ_LATE; /* else neither side continues */
    }
}

/* Ends the client's side after its last byte. */
static void leave(const struct peer *p, unsigned options)
{
    if (options & HALF_CLOSE)
        shutdown(p->fd, SHUT_WR);
    if (options & RESET)
        close(p->fd);
}

static void finish(struct peer *peers, unsigned count, unsigned options)
{
    for (int i = 0, quiet = 0; i < 20000 && quiet < 100; i++) {
        quiet = later_count || !TAILQ_EMPTY(&loop.conns.ready) ? 0 : quiet + 1;
        answer_one();
        turn();
        for (unsigned p = 0; p < count && !(options & RESET); p++)
            take_replies(peers[p].fd, &peers[p].out);
    }
    must(later_count == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    if (!shared.counter)
        set_up();
    struct peer peers[PEERS_MAX];
    unsigned options = data[0], count = 1 + (options & PEERS) / (PEERS / 3);
    struct str in = str_n((const char *)data + 2, size - 2);
    for (unsigned i = 0; i < count; i++)
        open_peer(&peers[i], options, ((size_t)data[1] * 16 + 1) * (i + 1), in);
    talk_all(peers, count, options);
    for (unsigned i = 0; i < count; i++)
        leave(&peers[i], options);
    finish(peers, count, options);
    for (unsigned i = 0; i < count; i++) {
        if (!(options & RESET)) {
            check_replies(buf_view(&peers[i].out));
            close(peers[i].fd);
        }
        buf_done(&peers[i].out);
    }
    for (int i = 0; i < 100 && loop.conns.count; i++)
        turn();
    must(loop.conns.count == 0 && loop.conns.gathered_count == 0 && atomic_load(&output.held) == 0);
    return 0;
}
