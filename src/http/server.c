#include "http/server.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config_check.h"
#include "base/mem.h"
#include "http/http1.h"
#include "http/listen.h"
#include "http/loop.h"
#include "http/stream.h"
#include "http/tls_self_signed.h"

#define LINGER_MS 3000 /* for the peer to close its side */

struct http_server {
    struct http_shared shared;
    struct http_output output;
    struct http_loop *loops;
    unsigned loop_count, running;
    char https[HTTP_BOUND_TEXT], http[HTTP_BOUND_TEXT];
    char *control_path; /* the file of our control socket */
};

/* ---- certificate ---- */

static enum err make_self_signed(const char *certificate, const char *key, char **ret_why)
{
    if (access(certificate, F_OK) == 0 && access(key, F_OK) == 0)
        return ERR_NONE;
    enum err e = tls_self_signed(certificate, key);
    return e ? err_why(ret_why, e, "%s: %s", certificate, strerror(errno)) : ERR_NONE;
}

static enum err open_tls(struct http_server *s, const struct config *c, char **ret_why)
{
    if (c->tls_certificate[0] || c->tls_key[0])
        return http_tls_new(c->tls_certificate, c->tls_key, c->tls_groups, &s->shared.tls, ret_why);
    if (c->production)
        return err_why(ret_why, ERR_USAGE, "tls.certificate and tls.key are required in production");
    char *certificate = mem_printf("%s/tls.crt", c->top_data_dir);
    char *key = mem_printf("%s/tls.key", c->top_data_dir);
    enum err e = make_self_signed(certificate, key, ret_why);
    if (!e)
        e = http_tls_new(certificate, key, c->tls_groups, &s->shared.tls, ret_why);
    free(certificate);
    free(key);
    return e;
}

/* ---- listeners ---- */

/* Binds one socket for each loop, in this place of its listeners. If the address has port 0, the first socket
 * determines the port of the others. */
static enum err bind_all(struct http_server *s, enum http_listen_kind kind, unsigned place, const char *address,
                         char *bound, char **ret_why)
{
    for (unsigned i = 0; i < s->loop_count; i++) {
        int fd;
        const bool first = i == 0 || str_starts(str_z(address), STR(HTTP_INHERITED));
        enum err e = http_listen_tcp(first ? address : bound, i > 0, &fd);
        if (e)
            return err_why(ret_why, e, "%s: %s", address, e == ERR_USAGE ? "not an address and port" : strerror(errno));
        s->loops[i].listeners[place].fd = fd;
        s->loops[i].listeners[place].kind = kind;
        if (i == 0)
            http_listen_text(fd, bound);
    }
    return ERR_NONE;
}

static bool has_ipv6_loopback(void)
{
    int fd;
    if (http_listen_tcp("[::1]:0", false, &fd))
        return false;
    close(fd);
    return true;
}

/* The address of the configuration. localhost is not looked up: a program on this machine may find either address, or
 * try only the first. */
static enum err bind_configured(struct http_server *s, enum http_listen_kind kind, const char *address, char *bound,
                                char **ret_why)
{
    char first[HTTP_BOUND_TEXT], second[HTTP_BOUND_TEXT];
    const char *port = config_localhost_port(address);
    if (!address[0])
        return ERR_NONE;
    if (!port)
        return bind_all(s, kind, kind, address, bound, ret_why);
    snprintf(first, sizeof first, "127.0.0.1:%s", port);
    enum err e = bind_all(s, kind, kind, first, bound, ret_why);
    if (e || !has_ipv6_loopback())
        return e;
    port = strrchr(bound, ':') + 1;
    snprintf(first, sizeof first, "[::1]:%s", port);
    e = bind_all(s, kind, HTTP_LISTEN_KINDS + kind, first, second, ret_why);
    if (!e)
        snprintf(bound, HTTP_BOUND_TEXT, "localhost%s", strrchr(second, ':'));
    return e;
}

static enum err bind_control(struct http_server *s, const char *path, char **ret_why)
{
    if (!path)
        return ERR_NONE;
    struct http_listener *l = &s->loops[0].listeners[HTTP_LISTEN_CONTROL];
    enum err e = http_listen_unix(path, &l->fd);
    if (e)
        return err_why(ret_why, e, "%s: %s", path, strerror(errno));
    l->kind = HTTP_LISTEN_CONTROL;
    s->control_path = mem_strdup(path);
    return ERR_NONE;
}

/* ---- the server ---- */

/* At most half of the process's descriptors, so that hitting the limit evicts idle connections. A lack of descriptors
 * would also stop telephone calls and connections to other servers. */
static unsigned connection_limit(const struct config *c)
{
    struct rlimit files;
    rlim_t most = (rlim_t)c->http_connections;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur / 2 < most)
        most = files.rlim_cur / 2;
    return (unsigned)most;
}

