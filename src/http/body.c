#include "http/body.h"

#include <stdlib.h>

void http_body_init(struct http_body *b, const struct http_framing *f, size_t max, const struct http_conn *c)
{
    b->chunked = f->chunked;
    b->chunk = HTTP_CHUNK(max);
    b->length = f->chunked ? 0 : (size_t)f->length;
    b->at = c->in->bytes + c->in_at;
    b->n = 0;
    b->spill = BUF(max);
    b->spilled = b->length > c->in->cap - c->in_at;
}

void http_body_done(struct http_body *b)
{
    buf_done(&b->spill);
}

static void append_data(struct http_body *b, struct str data)
{
    if (b->spilled) {
        buf_str(&b->spill, data);
        return;
    }
    if (data.p != b->at + b->n)
        memmove(b->at + b->n, data.p, data.n);
    b->n += data.n;
}

static enum http_body_step take_plain(struct http_body *b, struct http_conn *c)
{
    size_t have = b->spilled ? b->spill.n : b->n;
    size_t n = c->in_n - c->in_at;
    if (n > b->length - have)
        n = b->length - have;
    append_data(b, str_n(c->in->bytes + c->in_at, n));
    c->in_at += (uint32_t)n;
    if (b->spill.full)
        return HTTP_BODY_LARGE;
    return have + n == b->length ? HTTP_BODY_DONE : HTTP_BODY_MORE;
}

/* All raw bytes are decoded, so the space behind the decoded bytes is free again. If little is left, the decoded bytes
 * move to the spill buffer. */
static void make_room(struct http_body *b, struct http_conn *c)
{
    size_t base = (size_t)(b->at - c->in->bytes);
    if (!b->spilled && c->in->cap - base - b->n < c->in->cap / 4) {
        buf_put(&b->spill, b->at, b->n);
        b->spilled = true;
    }
    c->in_at = c->in_n = (uint32_t)(base + (b->spilled ? 0 : b->n));
}

static enum http_body_step take_chunked(struct http_body *b, struct http_conn *c)
{
    struct str in = str_n(c->in->bytes + c->in_at, c->in_n - c->in_at);
    struct str data;
    enum http_chunk_step step;
    while ((step = http_chunk_next(&b->chunk, &in, &data)) == HTTP_CHUNK_DATA)
        append_data(b, data);
    c->in_at = c->in_n - (uint32_t)in.n;
    switch (step) {
    case HTTP_CHUNK_END:
        return HTTP_BODY_DONE;
    case HTTP_CHUNK_MORE:
        make_room(b, c);
        return b->spill.full ? HTTP_BODY_LARGE : HTTP_BODY_MORE;
    case HTTP_CHUNK_LARGE:
        return HTTP_BODY_LARGE;
    default:
        return HTTP_BODY_BAD;
    }
}

enum http_body_step http_body_take(struct http_body *b, struct http_conn *c)
{
    return b->chunked ? take_chunked(b, c) : take_plain(b, c);
}

/* Whether bytes can be read directly into the spill buffer. */
static bool is_direct(const struct http_body *b, const struct http_conn *c)
{
    return !b->chunked && b->spilled && c->in_at == c->in_n;
}

char *http_body_room(struct http_body *b, struct http_conn *c, size_t *ret_n)
{
    if (is_direct(b, c)) {
        size_t missing = b->length - b->spill.n;
        if (!buf_reserve(&b->spill, missing < 16384 ? missing : 16384))
            abort();
        size_t room = b->spill.cap - b->spill.n;
        *ret_n = room < missing ? room : missing;
        return b->spill.p + b->spill.n;
    }
    *ret_n = c->in->cap - c->in_n;
    return c->in->bytes + c->in_n;
}

void http_body_got(struct http_body *b, struct http_conn *c, size_t n)
{
    if (is_direct(b, c))
        b->spill.n += n;
    else
        c->in_n += (uint32_t)n;
}

struct str http_body_view(const struct http_body *b)
{
    return b->spilled ? buf_view(&b->spill) : str_n(b->at, b->n);
}
