#include "cli/absence.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/reply.h"
#include "base/clock.h"
#include "base/mem.h"
#include "http/server.h"
#include "resources/meta.h"

#define HEAD_MAX 1000
#define BODY_MAX 4000

struct absence {
    const struct config *config;
    struct readiness *readiness;
    struct http_server *http;
    int64_t started_us;
};

static struct {
    pthread_mutex_t lock;
    char why[ABSENCE_TEXT]; /* "": the store is there */
} reason = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- answers ---- */

static void answer_health(const struct absence *a, struct arena *arena, struct buf *body)
{
    char url[HTTP_LOCAL_URL_TEXT];
    http_server_local_url(a->http, url);
    meta_write_health(*a->config->top_public_url ? a->config->top_public_url : url, a->started_us, arena, body);
}

/* For `porterod health`. Readiness without a store waits for nothing. */
static void answer_readiness(const struct absence *a, struct buf *body)
{
    const struct readiness_state state = readiness_wait(a->readiness);
    readiness_write(&state, body);
}

/* ---- the server's callbacks ---- */

static void absence_on_head(void *ctx, struct http_request *r, unsigned loop)
{
    (void)ctx, (void)r, (void)loop;
}

static void absence_on_request(void *ctx, struct http_request *r, unsigned loop)
{
    const struct absence *a = ctx;
    const bool read = r->method == HTTP_GET || r->method == HTTP_HEAD;
    const bool lives = read && str_eq(r->path, STR("/v1/health"));
    const bool control = read && r->peer.local && str_eq(r->path, STR("/admin/health"));
    struct buf head = BUF(HEAD_MAX), body = BUF(BODY_MAX);
    char unused[REPLY_REQUEST_ID];
    (void)loop;
    if (lives || control)
        reply_early_head(unused, &head);
    else
        reply_early_error(&head, &body);
    if (lives)
        answer_health(a, &r->arena, &body);
    else if (control)
        answer_readiness(a, &body);
    http_respond(r, lives || control ? 200 : err_info(ERR_SERVICE_UNAVAILABLE)->status, buf_view(&head),
                 buf_view(&body));
    buf_done(&head);
    buf_done(&body);
}

static void absence_on_refuse(void *ctx, struct http_request *r, enum err why, unsigned loop)
{
    (void)ctx, (void)loop;
    http_respond(r, err_info(why)->status, STR(""), STR(""));
}

/* ---- life ---- */

enum err absence_begin(const struct config *c, const char *control_path, struct readiness *readiness,
                       struct absence **ret, char **ret_why)
{
    struct absence *a = mem_new(struct absence);
    const struct http_handler handler = {
        .ctx = a, .head = absence_on_head, .request = absence_on_request, .refuse = absence_on_refuse};
    *a = (struct absence){.config = c, .readiness = readiness, .started_us = clock_monotonic_us()};
    enum err e = http_server_new(c, control_path, handler, &a->http, ret_why);
    if (!e)
        e = http_server_start(a->http, ret_why);
    if (e) {
        absence_end(a);
        return e;
    }
    *ret = a;
    return ERR_NONE;
}

void absence_end(struct absence *a)
{
    if (!a)
        return;
    http_server_free(a->http);
    free(a);
}

/* Quotation marks would end the reason's field in the log. */
void absence_note(const char *why)
{
    pthread_mutex_lock(&reason.lock);
    snprintf(reason.why, sizeof reason.why, "%s", why ? why : "");
    for (char *p = reason.why; (p = strchr(p, '"'));)
        *p = '\'';
    pthread_mutex_unlock(&reason.lock);
}

bool absence_reason(char *ret, size_t size)
{
    pthread_mutex_lock(&reason.lock);
    const bool absent = *reason.why != '\0';
    if (absent)
        snprintf(ret, size, "%s", reason.why);
    pthread_mutex_unlock(&reason.lock);
    return absent;
}
