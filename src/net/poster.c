#include "net/poster.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/guard.h"
#include "net/tls.h"

#define EVENTS   64
#define MANY     16 /* events at once that mean overload */
#define HEAD_MAX 65536
#define BODY_MAX 65536 /* bytes read of a body to keep the connection */
#define IDLE_S   1     /* the receiver may be about to close a connection that was idle for longer */

struct net_poster {
    struct net_poster_options options;
    CURLM *multi;
    int epoll, wake_fd;
    int64_t timer_us;         /* the time of libcurl's timer, monotonic; INT64_MAX: not set */
    struct net_post *running; /* a list */
    CURL **idle;              /* handles for reuse */
    size_t idle_count, idle_size;
    struct curl_slist headers[3]; /* common to all requests; each request puts its own before them */
};

/* ---- callbacks of libcurl ---- */

static int poster_on_timer(CURLM *multi, long wait_ms, void *arg)
{
    struct net_poster *p = arg;
    (void)multi;
    p->timer_us = wait_ms < 0 ? INT64_MAX : clock_monotonic_us() + wait_ms * 1000;
    return 0;
}

/* Adds, changes or removes a watched socket. `known` is set once it is watched. */
static int poster_on_socket(CURL *curl, curl_socket_t fd, int what, void *arg, void *known)
{
    struct net_poster *p = arg;
    struct epoll_event e = {.data.fd = fd};
    (void)curl;
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(p->epoll, EPOLL_CTL_DEL, fd, NULL);
        return 0;
    }
    e.events = (what & CURL_POLL_IN ? (uint32_t)EPOLLIN : 0) | (what & CURL_POLL_OUT ? (uint32_t)EPOLLOUT : 0);
    if (epoll_ctl(p->epoll, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &e) && errno == EEXIST)
        epoll_ctl(p->epoll, EPOLL_CTL_MOD, fd, &e);
    curl_multi_assign(p->multi, fd, p);
    return 0;
}

