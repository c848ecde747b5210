#include "api/constant.h"

#include <brotli/encode.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/crypto.h"
#include "base/mem.h"

#define TAG_BYTES    12
#define BROTLI_LEVEL 5  /* higher ones take longer than a start should */
#define GZIP         16 /* makes deflateInit2 write a gzip header, without time or name */

static struct str compress_text(struct str text)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)text.p, .avail_in = (uInt)text.n};
    if (deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + GZIP, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        abort(); /* out of memory */
    uLong room = deflateBound(&z, text.n);
    char *out = mem_bytes(room);
    z.next_out = (Bytef *)out;
    z.avail_out = (uInt)room;
    bool done = deflate(&z, Z_FINISH) == Z_STREAM_END;
    size_t n = z.total_out;
    deflateEnd(&z);
    if (done && n < text.n)
        return str_n(mem_resize(out, n), n);
    free(out);
    return STR_NONE;
}

static struct str compress_brotli(struct str text)
{
    size_t n = BrotliEncoderMaxCompressedSize(text.n);
    uint8_t *out = mem_bytes(n ? n : 1);
    const bool done = BrotliEncoderCompress(BROTLI_LEVEL, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_TEXT, text.n,
                                            (const uint8_t *)text.p, &n, out);
    if (done && n < text.n)
        return str_n((const char *)mem_resize(out, n), n);
    free(out);
    return STR_NONE;
}

static void make_tag(struct str text, const char *coding, char ret[static HTTP_TAG_MAX])
{
    unsigned char hash[SHA256_LEN];
    crypto_sha256(text, hash);
    char *at = ret + sprintf(ret, "\"");
    for (size_t i = 0; i < TAG_BYTES; i++)
        at += sprintf(at, "%02x", hash[i]);
    sprintf(at, "%s\"", coding);
}

void constant_init(struct http_content *c, struct str text)
{
    *c = (struct http_content){.body = {[HTTP_CODING_NONE] = text,
                                        [HTTP_CODING_GZIP] = compress_text(text),
                                        [HTTP_CODING_BR] = compress_brotli(text)}};
    make_tag(text, "", c->tag[HTTP_CODING_NONE]);
    make_tag(text, "-br", c->tag[HTTP_CODING_BR]);
    make_tag(text, "-gzip", c->tag[HTTP_CODING_GZIP]);
}

void constant_done(struct http_content *c)
{
    free((char *)(uintptr_t)c->body[HTTP_CODING_GZIP].p);
    free((char *)(uintptr_t)c->body[HTTP_CODING_BR].p);
    *c = (struct http_content){0};
}

enum err reply_constant(struct request *q, struct reply *p, const struct http_content *c)
{
    const struct http_request *r = q->http;
    const enum http_coding coding = http_content_choose(c, r->headers, r->header_count);
    const struct str tag = str_z(c->tag[coding]);
    const bool known = http_has_tag(r->headers, r->header_count, tag);
    p->status = known ? 304 : 200;
    p->constant = true;
    p->raw = known ? STR_NONE : c->body[coding];
    reply_header(p, "ETag", tag);
    reply_header(p, "Vary", STR("Accept-Encoding"));
    if (!known && http_coding_name(coding))
        reply_header(p, "Content-Encoding", str_z(http_coding_name(coding)));
    return ERR_NONE;
}
