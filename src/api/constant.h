/* Texts that never change while the service runs: pages, style sheets, documents. Each is compressed and tagged once,
 * sent without copying, and revalidated by its entity tag. */
#pragma once
#include "api/request.h"

struct constant {
    struct str plain; /* not owned */
    struct str gzip;  /* owned; STR_NONE if compression does not shrink the text */
    char plain_tag[40], gzip_tag[40];
};

/* `text` must outlive the constant. */
void constant_init(struct constant *c, struct str text);
void constant_done(struct constant *c);

/* Replies with the text: 200 in the preferred coding of the client (RFC 9110 section 12.5.3), or 304 if the client
 * already has it (section 13.1.2). c must outlive the server. */
enum err reply_constant(struct request *q, struct reply *p, const struct constant *c);

/* True if the client accepts gzip and does not prefer the uncompressed text. */
bool constant_wants_gzip(const struct http_header *headers, size_t count);
/* True if If-None-Match contains the tag (with its quotes), by weak comparison, or "*". */
bool constant_has_tag(const struct http_header *headers, size_t count, struct str tag);
