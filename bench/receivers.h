/* Fast receivers for bench_deliveries, in another process: the HTTP engine of the service, in TLS, on every address of
 * 127.0.0.0/8, so that each address is a separate receiver. Requests to /hang are never answered. */
#pragma once
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "http/server.h"

#define LATENCIES_MAX 65536

/* Shared with the receivers' process. */
struct received_requests {
    _Atomic int64_t count;             /* requests that were answered */
    _Atomic int64_t hanging;           /* requests that were not answered */
    int64_t latency_us[LATENCIES_MAX]; /* from the event's creation to its arrival, of the first events */
};

struct receivers {
    pid_t pid;
    int port;
    struct received_requests *heard;
};

static inline void receivers_head(void *ctx, struct http_request *r, unsigned loop)
{
    (void)ctx, (void)r, (void)loop;
}

static inline int64_t receivers_latency(struct str body)
{
    static const char before[] = "\"created_at\":\"";
    const char *at = memmem(body.p, body.n, before, sizeof before - 1);
    int64_t created_us = 0;
    if (!at || !time_parse(str_n(at + sizeof before - 1, TIME_TEXT_MAX - 1), &created_us))
        return 0;
    return clock_real_us() - created_us;
}

static inline void receivers_request(void *ctx, struct http_request *r, unsigned loop)
{
    struct received_requests *h = ctx;
    (void)loop;
    if (str_eq(r->path, STR("/hang"))) {
        h->hanging++;
        return;
    }
    int64_t latency_us = receivers_latency(r->body), n = h->count;
    if (n < LATENCIES_MAX)
        h->latency_us[n] = latency_us;
    http_respond(r, 200, STR(""), STR(""));
    h->count++; /* one loop is the only writer */
}

static inline void receivers_refuse(void *ctx, struct http_request *r, enum err why, unsigned loop)
{
    (void)ctx, (void)loop;
    http_respond(r, err_info(why)->status, STR(""), STR(""));
}

static inline int receivers_serve(const char *config_path, struct received_requests *heard, int port_fd)
{
    const struct http_handler handler = {
        .ctx = heard, .head = receivers_head, .request = receivers_request, .refuse = receivers_refuse};
    struct http_server *server;
    struct config *c;
    char *why = NULL;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (config_load(config_path, &c, &why) || http_server_new(c, NULL, handler, &server, &why) ||
        http_server_start(server, &why)) {
        fprintf(stderr, "receivers: %s\n", why ? why : "cannot start");
        return 1;
    }
    int port = atoi(strrchr(http_server_https(server), ':') + 1);
    if (write(port_fd, &port, sizeof port) != sizeof port)
        return 1;
    for (;;)
        pause();
}

/* Must be called before any thread is started. config_path: a configuration with their address and one HTTP thread. */
static inline bool receivers_start(const char *config_path, struct receivers *ret)
{
    int fds[2];
    struct received_requests *heard =
        mmap(NULL, sizeof *heard, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (heard == MAP_FAILED || pipe(fds))
        return false;
    pid_t pid = fork();
    if (pid == 0)
        _exit(receivers_serve(config_path, heard, fds[1]));
    close(fds[1]);
    *ret = (struct receivers){.pid = pid, .heard = heard};
    bool started = pid > 0 && read(fds[0], &ret->port, sizeof ret->port) == sizeof ret->port;
    close(fds[0]);
    return started;
}

static inline void receivers_stop(struct receivers *r)
{
    kill(r->pid, SIGKILL);
    waitpid(r->pid, NULL, 0);
    munmap(r->heard, sizeof *r->heard);
}
