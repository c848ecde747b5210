/* A service with the caller's routes, on a real HTTP server and a real store, and clients of it.
 *
 * Clients come through the plain port as if from a trusted proxy, so that requests count as HTTPS without a handshake.
 */
#pragma once
#include "domain/building_fixture.h"

#include "api/service.h"
#include "base/unit.h"
#include "domain/key.h"
#include "http/harness.h"

struct server {
    struct building_fixture *building;
    struct service *service;
    struct http_server *http;
    uint16_t port;
    char key[KEY_TEXT_MAX]; /* of the fixture's account, with access:read alone */
    struct id key_id;
};

static struct server *server; /* of the test that runs, for handlers */

static inline enum err server_issue_key(struct tx *tx, void *arg)
{
    struct server *s = arg;
    struct key_issued issued;
    enum err e = key_issue(tx,
                           &(struct key_options){.kind = KEY_AGENT,
                                                 .account_id = s->building->account,
                                                 .name = STR("test"),
                                                 .scopes = SCOPE(ACCESS_READ),
                                                 .ttl_s = INT32_MAX},
                           &issued);
    if (e)
        return e;
    memcpy(s->key, issued.text, sizeof issued.text);
    s->key_id = issued.id;
    return ERR_NONE;
}

static inline void server_configure(struct config *c)
{
    static const char *const proxies[] = {"127.0.0.1/32", NULL};
    c->top_trusted_proxies = proxies;
    c->top_public_url = "https://door.example.com";
    c->listen_http = "127.0.0.1:0";
    c->listen_https = "";
    c->http_threads = 1;
    c->http_connections = c->http_connections_per_address = 1000;
    c->http_header_timeout_s = c->http_body_timeout_s = c->http_idle_timeout_s = c->http_write_timeout_s = 60;
    c->http_output_memory_mb = 64;
    c->limits_requests_active = 10;
    c->limits_requests_free = c->limits_plans_per_ip = c->limits_auth_per_ip = c->limits_otp_per_ip = 10;
}

/* *state is a building fixture; the server takes its place there. */
static inline int server_open(void **state, const struct route_set *const *sets, size_t count)
{
    struct server *s = calloc(1, sizeof *s);
    char *why = NULL;
    if (!s)
        return -1;
    s->building = *state;
    struct config *c = &s->building->fixture->config;
    server_configure(c);
    fixture_sql(s->building, "UPDATE building SET is_primary = 1");
    struct service_options options = {
        .config = c, .sets = sets, .set_count = count, .parts = {.store = s->building->fixture->store}};
    if (fixture_run(s->building, STORE_WRITE, server_issue_key, s) || service_new(&options, &s->service) ||
        http_server_new(c, NULL, service_handler(s->service), &s->http, &why) || http_server_start(s->http, &why)) {
        fprintf(stderr, "%s\n", why ? why : "server_open");
        return -1;
    }
    service_parts(s->service)->public_url = c->top_public_url;
    s->port = rig_port(http_server_http(s->http));
    server = s;
    *state = s;
    return 0;
}

static inline int server_close(void **state)
{
    struct server *s = *state;
    void *building = s->building;
    if (s->http)
        http_server_stop(s->http, 5000);
    service_stop(s->service);
    http_server_free(s->http);
    service_free(s->service);
    server = NULL;
    free(s);
    return fixture_close(&building);
}

#define KEEP_OPEN "X-Forwarded-Proto: https\r\nX-Forwarded-For: 192.0.2.7\r\n"

/* Sends a request; `headers` are complete lines, `body` is JSON or NULL. */
static inline void server_send(struct client *c, const char *line, const char *headers, const char *body)
{
    struct buf b = BUF(1u << 20);
    buf_printf(&b, "%s HTTP/1.1\r\nHost: door.example.com\r\n" KEEP_OPEN "%s", line, headers);
    if (body)
        buf_printf(&b, "Content-Type: application/json\r\nContent-Length: %zu\r\n", strlen(body));
    buf_printf(&b, "\r\n%s", body ? body : "");
    client_send(c, buf_view(&b));
    buf_done(&b);
}

/* One request on a new connection; the reply stays valid until answer_done. */
static inline struct answer server_ask(const char *line, const char *headers, const char *body)
{
    struct client c = client_plain(server->port);
    struct answer a = {0};
    server_send(&c, line, headers, body);
    assert_true(answer_next_to(&a, &c, strncmp(line, "HEAD ", 5) == 0));
    client_close(&c);
    return a;
}

static inline int server_status(const char *line, const char *headers, const char *body)
{
    struct answer a = server_ask(line, headers, body);
    int status = a.statuses[0];
    answer_done(&a);
    return status;
}

static inline bool answer_has(const struct answer *a, const char *text)
{
    return a->body.n && memmem(a->body.p, a->body.n, text, strlen(text));
}

/* The envelope of one error, whose requestId equals the header's. */
static inline void expect_envelope(const struct answer *a, int status, const char *code)
{
    char wanted[80];
    snprintf(wanted, sizeof wanted, "\"code\":\"%s\"", code);
    if (a->statuses[0] != status || !answer_has(a, wanted))
        fail_msg("%d %.*s, expected %d %s", a->statuses[0], STR_ARG(a->body), status, code);
    struct str id = answer_field(a->head, "X-Request-ID");
    assert_true(id.n == 28 && memmem(a->body.p, a->body.n, id.p, id.n));
}
