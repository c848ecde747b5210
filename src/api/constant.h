/* Texts that never change while the service runs: pages, style sheets, documents. Each is compressed and tagged once,
 * sent from where it is to all who ask, and revalidated by its entity tag. */
#pragma once
#include "api/request.h"

struct constant {
    struct str plain; /* not owned */
    struct str gzip;  /* owned; STR_NONE if it would not be shorter */
    char plain_tag[40], gzip_tag[40];
};

/* The text must outlive it. */
void constant_init(struct constant *c, struct str text);
void constant_done(struct constant *c);

/* Answers with the text: 200 in the coding that the client prefers (RFC 9110 section 12.5.3), or 304 if it has it
 * already (section 13.1.2). c must outlive the server. */
enum err reply_constant(struct request *q, struct reply *p, const struct constant *c);

/* Whether gzip may be sent and is not less welcome than the text as it is. */
bool constant_wants_gzip(const struct http_header *headers, size_t count);
/* Whether an If-None-Match has the tag (with its quotes), by weak comparison, or "*". */
bool constant_has_tag(const struct http_header *headers, size_t count, struct str tag);
