/* Replies that never change while the service runs: pages, scripts, documents. Sent without copying, and revalidated by
 * their entity tags. */
#pragma once
#include "api/request.h"
#include "http/content.h"

/* Tags the text and compresses it with gzip and brotli, if that shrinks it. The text must outlive the content. */
void constant_init(struct http_content *c, struct str text);
/* Only for content of constant_init. */
void constant_done(struct http_content *c);

/* Replies with the content: 200 in the coding that the client prefers, or 304 if the client already has it. c must
 * outlive the server. */
enum err reply_constant(struct request *q, struct reply *p, const struct http_content *c);