static enum err read_limits(struct http_server *s, const struct config *c, struct http_handler handler, char **ret_why)
{
    const char *bad = "";
    int64_t *limit = s->shared.limit_ms;
    s->shared.handler = handler;
    s->shared.protocol = &http1_protocol;
    s->output.most = (size_t)c->http_output_memory_mb << 20;
    s->shared.output = &s->output;
    limit[CONN_HANDSHAKE] = limit[CONN_HEAD] = c->http_header_timeout_s * 1000;
    limit[CONN_BODY] = c->http_body_timeout_s * 1000;
    limit[CONN_IDLE] = c->http_idle_timeout_s * 1000;
    limit[CONN_FLUSH] = c->http_write_timeout_s * 1000;
    limit[CONN_STREAM] = HTTP_STREAM_BEAT_MS;
    limit[CONN_LINGER] = LINGER_MS;
    s->shared.drain_ms = c->http_drain_s * 1000;
    s->shared.counter = http_conn_counter_new(connection_limit(c), (unsigned)c->http_connections_per_address);
    enum err e = net_cidrs_parse(c->top_trusted_proxies, &s->shared.trusted, &bad);
    return e ? err_why(ret_why, e, "trusted_proxies: %s is not a CIDR block", bad) : ERR_NONE;
}

static enum err make_loops(struct http_server *s, const struct config *c)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned count = c->http_threads ? (unsigned)c->http_threads : cores > 0 ? (unsigned)cores : 1;
    if (count > HTTP_MAX_LOOPS)
        count = HTTP_MAX_LOOPS;
    s->loops = mem_array(struct http_loop, count);
    for (; s->loop_count < count; s->loop_count++) {
        enum err e = http_loop_init(&s->loops[s->loop_count], &s->shared, s->loop_count);
        if (e)
            return e;
    }
    return ERR_NONE;
}

enum err http_server_new(const struct config *c, const char *control_path, struct http_handler handler,
                         struct http_server **ret, char **ret_why)
{
    struct http_server *s = mem_new(struct http_server);
    enum err e = read_limits(s, c, handler, ret_why);
    if (!e && (e = make_loops(s, c)))
        e = err_why(ret_why, e, "event loop: %s", strerror(errno));
    if (!e && c->listen_https[0])
        e = open_tls(s, c, ret_why);
    if (!e)
        e = bind_configured(s, HTTP_LISTEN_TLS, c->listen_https, s->https, ret_why);
    if (!e)
        e = bind_configured(s, HTTP_LISTEN_PLAIN, c->listen_http, s->http, ret_why);
    if (!e)
        e = bind_control(s, control_path, ret_why);
    if (e) {
        http_server_free(s);
        return e;
    }
    *ret = s;
    return ERR_NONE;
}

enum err http_server_start(struct http_server *s, char **ret_why)
{
    for (; s->running < s->loop_count; s->running++) {
        enum err e = http_loop_start(&s->loops[s->running]);
        if (e) {
            e = err_why(ret_why, e, "HTTP server: %s", strerror(errno));
            http_server_stop(s, 0);
            return e;
        }
    }
    return ERR_NONE;
}

const char *http_server_https(const struct http_server *s)
{
    return s->https[0] ? s->https : NULL;
}

const char *http_server_http(const struct http_server *s)
{
    return s->http[0] ? s->http : NULL;
}

void http_server_local_url(const struct http_server *s, char ret[static HTTP_LOCAL_URL_TEXT])
{
    snprintf(ret, HTTP_LOCAL_URL_TEXT, "https://localhost%s", s->https[0] ? strrchr(s->https, ':') : "");
}

enum err http_server_reload(struct http_server *s, char **ret_why)
{
    return s->shared.tls ? http_tls_reload(s->shared.tls, ret_why) : ERR_NONE;
}

int64_t http_server_turned_us(const struct http_server *s)
{
    int64_t oldest_us = INT64_MAX;
    for (unsigned i = 0; i < s->running; i++) {
        const int64_t us = atomic_load_explicit(&s->loops[i].turned_us, memory_order_relaxed);
        oldest_us = us < oldest_us ? us : oldest_us;
    }
    return oldest_us;
}

void http_server_stop(struct http_server *s, int wait_ms)
{
    for (unsigned i = 0; i < s->running; i++)
        http_loop_stop(&s->loops[i], wait_ms);
    for (unsigned i = 0; i < s->running; i++)
        pthread_join(s->loops[i].thread, NULL);
    s->running = 0;
}

void http_server_free(struct http_server *s)
{
    if (!s)
        return;
    http_server_stop(s, 0);
    for (unsigned i = 0; i < s->loop_count; i++)
        http_loop_done(&s->loops[i]);
    free(s->loops);
    if (s->control_path)
        unlink(s->control_path);
    free(s->control_path);
    http_tls_free(s->shared.tls);
    http_conn_counter_free(s->shared.counter);
    net_cidrs_done(&s->shared.trusted);
    free(s);
}
