/* The head of an HTTP/1.1 request (RFC 9112), parsed strictly and in place. Pure: bytes in, slices of them out.
 *
 * Whatever two implementations could read differently is refused: bare CR or LF, folded lines, white space before a
 * colon, control characters, a repeated or non-decimal Content-Length, Content-Length beside Transfer-Encoding, any
 * transfer coding but one `chunked`, a missing, repeated or malformed Host. */
#pragma once
#include "http/request.h"

enum http_parse {
    HTTP_PARSE_MORE,   /* the head is not complete yet, and nothing in it is wrong so far */
    HTTP_PARSE_DONE,   /* the whole head is there, and good */
    HTTP_PARSE_REFUSED /* http_framing.why says with which error */
};

/* What the head says about the message's bounds and the connection. */
struct http_framing {
    size_t head_len; /* bytes up to the body */
    uint64_t length; /* Content-Length, 0 without one; UINT64_MAX for anything larger */
    bool chunked;
    bool http10;          /* HTTP/1.0; any higher minor version counts as 1.1 (RFC 9110 section 2.5) */
    bool keep_alive;      /* the client wants to go on after this request (RFC 9112 section 9.3) */
    bool expect_continue; /* Expect: 100-continue, from an HTTP/1.1 client (RFC 9110 section 10.1.1) */
    enum err why;
};

/* Bytes of empty lines at the start, to be dropped before a request (RFC 9112 section 2.2). */
size_t http_empty_lines(struct str bytes);

/* Parses the head at the start of `bytes`, from its beginning each time. Fills r's method, target, path, query, headers
 * (in the caller's array) and has_body, and *f; when refused, as far as it came. r must be zeroed but for its arena.
 * An absolute-form target gives its authority to the Host field (RFC 9112 section 3.2.2).
 *
 * Errors: BAD_REQUEST, URI_TOO_LONG, HEADERS_TOO_LARGE, HTTP_VERSION, NOT_IMPLEMENTED (a transfer coding before the
 * final chunked), EXPECTATION_FAILED. A Content-Length that is too long is not refused here. */
enum http_parse http_head_parse(struct str bytes, struct http_header headers[static HTTP_MAX_HEADERS],
                                struct http_request *r, struct http_framing *f);

/* RFC 9110 section 5.6.2: a character of a token. */
bool http_is_tchar(char c);
/* A character of a field value: HTAB, SP, visible ASCII, obs-text. */
static inline bool http_is_field_char(char c)
{
    unsigned char u = (unsigned char)c;
    return (u >= 0x20 && u != 0x7f) || u == '\t';
}
