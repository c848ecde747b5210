#include "api/reply.h"

#include <stdio.h>

#include "api/challenge.h"
#include "api/door.h"
#include "api/error_page.h"
#include "api/journal.h"
#include "api/trace.h"
#include "base/log.h"
#include "base/metric.h"
#include "domain/guest_link.h"

#define HEAD_MAX      8192
#define BODY_MAX      (15u << 20) /* with its head, less than the server keeps for one peer */
#define FRAME_MAX     (15u << 20)
#define KEEP          65536 /* a buffer that grew past this size is freed after use */
#define TRACE_MAX     80    /* bytes of a trace in the log */
#define PATH_WORD_MAX 20    /* bytes of a segment of an unknown path that is logged */

/* A page loads and sends to its own origin only, runs no inline script or style, makes no HTML of strings, and cannot
 * be framed, opened or loaded by another origin. */
#define PAGE_POLICY                                                                                                    \
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "         \
    "media-src 'self' blob:; connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; "           \
    "frame-ancestors 'none'; "                                                                                         \
    "require-trusted-types-for 'script'; trusted-types worker\r\n"                                                     \
    "Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Resource-Policy: same-origin\r\n"

struct error_body {
    struct val type, message, code, retryable, next_action;
};
struct error_envelope {
    struct val error, requestId;
};

static const char *const error_types[] = {"permission_error",
                                          "authentication_error",
                                          "invalid_request_error",
                                          "not_found_error",
                                          "rate_limit_error",
                                          "internal_error",
                                          NULL};

static const struct field error_fields[] = {
    FIELD(struct error_body, type, T_STRING, .flags = F_REQUIRED, .values = error_types),
    FIELD(struct error_body, message, T_STRING, .flags = F_REQUIRED, .doc = "for people"),
    FIELD(struct error_body, code, T_STRING, .flags = F_REQUIRED, .doc = "for programs"),
    FIELD(struct error_body, retryable, T_BOOL, .flags = F_REQUIRED,
          .doc = "true for 429 and 5xx; not a permission to repeat a change blindly"),
    FIELD(struct error_body, next_action, T_STRING, .flags = F_REQUIRED, .doc = "suggested follow-up"),
};
static const struct shape error_body_shape = SHAPE(struct error_body, "ErrorBody", error_fields);

static const struct field envelope_fields[] = {
    FIELD(struct error_envelope, error, T_OBJECT, .flags = F_REQUIRED, .sub = &error_body_shape),
    FIELD(struct error_envelope, requestId, T_STRING, .flags = F_REQUIRED, .doc = "the value of X-Request-ID"),
};
const struct shape error_shape = SHAPE(struct error_envelope, "Error", envelope_fields);

static const char *error_type(int status)
{
    switch (status) {
    case 401:
        return "authentication_error";
    case 403:
        return "permission_error";
    case 404:
        return "not_found_error";
    case 429:
        return "rate_limit_error";
    default:
        return status >= 500 ? "internal_error" : "invalid_request_error";
    }
}

void reply_header(struct reply *p, const char *name, struct str value)
{
    if (p->header_count < REPLY_MAX_HEADERS)
        p->headers[p->header_count++] = (struct reply_header){name, value};
}

struct str reply_header_value(const struct reply *p, const char *name)
{
    for (size_t i = 0; i < p->header_count; i++)
        if (strcmp(p->headers[i].name, name) == 0)
            return p->headers[i].value;
    return STR_NONE;
}

void reply_version(struct request *q, struct reply *p, int64_t version)
{
    struct buf tag = {.p = arena_alloc(q->tx.arena, 24), .cap = 24, .max = 24};
    buf_char(&tag, '"');
    buf_i64(&tag, version);
    buf_char(&tag, '"');
    reply_header(p, "ETag", buf_view(&tag));
}

enum err reply_error_keep(struct reply *p, enum err e)
{
    p->status = err_info(e)->status;
    p->kept_error = e;
    return ERR_NONE;
}

static void put_reply_header(struct buf *head, const char *name, struct str value)
{
    buf_str(head, str_z(name));
    buf_lit(head, ": ");
    buf_str(head, value);
    buf_lit(head, "\r\n");
}

static void put_number(struct buf *head, const char *name, int64_t value)
{
    buf_str(head, str_z(name));
    buf_lit(head, ": ");
    buf_i64(head, value);
    buf_lit(head, "\r\n");
}

static void put_rate_limits(struct request *q, struct buf *head)
{
    if (q->limits.tightest.limit) {
        put_number(head, "RateLimit-Limit", q->limits.tightest.limit);
        put_number(head, "RateLimit-Remaining", q->limits.tightest.remaining);
        put_number(head, "RateLimit-Reset", q->limits.tightest.reset_s);
    }
    if (q->tx.retry_after_s)
        put_number(head, "Retry-After", q->tx.retry_after_s);
}

