/* Collects the body of one request into one piece: in the read buffer if it fits there, otherwise in a separate buffer
 * that is limited to the size allowed for the request. */
#pragma once
#include "base/buf.h"
#include "http/chunk.h"
#include "http/conn.h"
#include "http/parse.h"

struct http_body {
    struct http_chunk chunk;
    size_t length; /* of a body with Content-Length */
    char *at;      /* its start in the read buffer */
    size_t n;      /* bytes there */
    bool chunked;
    bool spilled; /* it is in `spill` instead */
    struct buf spill;
};

enum http_body_step { HTTP_BODY_MORE, HTTP_BODY_DONE, HTTP_BODY_LARGE, HTTP_BODY_BAD };

/* The body begins at c->in_at. The caller must have refused a length over `max`. */
void http_body_init(struct http_body *b, const struct http_framing *f, size_t max, const struct http_conn *c);
void http_body_done(struct http_body *b);
/* Consumes the part of the body that is in c's read buffer. */
enum http_body_step http_body_take(struct http_body *b, struct http_conn *c);
/* Returns the place to read the next bytes to, and sets *ret_n to its size, at least 1. */
char *http_body_room(struct http_body *b, struct http_conn *c, size_t *ret_n);
/* n bytes were read to that place. */
void http_body_got(struct http_body *b, struct http_conn *c, size_t n);
struct str http_body_view(const struct http_body *b);
