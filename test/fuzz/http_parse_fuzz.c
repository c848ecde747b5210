/* The request head: parsing any beginning of the bytes must agree with parsing all of them, and every slice must lie
 * within the input. */
#include <stdlib.h>

#include "http/parse.h"

struct parsed {
    struct http_request r;
    struct http_framing f;
    struct http_header headers[HTTP_MAX_HEADERS];
    char arena[512];
    enum http_parse result;
};

static void parse(struct parsed *p, struct str bytes)
{
    memset(&p->r, 0, sizeof p->r);
    arena_init(&p->r.arena, p->arena, sizeof p->arena);
    p->result = http_head_parse(bytes, p->headers, &p->r, &p->f);
}

static void must(bool condition)
{
    if (!condition)
        abort();
}

static void must_lie_within(struct str s, struct str bytes)
{
    must(!s.p || s.n == 0 || (s.p >= bytes.p && s.p + s.n <= bytes.p + bytes.n));
}

static void check_done(const struct parsed *p, struct str bytes)
{
    must(p->f.head_len <= bytes.n && p->f.head_len <= HTTP_MAX_HEAD);
    must(p->r.header_count <= HTTP_MAX_HEADERS);
    must(p->r.path.n > 0 && (p->r.path.p[0] == '/' || str_eq(p->r.path, STR("*"))));
    must(!(p->f.chunked && p->f.length));
    must(p->r.has_body == (p->f.chunked || p->f.length > 0));
    must_lie_within(p->r.method_text, bytes);
    for (size_t i = 0; i < p->r.header_count; i++) {
        must_lie_within(p->headers[i].name, bytes);
        must_lie_within(p->headers[i].value, bytes);
        must(!memchr(p->headers[i].value.p, '\n', p->headers[i].value.n));
    }
    /* The size of the body is never in doubt. */
    size_t lengths, codings;
    (void)http_header(&p->r, STR("Content-Length"), &lengths);
    (void)http_header(&p->r, STR("Transfer-Encoding"), &codings);
    must(lengths + codings <= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct parsed whole, part;
    struct str bytes = {(const char *)data, size};
    bytes = str_from(bytes, http_empty_lines(bytes));
    parse(&whole, bytes);
    if (whole.result == HTTP_PARSE_DONE)
        check_done(&whole, bytes);
    size_t step = bytes.n / 64 + 1;
    for (size_t n = 0; n < bytes.n; n += step) {
        parse(&part, str_n(bytes.p, n));
        if (part.result == HTTP_PARSE_REFUSED)
            must(whole.result == HTTP_PARSE_REFUSED && whole.f.why == part.f.why);
        else if (part.result == HTTP_PARSE_DONE)
            must(whole.result == HTTP_PARSE_DONE && whole.f.head_len == part.f.head_len);
        else
            must(whole.result != HTTP_PARSE_DONE || n < whole.f.head_len);
        arena_done(&part.r.arena);
    }
    arena_done(&whole.r.arena);
    return 0;
}