/* no-referrer would set the Origin of a page's own forms to null. */
static void put_page_policy(unsigned flags, struct buf *head)
{
    buf_lit(head, PAGE_POLICY);
    if (flags & ROUTE_SECRET_PATH)
        buf_lit(head, "Referrer-Policy: no-referrer\r\nX-Robots-Tag: noindex, nofollow\r\n");
    else
        buf_lit(head, "Referrer-Policy: same-origin\r\n");
}

static void put_always(struct str request_id, struct buf *head)
{
    put_reply_header(head, "X-Request-ID", request_id);
    buf_lit(head, "X-Content-Type-Options: nosniff\r\nStrict-Transport-Security: max-age=31536000\r\n");
}

/* Writes the headers of every response and the headers of its route. */
static void put_common(struct request *q, struct buf *head)
{
    unsigned flags = q->route ? q->route->flags : 0;
    put_always(str_n(q->request_id, sizeof q->request_id - 1), head);
    if (q->reply.immutable && !q->result)
        buf_lit(head, "Cache-Control: public, max-age=31536000, immutable\r\n");
    else if ((flags & ROUTE_CACHEABLE) && !q->result)
        buf_lit(head, "Cache-Control: public, max-age=60\r\n");
    else if (q->reply.max_age_s && !q->result)
        buf_printf(head, "Cache-Control: max-age=%lld\r\n", (long long)q->reply.max_age_s);
    else if (q->reply.constant && !q->result)
        buf_lit(head, "Cache-Control: no-cache\r\n"); /* cached, but revalidated each time */
    else
        buf_lit(head, "Cache-Control: no-store\r\n");
    if (flags & ROUTE_PAGE || (q->reply.page && !q->result))
        put_page_policy(flags, head);
    if (q->door->put_head)
        q->door->put_head(q, head);
    if (flags & ROUTE_CORS)
        buf_lit(head, "Access-Control-Allow-Origin: *\r\n");
    if (id_given(&q->building_id))
        put_reply_header(head, "X-Service-Building-Id", id_str(&q->building_id));
    put_rate_limits(q, head);
}

/* False for a transfer coding (501) or HTTP version (505) that only the client can change. */
static bool is_our_fault(const struct err_info *info)
{
    return info->status >= 500 && info->status != 501 && info->status != 505;
}

/* ---- log and journal ---- */

/* Whether a segment of an unknown path looks like a word of a path. Anything else could be a secret: a key, a code, a
 * number, an e-mail. */
static bool is_path_word(struct str segment)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz-_.";
    if (segment.n > PATH_WORD_MAX)
        return false;
    for (size_t i = 0; i < segment.n; i++)
        if (!memchr(letters, segment.p[i], sizeof letters - 1))
            return str_eq(segment, STR("v1"));
    return true;
}

/* The first two segments of an unknown path, "-" for one that is not a word. */
static struct str unknown_path(const struct request *q)
{
    struct str rest, ret = STR("");
    (void)str_cut(q->http->path, '/', &rest);
    for (int i = 0; i < 2 && rest.p; i++) {
        const struct str segment = str_cut(rest, '/', &rest);
        ret = arena_printf(q->tx.arena, "%.*s/%.*s", STR_ARG(ret), STR_ARG(is_path_word(segment) ? segment : STR("-")));
    }
    return ret.n ? ret : STR("-");
}

/* The route's pattern, which contains no IDs. */
static struct str noted_path(const struct request *q)
{
    if (q->route)
        return *q->door->prefix && !(q->route->flags & ROUTE_PAGE)
                   ? arena_printf(q->tx.arena, "%s%s", q->door->prefix, q->route->path)
                   : str_z(q->route->path);
    return str_starts(q->http->path, STR(GUEST_PATH)) ? STR(GUEST_PATH "-") : unknown_path(q);
}

static struct str noted_method(const struct request *q)
{
    return q->http->method == HTTP_OTHER ? STR("-") : q->http->method_text;
}

/* " trace_id=… parent_id=…", or nothing. */
static const char *noted_trace(const struct request *q, char ret[static TRACE_MAX])
{
    struct trace t;
    trace_read(q->http, &t);
    *ret = '\0';
    if (*t.trace_id)
        snprintf(ret, TRACE_MAX, " trace_id=%s parent_id=%s", t.trace_id, t.parent_id);
    return ret;
}

