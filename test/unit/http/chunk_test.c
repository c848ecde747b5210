/* The chunked coding: decoding it in one piece and byte by byte gives the same result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "base/buf.h"
#include "http/chunk.h"

#define LIMIT 64

struct result {
    enum http_chunk_step last;
    struct buf body;
    size_t rest; /* bytes not consumed */
};

static struct result decode(struct str in, size_t piece)
{
    struct http_chunk c = HTTP_CHUNK(LIMIT);
    struct result r = {.last = HTTP_CHUNK_MORE, .body = BUF(LIMIT + 1)};
    while (in.n && r.last == HTTP_CHUNK_MORE) {
        struct str part = str_n(in.p, piece < in.n ? piece : in.n), data;
        in = str_from(in, part.n);
        while ((r.last = http_chunk_next(&c, &part, &data)) == HTTP_CHUNK_DATA)
            buf_str(&r.body, data);
        r.rest = part.n + in.n;
    }
    return r;
}

static void bodies_are_decoded_from_pieces_of_any_size(void **state)
{
    static const struct {
        struct str in;
        enum http_chunk_step last;
        const char *body;
        size_t rest;
    } cases[] = {
#define C(in, last, body, rest) {{in, sizeof(in) - 1}, HTTP_CHUNK_##last, body, rest}
        C("0\r\n\r\n", END, "", 0),
        C("5\r\nhello\r\n0\r\n\r\nGET /", END, "hello", 5),
        C("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", END, "hello world", 0),
        C("A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", END, "01234567890123456789", 0),
        C("0000000000000005\r\nhello\r\n0\r\n\r\n", END, "hello", 0),
        C("5;a=b;c=\"d;e\"\r\nhello\r\n0;last\r\n\r\n", END, "hello", 0),
        C("5 \t;a\r\nhello\r\n0\r\n\r\n", END, "hello", 0),
        C("0\r\nX-A: b\r\nX-C:\r\n\r\n", END, "", 0),
        C("5\r\nhel", MORE, "hel", 0),
        C("5", MORE, "", 0),
        C("0\r\n\r", MORE, "", 0),
        C("0\r\nX-A: b\r\n", MORE, "", 0),
        C("40\r\n", MORE, "", 0),
        C("41\r\n", LARGE, "", 0),
        C("5\r\nhello\r\n3c\r\n", LARGE, "hello", 0),
        C("FFFFFFFFFFFFFFFF\r\n", LARGE, "", 0),
        C("5\r\nhello\r\nFFFFFFFFFFFFFFFE\r\n", LARGE, "hello", 0),
        C("00000000000000005\r\n", BAD, "", 3),
        C("\r\n", BAD, "", 2),
        C("g\r\n", BAD, "", 3),
        C("-1\r\n", BAD, "", 4),
        C(" 5\r\n", BAD, "", 4),
        C("5 \r\n", BAD, "", 2),
        C("5 5\r\n", BAD, "", 3),
        C("5\nhello\r\n", BAD, "", 8),
        C("5\rhello\r\n", BAD, "", 7),
        C("5;a\nhello\r\n", BAD, "", 8),
        C("5;\0\r\nhello\r\n", BAD, "", 10),
        C("5\r\nhelloX", BAD, "hello", 1),
        C("5\r\nhello\n", BAD, "hello", 1),
        C("5\r\nhello\rX", BAD, "hello", 1),
        C("0\r\nX\r\n", BAD, "", 2),
        C("0\r\n X: a\r\n", BAD, "", 7),
        C("0\r\n: a\r\n", BAD, "", 5),
        C("0\r\nX : a\r\n", BAD, "", 6),
        C("0\r\nX: a\n", BAD, "", 1),
        C("0\r\nX: \x01\r\n", BAD, "", 3),
        C("0\r\n\n", BAD, "", 1),
        C("0\r\n\rX", BAD, "", 1),
#undef C
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t piece = 1; piece <= cases[i].in.n; piece++) {
            struct result r = decode(cases[i].in, piece);
            if (r.last != cases[i].last || r.rest != cases[i].rest || !str_eq(buf_view(&r.body), str_z(cases[i].body)))
                fail_msg("case %zu in pieces of %zu: step %d, body \"%.*s\", %zu left", i, piece, r.last,
                         STR_ARG(buf_view(&r.body)), r.rest);
            buf_done(&r.body);
        }
    }
}

static void decoding_stops_at_the_end_or_an_error(void **state)
{
    static const struct str inputs[] = {{"0\r\n\r\n", 5}, {"x", 1}, {"41\r\n", 4}};
    static const enum http_chunk_step then[] = {HTTP_CHUNK_END, HTTP_CHUNK_BAD, HTTP_CHUNK_BAD};
    (void)state;
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        struct http_chunk c = HTTP_CHUNK(LIMIT);
        struct str in = inputs[i], data, more = STR("5\r\nhello");
        (void)http_chunk_next(&c, &in, &data);
        assert_int_equal(http_chunk_next(&c, &more, &data), then[i]);
        assert_int_equal(more.n, 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_are_decoded_from_pieces_of_any_size),
        cmocka_unit_test(decoding_stops_at_the_end_or_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
