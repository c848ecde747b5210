#include "base/buf.h"
#include "unit.h"

static void bytes_are_appended_in_order(void **state)
{
    (void)state;
    struct buf b = BUF(1000);
    assert_text(buf_view(&b), "");
    buf_lit(&b, "ab");
    buf_char(&b, 'c');
    buf_str(&b, STR(""));
    buf_str(&b, STR_NONE);
    buf_printf(&b, "%s=%d", "d", 4);
    assert_text(buf_view(&b), "abcd=4");
    assert_false(b.full);
    buf_done(&b);
    assert_int_equal(b.n, 0);
    buf_lit(&b, "again");
    assert_text(buf_view(&b), "again");
    buf_done(&b);
}

static void integers_are_written_in_decimal(void **state)
{
    (void)state;
    static const int64_t values[] = {0,     1,      -1,      9,         10,        -10,       99,        100,
                                     12345, -54321, 1000000, INT64_MAX, INT64_MIN, INT32_MAX, INT32_MIN, 1LL << 53};
    for (size_t i = 0; i < COUNT(values); i++) {
        char want[32];
        struct buf b = BUF(100);
        snprintf(want, sizeof want, "%lld", (long long)values[i]);
        buf_i64(&b, values[i]);
        assert_text(buf_view(&b), want);
        buf_done(&b);
    }
}

static void writes_beyond_the_maximum_are_dropped_and_full_stays_set(void **state)
{
    (void)state;
    struct buf b = BUF(10);
    buf_put(&b, "0123456789", 10);
    assert_false(b.full);
    buf_char(&b, 'x');
    assert_true(b.full);
    assert_text(buf_view(&b), "0123456789");
    buf_i64(&b, 1);
    buf_printf(&b, "%d", 1);
    assert_text(buf_view(&b), "0123456789");
    assert_true(b.full);
    buf_done(&b);
}

static void a_write_larger_than_the_maximum_is_dropped(void **state)
{
    (void)state;
    struct buf b = BUF(10);
    buf_put(&b, "01234567890", 11);
    assert_true(b.full);
    assert_int_equal(b.n, 0);
    assert_false(buf_reserve(&b, SIZE_MAX));
    buf_done(&b);
}

static void a_buffer_grows_to_its_maximum(void **state)
{
    (void)state;
    struct buf b = BUF(100000);
    for (int i = 0; i < 100000; i++)
        buf_char(&b, (char)('a' + i % 26));
    assert_false(b.full);
    assert_int_equal(b.n, 100000);
    assert_true(b.cap <= b.max);
    assert_int_equal(b.p[99999], 'a' + 99999 % 26);
    buf_done(&b);
}

static void html_is_escaped_in_texts_and_quoted_values(void **state)
{
    (void)state;
    struct buf b = BUF(200);
    buf_html(&b, STR("<a href=\"x\" title='y'>\xc3\xa9 & z</a>"));
    static const char expected[] = "&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;\xc3\xa9 &amp; z&lt;/a&gt;";
    assert_int_equal(b.n, sizeof expected - 1);
    assert_memory_equal(b.p, expected, sizeof expected - 1);
    buf_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_appended_in_order),
        cmocka_unit_test(integers_are_written_in_decimal),
        cmocka_unit_test(writes_beyond_the_maximum_are_dropped_and_full_stays_set),
        cmocka_unit_test(a_write_larger_than_the_maximum_is_dropped),
        cmocka_unit_test(a_buffer_grows_to_its_maximum),
        cmocka_unit_test(html_is_escaped_in_texts_and_quoted_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
