/* Replies: the status line, the fields the server adds, and what follows for the connection. */
#include <time.h>

#include "http/loop.h"
#include "http/session.h"

static struct str reason(int status)
{
    switch (status) {
#define R(code, text)                                                                                                  \
    case code:                                                                                                         \
        return STR(text);
        R(200, "OK")
        R(201, "Created")
        R(202, "Accepted")
        R(204, "No Content")
        R(206, "Partial Content")
        R(301, "Moved Permanently")
        R(302, "Found")
        R(303, "See Other")
        R(304, "Not Modified")
        R(307, "Temporary Redirect")
        R(308, "Permanent Redirect")
        R(400, "Bad Request")
        R(401, "Unauthorized")
        R(402, "Payment Required")
        R(403, "Forbidden")
        R(404, "Not Found")
        R(405, "Method Not Allowed")
        R(406, "Not Acceptable")
        R(408, "Request Timeout")
        R(409, "Conflict")
        R(410, "Gone")
        R(411, "Length Required")
        R(412, "Precondition Failed")
        R(413, "Content Too Large")
        R(414, "URI Too Long")
        R(415, "Unsupported Media Type")
        R(416, "Range Not Satisfiable")
        R(417, "Expectation Failed")
        R(422, "Unprocessable Content")
        R(426, "Upgrade Required")
        R(428, "Precondition Required")
        R(429, "Too Many Requests")
        R(431, "Request Header Fields Too Large")
        R(500, "Internal Server Error")
        R(501, "Not Implemented")
        R(502, "Bad Gateway")
        R(503, "Service Unavailable")
        R(504, "Gateway Timeout")
        R(505, "HTTP Version Not Supported")
#undef R
    default:
        return STR(""); /* RFC 9112 section 4: the phrase may be empty */
    }
}

/* "Date: ...\r\n", renewed once a second (RFC 9110 section 6.6.1). */
static struct str date_line(struct http_loop *l)
{
    static const char days[] = "SunMonTueWedThuFriSat", months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t now = time(NULL);
    if (now != l->date_s) {
        struct tm t;
        gmtime_r(&now, &t);
        struct buf b = {.p = l->date, .cap = sizeof l->date, .max = sizeof l->date};
        buf_printf(&b, "Date: %.3s, %02d %.3s %04d %02d:%02d:%02d GMT\r\n", days + 3 * t.tm_wday, t.tm_mday,
                   months + 3 * t.tm_mon, t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec);
        l->date_s = now;
    }
    return str_n(l->date, HTTP_DATE);
}

/* RFC 9110 section 6.4.1 */
static bool has_content(int status)
{
    return status >= 200 && status != 204 && status != 304;
}

/* RFC 9112 section 9.6, and RFC 9110 section 7.8: a 426 carries Upgrade, which Connection has to name. */
static void put_connection(struct buf *b, const struct http_exchange *x, int status, bool keep)
{
    const char *option = !keep ? "close" : x->framing.http10 ? "keep-alive" : NULL;
    if (status == 426)
        buf_printf(b, "Connection: upgrade%s%s\r\n", option ? ", " : "", option ? option : "");
    else if (option)
        buf_printf(b, "Connection: %s\r\n", option);
}

static void put_head(struct buf *b, struct http_exchange *x, int status, size_t length, bool keep)
{
    buf_lit(b, "HTTP/1.1 ");
    buf_i64(b, status);
    buf_char(b, ' ');
    buf_str(b, reason(status));
    buf_lit(b, "\r\n");
    buf_str(b, date_line(x->conn->loop));
    if (has_content(status)) {
        buf_lit(b, "Content-Length: ");
        buf_i64(b, (int64_t)length);
        buf_lit(b, "\r\n");
    }
    put_connection(b, x, status, keep);
}

static void reply(struct http_request *r, int status, struct str head, struct str body, bool constant)
{
    struct http_exchange *x = (struct http_exchange *)r;
    struct http_conn *c = x->conn;
    bool keep = x->framing.keep_alive && !x->refused && (x->complete || x->skip_body) && !c->loop->draining;
    if (!keep)
        c->closing = true;
    if (!c->broken) {
        char space[256];
        struct buf b = {.p = space, .cap = sizeof space, .max = sizeof space};
        put_head(&b, x, status, body.n, keep);
        if (r->method == HTTP_HEAD || !has_content(status))
            body = STR("");
        struct str parts[] = {buf_view(&b), head, STR("\r\n"), body};
        http_conn_send(c, parts, sizeof parts / sizeof *parts, constant);
    }
    http_session_answered(c);
}

void http_reply(struct http_request *r, int status, struct str head, struct str body)
{
    reply(r, status, head, body, false);
}

void http_reply_constant(struct http_request *r, int status, struct str head, struct str body)
{
    reply(r, status, head, body, true);
}