static curl_socket_t open_guarded(void *arg, curlsocktype purpose, struct curl_sockaddr *a)
{
    struct net_post *post = arg;
    (void)purpose;
    if (!net_guard_permits(&a->addr, a->addrlen)) {
        post->refused = true;
        return CURL_SOCKET_BAD;
    }
    return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

/* libcurl is about to send. It would send again after a kept connection was closed without an answer. This prevents it:
 * the receiver may have received the request, and an attempt is one request.
 * NOLINTNEXTLINE(readability-non-const-parameter): the type is libcurl's */
static int poster_on_send(void *arg, char *peer_ip, char *own_ip, int peer_port, int own_port)
{
    struct net_post *post = arg;
    (void)peer_ip, (void)own_ip, (void)peer_port, (void)own_port;
    const bool again = post->sent;
    post->sent = true;
    return again ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

/* The value of a Retry-After in seconds (RFC 9110, section 10.2.3); a date is not understood. */
static void note_retry_after(struct net_post *post, struct str line)
{
    uint64_t s;
    struct str value;
    const struct str name = str_cut(line, ':', &value);
    while (value.n && (value.p[value.n - 1] == '\r' || value.p[value.n - 1] == '\n'))
        value.n--;
    if (str_eqi(name, STR("Retry-After")) && str_to_u64(str_trim(value), INT32_MAX, &s))
        post->retry_after_s = s < NET_RETRY_AFTER_MAX_S ? (long)s : NET_RETRY_AFTER_MAX_S;
}

/* A line of the answer's head. An empty line ends the head, unless the status is 1xx.
 * NOLINTNEXTLINE(readability-non-const-parameter): the type is libcurl's */
static size_t poster_on_head(char *line, size_t size, size_t count, void *arg)
{
    struct net_post *post = arg;
    size_t n = size * count;
    long status = 0;
    post->head_bytes += n;
    if (!post->status && (line[0] == '\r' || line[0] == '\n')) {
        curl_easy_getinfo(post->curl, CURLINFO_RESPONSE_CODE, &status);
        post->status = status >= 200 ? status : 0;
    }
    if (!post->status)
        note_retry_after(post, str_n(line, n));
    return post->head_bytes <= HEAD_MAX ? n : 0;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the type is libcurl's */
static size_t poster_on_body(char *bytes, size_t size, size_t count, void *arg)
{
    struct net_post *post = arg;
    (void)bytes;
    post->body_bytes += size * count;
    return post->body_bytes <= BODY_MAX ? size * count : 0;
}

/* ---- handles ---- */

static CURL *poster_handle_new(const struct net_poster *p)
{
    CURL *c = curl_easy_init();
    if (!c)
        return NULL;
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_QUICK_EXIT, 1L); /* a time-out does not wait for a name server */
    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "https");
    curl_easy_setopt(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(c, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    net_tls_bound_curl(c);
    curl_easy_setopt(c, CURLOPT_SSL_VERIFYPEER, p->options.verify_tls ? 1L : 0L);
    curl_easy_setopt(c, CURLOPT_SSL_VERIFYHOST, p->options.verify_tls ? 2L : 0L);
    curl_easy_setopt(c, CURLOPT_PROXY, "");
    curl_easy_setopt(c, CURLOPT_MAXAGE_CONN, (long)IDLE_S);
    curl_easy_setopt(c, CURLOPT_USERAGENT, "Portero/" PORTERO_VERSION);
    curl_easy_setopt(c, CURLOPT_PREREQFUNCTION, poster_on_send);
    curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, poster_on_head);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, poster_on_body);
    if (!p->options.allow_private)
        curl_easy_setopt(c, CURLOPT_OPENSOCKETFUNCTION, open_guarded);
    return c;
}

static CURL *poster_handle_take(struct net_poster *p)
{
    return p->idle_count > 0 ? p->idle[--p->idle_count] : poster_handle_new(p);
}

static void poster_handle_return(struct net_poster *p, CURL *c)
{
    if (p->idle_count == p->idle_size) {
        p->idle_size = p->idle_size ? 2 * p->idle_size : 64;
        mem_resize(p->idle, p->idle_size);
    }
    p->idle[p->idle_count++] = c;
}

/* ---- requests ---- */

static void link_post(struct net_poster *p, struct net_post *post)
{
    post->previous = NULL;
    post->next = p->running;
    if (post->next)
        post->next->previous = post;
    p->running = post;
}

static void unlink_post(struct net_poster *p, struct net_post *post)
{
    if (post->next)
        post->next->previous = post->previous;
    if (post->previous)
        post->previous->next = post->next;
    else
        p->running = post->next;
}

static struct curl_slist slist_item(const char *text, struct curl_slist *next)
{
    const union {
        const char *text;
        char *data; /* libcurl's type, though it does not write */
    } line = {text};
    return (struct curl_slist){.data = line.data, .next = next};
}

/* The request's own lines, followed by the common ones. */
static struct curl_slist *poster_lines(struct net_poster *p, struct net_post *post)
{
    struct curl_slist *list = p->headers;
    for (size_t i = NET_POST_HEADERS_MAX; i-- > 0;) {
        if (!post->headers[i])
            continue;
        post->lines[i] = slist_item(post->headers[i], list);
        list = &post->lines[i];
    }
    return list;
}

enum err net_poster_start(struct net_poster *p, struct net_post *post)
{
    CURL *c = poster_handle_take(p);
    if (!c)
        return ERR_IO;
    const long timeout_ms = post->timeout_ms ? post->timeout_ms : p->options.timeout_ms;
    post->curl = c;
    post->status = 0;
    post->failure = NULL;
    post->timed_out = post->refused = post->sent = false;
    post->head_bytes = post->body_bytes = 0;
    post->retry_after_s = 0;
    curl_easy_setopt(c, CURLOPT_URL, post->url);
    curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, timeout_ms);
    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, timeout_ms);
    curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)post->body.n);
    curl_easy_setopt(c, CURLOPT_POSTFIELDS, post->body.p);
    curl_easy_setopt(c, CURLOPT_HTTPHEADER, poster_lines(p, post));
    curl_easy_setopt(c, CURLOPT_PREREQDATA, post);
    curl_easy_setopt(c, CURLOPT_HEADERDATA, post);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, post);
    curl_easy_setopt(c, CURLOPT_OPENSOCKETDATA, post);
    curl_easy_setopt(c, CURLOPT_PRIVATE, post);
    if (curl_multi_add_handle(p->multi, c) != CURLM_OK) {
        curl_easy_cleanup(c);
        return ERR_IO;
    }
    link_post(p, post);
    return ERR_NONE;
}

static const char *failure_word(CURLcode code, const struct net_post *post)
{
    long sent = 0; /* bytes of the request */
    switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
        return "timeout";
    case CURLE_COULDNT_RESOLVE_HOST:
        return "resolve";
    case CURLE_COULDNT_CONNECT:
        return post->refused ? "address" : "connect";
    case CURLE_URL_MALFORMAT:
        return "url";
    case CURLE_UNSUPPORTED_PROTOCOL: /* of the URL, or the answer is not HTTP/1 */
        curl_easy_getinfo(post->curl, CURLINFO_REQUEST_SIZE, &sent);
        return sent > 0 ? "broken" : "url";
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
        return "tls";
    default:
        return "broken";
    }
}

