/* Constant texts: their compression and entity tags. */
#include "api/constant.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first */
#include <cmocka.h>
#include <zlib.h>

static void the_compressed_text_has_its_own_tag(void **state)
{
    struct http_content c, d;
    char text[5000], again[5000];
    (void)state;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)('a' + i * i % 7);
    constant_init(&c, str_n(text, sizeof text));
    assert_true(c.body[HTTP_CODING_GZIP].n < sizeof text / 2);
    assert_string_not_equal(c.tag[HTTP_CODING_NONE], c.tag[HTTP_CODING_GZIP]);
    z_stream z = {.next_in = (Bytef *)(uintptr_t)c.body[HTTP_CODING_GZIP].p,
                  .avail_in = (uInt)c.body[HTTP_CODING_GZIP].n,
                  .next_out = (Bytef *)again,
                  .avail_out = sizeof again};
    assert_int_equal(inflateInit2(&z, MAX_WBITS + 16), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.total_out, sizeof text);
    assert_memory_equal(again, text, sizeof text);
    inflateEnd(&z);
    text[0]++;
    constant_init(&d, str_n(text, sizeof text));
    assert_string_not_equal(c.tag[HTTP_CODING_NONE], d.tag[HTTP_CODING_NONE]);
    constant_done(&c);
    constant_done(&d);
}

static void a_text_that_does_not_shrink_is_not_compressed(void **state)
{
    struct http_content c;
    (void)state;
    constant_init(&c, STR("ok"));
    assert_null(c.body[HTTP_CODING_GZIP].p);
    constant_done(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_compressed_text_has_its_own_tag),
        cmocka_unit_test(a_text_that_does_not_shrink_is_not_compressed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
