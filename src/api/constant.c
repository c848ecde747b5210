#include "api/constant.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/crypto.h"
#include "base/mem.h"

#define TAG_BYTES     12
#define GZIP          16 /* makes deflateInit2 write a gzip header, without time or name */
#define QUALITY_FULL  1000
#define QUALITY_UNSET (-1)

/* ---- preparing ---- */

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

/* A strong tag identifies the bytes sent, so each coding has its own tag. */
static void make_tag(struct str text, const char *coding, char ret[static 40])
{
    unsigned char hash[SHA256_LEN];
    crypto_sha256(text, hash);
    char *at = ret + sprintf(ret, "\"");
    for (size_t i = 0; i < TAG_BYTES; i++)
        at += sprintf(at, "%02x", hash[i]);
    sprintf(at, "%s\"", coding);
}

void constant_init(struct constant *c, struct str text)
{
    *c = (struct constant){.plain = text, .gzip = compress_text(text)};
    make_tag(text, "", c->plain_tag);
    make_tag(text, "-gzip", c->gzip_tag);
}

void constant_done(struct constant *c)
{
    free((char *)(uintptr_t)c->gzip.p);
    *c = (struct constant){.plain = STR_NONE};
}

/* ---- content negotiation ---- */

/* A qvalue (RFC 9110 section 12.4.2) in thousandths; 0 if it is malformed. */
static int quality(struct str s)
{
    int q = 0, scale = QUALITY_FULL;
    if (s.n == 0 || s.n > 5 || (s.p[0] != '0' && s.p[0] != '1') || (s.n > 1 && s.p[1] != '.'))
        return 0;
    for (size_t i = 0; i < s.n; i++) {
        if (i == 1)
            continue;
        if (!isdigit((unsigned char)s.p[i]))
            return 0;
        q += (s.p[i] - '0') * scale;
        scale /= 10;
    }
    return q <= QUALITY_FULL ? q : 0;
}

/* One list member, such as "gzip;q=0.5". */
static struct str read_coding(struct str member, int *ret_quality)
{
    struct str weight, coding = str_trim(str_cut(member, ';', &weight));
    weight = str_trim(weight);
    *ret_quality = QUALITY_FULL;
    if (weight.n >= 2 && (weight.p[0] == 'q' || weight.p[0] == 'Q') && weight.p[1] == '=')
        *ret_quality = quality(str_from(weight, 2));
    else if (weight.n)
        *ret_quality = 0;
    return coding;
}

struct codings {
    int gzip, identity, any;
};

static void read_codings(struct str list, struct codings *c)
{
    while (list.p) {
        int q;
        struct str coding = read_coding(str_cut(list, ',', &list), &q);
        if (str_eqi(coding, STR("gzip")) || str_eqi(coding, STR("x-gzip")))
            c->gzip = q;
        else if (str_eqi(coding, STR("identity")))
            c->identity = q;
        else if (str_eq(coding, STR("*")))
            c->any = q;
    }
}

bool constant_wants_gzip(const struct http_header *headers, size_t count)
{
    struct codings c = {QUALITY_UNSET, QUALITY_UNSET, QUALITY_UNSET};
    for (size_t i = 0; i < count; i++)
        if (headers[i].name.n == 15 && str_eqi(headers[i].name, STR("Accept-Encoding")))
            read_codings(headers[i].value, &c);
    if (c.gzip == QUALITY_UNSET)
        c.gzip = c.any;
    return c.gzip > 0 && c.gzip >= c.identity; /* identity without a weight is acceptable but least preferred */
}

/* ---- conditional requests ---- */

/* The next entity tag of the list, including its quotes; STR_NONE at the end of the list or if it is malformed. */
static struct str next_tag(struct str *list)
{
    struct str s = *list;
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\t' || s.p[0] == ','))
        s = str_from(s, 1);
    if (str_starts(s, STR("W/")))
        s = str_from(s, 2);
    const char *end = s.n > 1 && s.p[0] == '"' ? memchr(s.p + 1, '"', s.n - 1) : NULL;
    if (!end)
        return STR_NONE;
    size_t n = (size_t)(end - s.p) + 1;
    *list = str_from(s, n);
    return str_n(s.p, n);
}

bool constant_has_tag(const struct http_header *headers, size_t count, struct str tag)
{
    for (size_t i = 0; i < count; i++) {
        if (headers[i].name.n != 13 || !str_eqi(headers[i].name, STR("If-None-Match")))
            continue;
        struct str list = headers[i].value, one;
        if (str_eq(list, STR("*")))
            return true;
        while ((one = next_tag(&list)).p)
            if (str_eq(one, tag))
                return true;
    }
    return false;
}

enum err reply_constant(struct request *q, struct reply *p, const struct constant *c)
{
    const struct http_request *r = q->http;
    bool gzip = c->gzip.p && constant_wants_gzip(r->headers, r->header_count);
    struct str tag = str_z(gzip ? c->gzip_tag : c->plain_tag);
    bool known = constant_has_tag(r->headers, r->header_count, tag);
    p->status = known ? 304 : 200;
    p->constant = true;
    p->raw = known ? STR_NONE : gzip ? c->gzip : c->plain;
    reply_header(p, "ETag", tag);
    reply_header(p, "Vary", STR("Accept-Encoding"));
    if (gzip && !known)
        reply_header(p, "Content-Encoding", STR("gzip"));
    return ERR_NONE;
}