static void finish_post(struct net_poster *p, const CURLMsg *m)
{
    CURL *c = m->easy_handle;
    CURLcode code = m->data.result;
    struct net_post *post = NULL;
    curl_easy_getinfo(c, CURLINFO_PRIVATE, &post);
    post->timed_out = code == CURLE_OPERATION_TIMEDOUT;
    post->failure = post->status ? NULL : failure_word(code, post);
    post->curl = NULL;
    curl_multi_remove_handle(p->multi, c);
    poster_handle_return(p, c);
    unlink_post(p, post);
    post->done(post);
}

static void finish_all(struct net_poster *p)
{
    const CURLMsg *m;
    int left;
    while ((m = curl_multi_info_read(p->multi, &left)))
        if (m->msg == CURLMSG_DONE)
            finish_post(p, m);
}

/* ---- waiting ---- */

/* In milliseconds, rounded up so that the timer has expired after the wait. */
static int poster_wait_ms(const struct net_poster *p, int wait_ms)
{
    if (p->timer_us == INT64_MAX)
        return wait_ms;
    int64_t ms = (p->timer_us - clock_monotonic_us() + 999) / 1000;
    return ms < 0 ? 0 : ms < wait_ms ? (int)ms : wait_ms;
}

static int select_mask(uint32_t events)
{
    return (events & EPOLLIN ? CURL_CSELECT_IN : 0) | (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
           (events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
}

bool net_poster_wait(struct net_poster *p, int wait_ms)
{
    struct epoll_event events[EVENTS];
    int running, n = epoll_wait(p->epoll, events, EVENTS, poster_wait_ms(p, wait_ms));
    for (int i = 0; i < n; i++)
        if (events[i].data.fd != p->wake_fd)
            curl_multi_socket_action(p->multi, events[i].data.fd, select_mask(events[i].events), &running);
    if (p->timer_us <= clock_monotonic_us()) {
        p->timer_us = INT64_MAX;
        curl_multi_socket_action(p->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    }
    finish_all(p);
    return n >= MANY;
}

/* ---- the poster ---- */

static void set_headers(struct net_poster *p)
{
    static char expect[] = "Expect:", accept[] = "Accept:";
    p->headers[0] = slist_item(p->options.type ? p->options.type : "Content-Type: application/json", &p->headers[1]);
    p->headers[1] = (struct curl_slist){.data = expect, .next = &p->headers[2]};
    p->headers[2] = (struct curl_slist){.data = accept};
}

static bool open_multi(struct net_poster *p)
{
    struct epoll_event e = {.events = EPOLLIN, .data.fd = p->wake_fd};
    p->multi = curl_multi_init();
    p->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!p->multi || p->epoll < 0 || epoll_ctl(p->epoll, EPOLL_CTL_ADD, p->wake_fd, &e))
        return false;
    return curl_multi_setopt(p->multi, CURLMOPT_SOCKETFUNCTION, poster_on_socket) == CURLM_OK &&
           curl_multi_setopt(p->multi, CURLMOPT_SOCKETDATA, p) == CURLM_OK &&
           curl_multi_setopt(p->multi, CURLMOPT_TIMERFUNCTION, poster_on_timer) == CURLM_OK &&
           curl_multi_setopt(p->multi, CURLMOPT_TIMERDATA, p) == CURLM_OK &&
           curl_multi_setopt(p->multi, CURLMOPT_MAXCONNECTS, p->options.connections_kept) == CURLM_OK;
}

enum err net_poster_new(const struct net_poster_options *options, int wake_fd, struct net_poster **ret)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT))
        return ERR_IO;
    struct net_poster *p = mem_new(struct net_poster);
    p->options = *options;
    p->wake_fd = wake_fd;
    p->epoll = -1;
    p->timer_us = INT64_MAX;
    set_headers(p);
    if (!open_multi(p)) {
        net_poster_free(p);
        return ERR_IO;
    }
    *ret = p;
    return ERR_NONE;
}

void net_poster_free(struct net_poster *p)
{
    if (!p)
        return;
    for (struct net_post *post = p->running; post; post = post->next) {
        curl_multi_remove_handle(p->multi, post->curl);
        curl_easy_cleanup(post->curl);
    }
    while (p->idle_count > 0)
        curl_easy_cleanup(p->idle[--p->idle_count]);
    free(p->idle);
    curl_multi_cleanup(p->multi);
    if (p->epoll >= 0)
        close(p->epoll);
    free(p);
    curl_global_cleanup();
}
