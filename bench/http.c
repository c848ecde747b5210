/* The HTTP engine alone: one loop that answers every request with the same bytes, plain and in TLS, so that bench/run
 * can compare the service with it, and it with nginx. usage: bench_http [--bytes N]
 * prints "ready http://127.0.0.1:PORT https://127.0.0.1:PORT"; ends with SIGTERM. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "http/server.h"

#define MAX_BYTES 65536

static void on_head(void *ctx, struct http_request *r, unsigned loop)
{
    (void)ctx;
    (void)r;
    (void)loop;
}

static void on_request(void *ctx, struct http_request *r, unsigned loop)
{
    (void)loop;
    http_respond(r, 200,
                 STR("Content-Type: application/json\r\nX-Request-ID: 0123456789abcdef01234567\r\n"
                     "X-Content-Type-Options: nosniff\r\nStrict-Transport-Security: max-age=31536000\r\n"
                     "Cache-Control: no-store\r\n"),
                 *(const struct str *)ctx);
}

static void on_refuse(void *ctx, struct http_request *r, enum err why, unsigned loop)
{
    (void)ctx;
    (void)loop;
    http_respond(r, err_info(why)->status, STR(""), str_z(err_info(why)->code));
}

static size_t read_bytes(int argc, char **argv)
{
    uint64_t n = 200;
    bool given = argc == 3 && strcmp(argv[1], "--bytes") == 0;
    if (argc != 1 && !(given && str_to_u64(str_z(argv[2]), MAX_BYTES, &n))) {
        fprintf(stderr, "usage: bench_http [--bytes N]\n");
        exit(2);
    }
    return (size_t)n;
}

static void serve(const struct config *c, struct str *body)
{
    struct http_handler handler = {.ctx = body, .head = on_head, .request = on_request, .refuse = on_refuse};
    struct http_server *server;
    char *why = NULL;
    sigset_t ends;
    int signal;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    if (http_server_new(c, NULL, handler, &server, &why) || http_server_start(server, &why)) {
        fprintf(stderr, "bench_http: %s\n", why ? why : "cannot start");
        exit(1);
    }
    printf("ready http://%s https://%s\n", http_server_http(server), http_server_https(server));
    fflush(stdout);
    sigwait(&ends, &signal);
    http_server_stop(server, 1000);
    http_server_free(server);
}

int main(int argc, char **argv)
{
    static char bytes[MAX_BYTES];
    struct str body = str_n(bytes, read_bytes(argc, argv));
    char dir[] = "/tmp/bench_http_XXXXXX", path[64];
    memset(bytes, 'x', sizeof bytes);
    if (!mkdtemp(dir)) {
        perror("bench_http");
        return 1;
    }
    struct config c = {.top_data_dir = dir,
                       .listen_https = "127.0.0.1:0",
                       .listen_http = "127.0.0.1:0",
                       .tls_certificate = "",
                       .tls_key = "",
                       .tls_groups = "X25519:P-256",
                       .http_threads = 1,
                       .http_connections = 20000,
                       .http_connections_per_address = 20000,
                       .http_header_timeout_s = 10,
                       .http_body_timeout_s = 30,
                       .http_idle_timeout_s = 600,
                       .http_write_timeout_s = 30,
                       .http_output_memory_mb = 64};
    serve(&c, &body);
    snprintf(path, sizeof path, "%s/tls.crt", dir);
    unlink(path);
    snprintf(path, sizeof path, "%s/tls.key", dir);
    unlink(path);
    rmdir(dir);
    return 0;
}
