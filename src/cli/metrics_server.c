#include "cli/metrics_server.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/container_of.h"
#include "base/mem.h"
#include "base/metric.h"
#include "http/server.h"

#define PAGE_MAX    (256u << 10)
#define CONNECTIONS 16
#define READ_S      5
#define IDLE_S      120  /* longer than the usual time between two scrapes */
#define WAIT_MS     3000 /* for answers, when stopping */

#define TEXT_HEAD "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\nCache-Control: no-store\r\n"
#define JSON_HEAD "Content-Type: application/json\r\nCache-Control: no-store\r\n"

struct metrics_server {
    struct http_server *http;
    struct readiness *readiness;
    struct buf page; /* the loop thread's */
};

static void respond_plain(struct http_request *r, int status, struct str head)
{
    http_respond(r, status, head, STR(""));
}

static void serve_page(struct metrics_server *m, struct http_request *r)
{
    m->page.n = 0;
    metric_render(&m->page);
    http_respond(r, m->page.full ? 500 : 200, STR(TEXT_HEAD), buf_view(&m->page));
}

/* ---- /ready ---- */

struct ready_request {
    struct readiness_question question;
    struct readiness_state state;
    struct http_request *http;
};

static void on_ready_posted(struct mail *mail)
{
    struct http_request *r = container_of(mail, struct http_request, mail);
    const struct ready_request *q = r->user;
    struct buf body = BUF(1000);
    readiness_write(&q->state, &body);
    http_respond(r, q->state.reason_count ? 503 : 200, STR(JSON_HEAD), buf_view(&body));
    buf_done(&body);
}

static void ready_answered(struct readiness_question *question, const struct readiness_state *state)
{
    struct ready_request *q = container_of(question, struct ready_request, question);
    q->state = *state;
    q->http->mail.run = on_ready_posted;
    http_post(q->http, &q->http->mail);
}

static void serve_ready(struct metrics_server *m, struct http_request *r)
{
    struct ready_request *q = arena_new(&r->arena, struct ready_request);
    q->http = r;
    q->question.answer = ready_answered;
    r->user = q;
    readiness_ask(m->readiness, &q->question);
}

/* ---- the server's callbacks ---- */

static void metrics_on_head(void *ctx, struct http_request *r, unsigned loop)
{
    (void)ctx, (void)loop;
    r->body_max = 0;
}

static void metrics_on_request(void *ctx, struct http_request *r, unsigned loop)
{
    (void)loop;
    const bool page = str_eq(r->path, STR("/metrics"));
    if (!page && !str_eq(r->path, STR("/ready")))
        respond_plain(r, 404, STR(""));
    else if (r->method != HTTP_GET && r->method != HTTP_HEAD)
        respond_plain(r, 405, STR("Allow: GET, HEAD\r\n"));
    else if (page)
        serve_page(ctx, r);
    else
        serve_ready(ctx, r);
}

static void metrics_on_refuse(void *ctx, struct http_request *r, enum err why, unsigned loop)
{
    (void)ctx, (void)loop;
    respond_plain(r, err_info(why)->status, STR(""));
}

/* ---- life ---- */

static void describe_build(const struct config *c)
{
    static char labels[100];
    snprintf(labels, sizeof labels, "version=\"%s\",engine=\"%s\",mode=\"%s\"", PORTERO_VERSION,
             c->engine == ENGINE_POSTGRESQL ? "postgresql" : "sqlite", c->top_mode);
    metric_set_info(labels);
    metric_set(metrics.start_time, clock_real_us());
}

/* The main server's limits do not fit: it may have every connection that the process can. */
static struct config own_config(const struct config *c)
{
    struct config own = *c;
    own.listen_https = "";
    own.listen_http = c->listen_metrics;
    own.http_threads = 1;
    own.http_connections = own.http_connections_per_address = CONNECTIONS;
    own.http_header_timeout_s = own.http_body_timeout_s = own.http_write_timeout_s = READ_S;
    own.http_idle_timeout_s = IDLE_S;
    own.http_drain_s = 0;
    return own;
}

enum err metrics_server_start(const struct config *c, struct readiness *readiness, struct metrics_server **ret,
                              char **ret_why)
{
    struct metrics_server *m = mem_new(struct metrics_server);
    const struct config own = own_config(c);
    const struct http_handler handler = {
        .ctx = m, .head = metrics_on_head, .request = metrics_on_request, .refuse = metrics_on_refuse};
    m->readiness = readiness;
    m->page = BUF(PAGE_MAX);
    describe_build(c);
    enum err e = http_server_new(&own, NULL, handler, &m->http, ret_why);
    if (!e)
        e = http_server_start(m->http, ret_why);
    if (e) {
        metrics_server_free(m);
        return e;
    }
    *ret = m;
    return ERR_NONE;
}

const char *metrics_server_address(const struct metrics_server *m)
{
    return http_server_http(m->http);
}

void metrics_server_stop(struct metrics_server *m)
{
    if (m)
        http_server_stop(m->http, WAIT_MS);
}

void metrics_server_free(struct metrics_server *m)
{
    if (!m)
        return;
    http_server_free(m->http);
    buf_done(&m->page);
    free(m);
}