static void log_request(const struct request *q, int status, const char *code, size_t bytes)
{
    char trace[TRACE_MAX];
    log_info("request request=%s method=%.*s path=%.*s status=%d%s%s us=%lld bytes=%zu account=%s key=%s peer=%s%s%s",
             q->request_id, STR_ARG(noted_method(q)), STR_ARG(noted_path(q)), status, code ? " code=" : "",
             code ? code : "", (long long)(clock_monotonic_us() - q->began_us), bytes,
             id_given(&q->who.account_id) ? q->who.account_id.text : "-",
             id_given(&q->who.key_id) ? q->who.key_id.text : "-", q->http->peer.address, q->door->via,
             noted_trace(q, trace));
}

/* Copies as many whole characters as fit. */
static void copy_chars(char *to, size_t size, struct str from)
{
    size_t n = from.n < size ? from.n : size - 1;
    while (n && n < from.n && (from.p[n] & 0xc0) == 0x80)
        n--;
    if (n)
        memcpy(to, from.p, n);
    to[n] = '\0';
}
#define COPY(to, from) copy_chars((to), sizeof(to), (from))

/* Records the error for lookup by its request ID. The operator's own requests are left out: the command prints their
 * errors. */
static void note_error(const struct request *q, const struct err_info *info, struct str message)
{
    struct journal_record *r =
        q->journal && !q->http->peer.local ? journal_reserve(q->journal, q->loop, q->http->peer.address) : NULL;
    if (!r)
        return;
    r->duration_us = clock_monotonic_us() - q->began_us;
    r->status = info->status;
    COPY(r->request_id, str_z(q->request_id));
    COPY(r->method, noted_method(q));
    COPY(r->code, str_z(info->code));
    COPY(r->path, noted_path(q));
    COPY(r->account_id, id_str(&q->who.account_id));
    COPY(r->building_id, id_str(&q->building_id));
    COPY(r->key_id, id_str(&q->who.key_id));
    COPY(r->message, message);
    journal_publish(q->journal, q->loop);
}

_Static_assert((int)METRIC_RUN_VALUES == RUN_BLOCKING + 1, "a series for each way to run");

static void count_reply(const struct request *q, int status)
{
    const unsigned class = status < 300   ? METRIC_HTTP_2XX
                           : status < 400 ? METRIC_HTTP_3XX
                           : status < 500 ? METRIC_HTTP_4XX
                                          : METRIC_HTTP_5XX;
    metric_add(&metrics.http_requests[q->operation * METRIC_CLASS_VALUES + class], 1);
    metric_observe(&metrics.http_seconds[q->route ? q->route->run : RUN_HERE], clock_monotonic_us() - q->began_us);
}

static const char *next_action(const struct request *q, enum err e)
{
    const bool signed_out = e == ERR_AUTH_REQUIRED || e == ERR_INVALID_KEY;
    return q->door->sign_in && signed_out ? q->door->sign_in : err_info(e)->next_action;
}

/* Sends the rendered body, in the frame of the protocol that the request came in. */
static void send_body(struct request *q, struct reply_buffers *b, int status, struct str body)
{
    const int framed = q->door->frame ? q->door->frame(q, status, body, &b->frame) : 0;
    if (framed && b->frame.full)
        http_respond(q->http, err_info(ERR_INTERNAL_ERROR)->status, buf_view(&b->head), STR(""));
    else
        http_respond(q->http, framed ? framed : status, buf_view(&b->head), framed ? buf_view(&b->frame) : body);
}

static struct error_body error_body_of(const struct err_info *info, struct str message, const char *next)
{
    return (struct error_body){.type = v_str(str_z(error_type(info->status))),
                               .message = v_str(message),
                               .code = v_str(str_z(info->code)),
                               .retryable = v_bool(info->status == 429 || info->status >= 500),
                               .next_action = v_str(str_z(next))};
}

#define UNAVAILABLE_LINE "Retry-After: 1\r\n"
#define JSON_LINE        "Content-Type: application/json\r\n"

void reply_early_head(char ret_request_id[static REPLY_REQUEST_ID], struct buf *head)
{
    const struct id id = id_new(clock_real_us());
    snprintf(ret_request_id, REPLY_REQUEST_ID, "req_%.*s", ID_LEN, id.text);
    put_always(str_z(ret_request_id), head);
    buf_lit(head, "Cache-Control: no-store\r\n" JSON_LINE);
}

void reply_early_error(struct buf *head, struct buf *body)
{
    const struct err_info *info = err_info(ERR_SERVICE_UNAVAILABLE);
    char request_id[REPLY_REQUEST_ID];
    reply_early_head(request_id, head);
    buf_lit(head, UNAVAILABLE_LINE);
    struct error_body error = error_body_of(info, str_z(info->message), info->next_action);
    struct error_envelope envelope = {.error = v_object(&error), .requestId = v_str(str_z(request_id))};
    schema_write(&error_shape, &envelope, body);
}

