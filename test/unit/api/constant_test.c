/* Constant texts: content negotiation, entity tags and conditional requests. */
#include "api/constant.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first */
#include <cmocka.h>
#include <zlib.h>

static void the_client_gets_the_coding_it_prefers(void **state)
{
    static const struct {
        const char *fields[2];
        bool gzip;
    } cases[] = {
        {{NULL}, false},
        {{""}, false},
        {{"gzip"}, true},
        {{"x-gzip"}, true},
        {{"GZIP"}, true},
        {{"deflate, gzip, br"}, true},
        {{"deflate,br"}, false},
        {{"deflate", "gzip"}, true}, /* two fields form one list */
        {{"gzipped"}, false},
        {{"gzip;q=0"}, false},
        {{"gzip;q=0.000"}, false},
        {{"gzip;q=0.001"}, true},
        {{"gzip ; Q=1.000"}, true},
        {{"gzip;q=1.001"}, false}, /* malformed */
        {{"gzip;q=.5"}, false},
        {{"gzip;q=0.5555"}, false},
        {{"gzip;q="}, false},
        {{"gzip;level=9"}, false},
        {{"*"}, true},
        {{"*;q=0"}, false},
        {{"*;q=0, gzip"}, true},
        {{"gzip;q=0, *"}, false},
        {{"identity"}, false},
        {{"identity, gzip"}, true},
        {{"identity;q=1, gzip;q=0.5"}, false},
        {{"identity;q=0.5, gzip;q=1"}, true},
        {{"identity;q=0, gzip;q=0.1"}, true},
        {{"identity;q=0"}, false},
        {{"identity;q=0, *"}, true},
        {{" ,, gzip ,"}, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct http_header headers[3] = {{STR("Accept"), STR("gzip")}};
        size_t n = 1;
        for (size_t f = 0; f < 2 && cases[i].fields[f]; f++)
            headers[n++] = (struct http_header){STR("accept-encoding"), str_z(cases[i].fields[f])};
        if (constant_wants_gzip(headers, n) != cases[i].gzip)
            fail_msg("case %zu: %s", i, cases[i].fields[0]);
    }
}

static void if_none_match_finds_the_tag_in_a_list(void **state)
{
    static const struct {
        const char *field;
        bool has;
    } cases[] = {
        {"\"ab\"", true},
        {"W/\"ab\"", true},
        {"\"x\", \"ab\"", true},
        {"\"x\",W/\"ab\",\"y\"", true},
        {" , ,\"ab\"", true},
        {"*", true},
        {"ab", false},
        {"\"a\"", false},
        {"\"abc\"", false},
        {"\"x,\"ab\"", false}, /* nothing after a malformed tag is read */
        {"\"x, \\\"ab\\\"\"", false},
        {"\"ab", false},
        {"w/\"ab\"", false},
        {"\"*\"", false},
        {"*, \"ab\"", false},
        {"", false},
        {"\"", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct http_header h = {STR("if-none-match"), str_z(cases[i].field)};
        if (constant_has_tag(&h, 1, STR("\"ab\"")) != cases[i].has)
            fail_msg("case %zu: %s", i, cases[i].field);
    }
}

static void the_compressed_text_has_its_own_tag(void **state)
{
    struct constant c, d;
    char text[5000], again[5000];
    (void)state;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)('a' + i * i % 7);
    constant_init(&c, str_n(text, sizeof text));
    assert_true(c.gzip.n < sizeof text / 2);
    assert_string_not_equal(c.plain_tag, c.gzip_tag);
    z_stream z = {.next_in = (Bytef *)(uintptr_t)c.gzip.p,
                  .avail_in = (uInt)c.gzip.n,
                  .next_out = (Bytef *)again,
                  .avail_out = sizeof again};
    assert_int_equal(inflateInit2(&z, MAX_WBITS + 16), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.total_out, sizeof text);
    assert_memory_equal(again, text, sizeof text);
    inflateEnd(&z);
    text[0]++;
    constant_init(&d, str_n(text, sizeof text));
    assert_string_not_equal(c.plain_tag, d.plain_tag);
    constant_done(&c);
    constant_done(&d);
}

static void a_text_that_does_not_shrink_is_not_compressed(void **state)
{
    struct constant c;
    (void)state;
    constant_init(&c, STR("ok"));
    assert_null(c.gzip.p);
    constant_done(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_client_gets_the_coding_it_prefers),
        cmocka_unit_test(if_none_match_finds_the_tag_in_a_list),
        cmocka_unit_test(the_compressed_text_has_its_own_tag),
        cmocka_unit_test(a_text_that_does_not_shrink_is_not_compressed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
