#include "http/reply.h"

#include <time.h>

static struct str reason_phrase(int status)
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

/* RFC 9110 section 6.6.1 */
static struct str date_line(struct http_date *d)
{
    static const char days[] = "SunMonTueWedThuFriSat", months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t now = time(NULL);
    if (now != d->at_s) {
        struct tm t;
        gmtime_r(&now, &t);
        struct buf b = {.p = d->line, .cap = sizeof d->line, .max = sizeof d->line};
        buf_printf(&b, "Date: %.3s, %02d %.3s %04d %02d:%02d:%02d GMT\r\n", days + 3 * t.tm_wday, t.tm_mday,
                   months + 3 * t.tm_mon, t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec);
        d->at_s = now;
    }
    return str_n(d->line, HTTP_DATE_LINE);
}

bool http_status_has_content(int status)
{
    return status >= 200 && status != 204 && status != 304;
}

/* RFC 9112 section 9.6. RFC 9110 section 7.8: a 426 has an Upgrade field, which Connection must name. */
static void put_connection(struct buf *b, int status, const char *option)
{
    if (status == 426)
        buf_printf(b, "Connection: upgrade%s%s\r\n", option ? ", " : "", option ? option : "");
    else if (option)
        buf_printf(b, "Connection: %s\r\n", option);
}

void http_reply_head(struct buf *b, struct http_date *date, int status, size_t content_length, const char *option)
{
    buf_lit(b, "HTTP/1.1 ");
    buf_i64(b, status);
    buf_char(b, ' ');
    buf_str(b, reason_phrase(status));
    buf_lit(b, "\r\n");
    buf_str(b, date_line(date));
    if (http_status_has_content(status)) {
        buf_lit(b, "Content-Length: ");
        buf_i64(b, (int64_t)content_length);
        buf_lit(b, "\r\n");
    }
    put_connection(b, status, option);
}

void http_stream_head(struct buf *b, struct http_date *date)
{
    buf_lit(b, "HTTP/1.1 200 OK\r\n");
    buf_str(b, date_line(date));
    put_connection(b, 200, "close");
}