static void send_error(struct request *q, struct reply_buffers *b, enum err e)
{
    const struct err_info *info = err_info(e);
    struct error_body body =
        error_body_of(info, q->tx.why.p && info->status < 500 ? q->tx.why : str_z(info->message), next_action(q, e));
    struct error_envelope envelope = {.error = v_object(&body),
                                      .requestId = v_str(str_n(q->request_id, sizeof q->request_id - 1))};
    put_common(q, &b->head);
    challenge_put(q, e, &b->head);
    if (info->status == 426)
        buf_lit(&b->head, "Upgrade: TLS/1.2\r\n");
    if (info->status == 503)
        buf_lit(&b->head, UNAVAILABLE_LINE);
    if (q->allow.p)
        put_reply_header(&b->head, "Allow", q->allow);
    if (!q->door->frame && error_page_wanted(q)) {
        buf_lit(&b->head, "Content-Type: text/html; charset=utf-8\r\nVary: Accept, Accept-Language\r\n");
        if (!q->route || !(q->route->flags & ROUTE_PAGE))
            put_page_policy(0, &b->head);
        error_page_put(q, info, &b->body);
    } else {
        buf_lit(&b->head, JSON_LINE);
        schema_write(&error_shape, &envelope, &b->body);
    }
    char trace[TRACE_MAX];
    if (is_our_fault(info))
        log_error("request_failed request=%s code=%s path=%.*s%s", q->request_id, info->code,
                  STR_ARG(q->route ? str_z(q->route->path) : STR("-")), noted_trace(q, trace));
    note_error(q, info, body.message.s);
    if (q->tx.config->log_requests)
        log_request(q, info->status, info->code, b->body.n);
    count_reply(q, info->status);
    send_body(q, b, info->status, buf_view(&b->body));
}

static void reset(struct buf *b)
{
    if (b->cap > KEEP)
        buf_done(b);
    b->n = 0;
    b->full = false;
}

static void send_success(struct request *q, struct reply_buffers *b)
{
    struct reply *p = &q->reply;
    struct str body = p->raw;
    if (p->shape) {
        schema_write(p->shape, p->body, &b->body);
        body = buf_view(&b->body);
    }
    if (b->body.full) { /* never send a truncated body */
        reset(&b->body);
        send_error(q, b, ERR_INTERNAL_ERROR);
        return;
    }
    put_common(q, &b->head);
    for (size_t i = 0; i < p->header_count; i++)
        put_reply_header(&b->head, p->headers[i].name, p->headers[i].value);
    if (p->shape || (q->door->frame && !p->media && !q->route->media))
        buf_lit(&b->head, "Content-Type: application/json\r\n");
    else if (p->raw.p)
        put_reply_header(&b->head, "Content-Type", str_z(p->media ? p->media : q->route->media));
    if (q->tx.config->log_requests)
        log_request(q, p->status, NULL, body.n);
    count_reply(q, p->status);
    if (p->begin)
        p->begin(q, buf_view(&b->head));
    else if (p->constant)
        http_respond_constant(q->http, p->status, buf_view(&b->head), body);
    else
        send_body(q, b, p->status, body);
}

/* Logs each operator command that may change something or reads personal data, with its result, so that
 * support can tell how an account was changed, and who looked at it when. */
static void log_operator(const struct request *q, enum err e)
{
    char trace[TRACE_MAX];
    if (q->route && q->route->credential == CRED_CONTROL && (q->route->method != HTTP_GET || q->route->personal))
        log_info("operator operation=%s %.*s%sresult=%s request=%s%s", q->route->operation_id, STR_ARG(q->subject),
                 q->subject.n ? " " : "", e ? err_info(e)->code : "done", q->request_id, noted_trace(q, trace));
}

void reply_send(struct request *q, struct reply_buffers *b)
{
    reset(&b->head);
    reset(&b->body);
    reset(&b->frame);
    enum err e = q->result ? q->result : q->reply.kept_error;
    if (!e && !q->reply.status)
        e = ERR_INTERNAL_ERROR;
    log_operator(q, e);
    if (e)
        send_error(q, b, e);
    else
        send_success(q, b);
}

struct reply_buffers reply_buffers_init(void)
{
    return (struct reply_buffers){BUF(HEAD_MAX), BUF(BODY_MAX), BUF(FRAME_MAX)};
}

void reply_buffers_done(struct reply_buffers *b)
{
    buf_done(&b->head);
    buf_done(&b->body);
    buf_done(&b->frame);
}
