/* The head of an HTTP/1.1 request (RFC 9112), parsed strictly and in place: returns slices of the input. No I/O.
 *
 * The parser refuses everything that two implementations could interpret differently: bare CR or LF, folded lines,
 * white space before a colon, control characters, a repeated or non-decimal Content-Length, Content-Length with
 * Transfer-Encoding, any transfer coding but one `chunked`, a missing, repeated or malformed Host. */
#pragma once
#include "http/request.h"

enum http_parse {
    HTTP_PARSE_MORE,   /* the head is incomplete, and valid so far */
    HTTP_PARSE_DONE,   /* the head is complete and valid */
    HTTP_PARSE_REFUSED /* http_framing.why has the error */
};

/* The message length and the connection options, from the head. */
struct http_framing {
    size_t head_len; /* bytes up to the body */
    uint64_t length; /* Content-Length, 0 without one; UINT64_MAX for anything larger */
    bool chunked;
    bool http10;          /* HTTP/1.0; any higher minor version counts as 1.1 (RFC 9110 section 2.5) */
    bool keep_alive;      /* the connection may persist after this request (RFC 9112 section 9.3) */
    bool expect_continue; /* Expect: 100-continue, from an HTTP/1.1 client (RFC 9110 section 10.1.1) */
    enum err why;
};

/* Returns the number of bytes of empty lines at the start, which are ignored (RFC 9112 section 2.2). */
size_t http_empty_lines(struct str bytes);

/* Parses the head at the start of `bytes`; each call starts from the beginning. Fills *f and r's method, target, path,
 * query, headers (in the caller's array) and has_body; a refused request has the parts that were parsed. The caller
 * must zero r except for its arena. The authority of an absolute-form target replaces Host (RFC 9112 section 3.2.2).
 *
 * Errors: BAD_REQUEST, URI_TOO_LONG, HEADERS_TOO_LARGE, HTTP_VERSION, NOT_IMPLEMENTED (a transfer coding before the
 * final chunked), EXPECTATION_FAILED. The caller checks Content-Length against its limit. */
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
