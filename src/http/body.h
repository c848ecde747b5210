/* The body of one request, gathered in one piece: in place in the read buffer where it fits, else in a buffer of its
 * own, of at most as many bytes as the request may have. */
#pragma once
#include "base/buf.h"
#include "http/chunk.h"
#include "http/conn.h"
#include "http/parse.h"

struct http_body {
    struct http_chunk chunk;
    size_t length; /* of a body with Content-Length */
    char *at;      /* where it begins in the read buffer */
    size_t n;      /* bytes there */
    bool chunked;
    bool spilled; /* it is in `spill` */
    struct buf spill;
};

enum http_body_step { HTTP_BODY_MORE, HTTP_BODY_DONE, HTTP_BODY_LARGE, HTTP_BODY_BAD };

/* The body begins at c->in_at. A length over `max` was refused before. */
void http_body_init(struct http_body *b, const struct http_framing *f, size_t max, const struct http_conn *c);
void http_body_done(struct http_body *b);
/* Uses up the body's part of c's read buffer. */
enum http_body_step http_body_take(struct http_body *b, struct http_conn *c);
/* Where the next bytes should be read to; *ret_n of them at most, at least 1. */
char *http_body_room(struct http_body *b, struct http_conn *c, size_t *ret_n);
/* n bytes were read there. */
void http_body_got(struct http_body *b, struct http_conn *c, size_t n);
struct str http_body_view(const struct http_body *b);
