/* Header traceparent (W3C Trace Context, section 3.2.2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/trace.h"

#define TRACE  "0af7651916cd43dd8448eb211c80319c"
#define PARENT "b7ad6b7169203331"

static void a_trace_is_read(void **state)
{
    (void)state;
    const char *const good[] = {"00-" TRACE "-" PARENT "-01", "00-" TRACE "-" PARENT "-ff",
                                "cc-" TRACE "-" PARENT "-01", "cc-" TRACE "-" PARENT "-01-more"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct trace t;
        assert_true(trace_parse(str_z(good[i]), &t));
        assert_string_equal(t.trace_id, TRACE);
        assert_string_equal(t.parent_id, PARENT);
    }
}

/* SERVICE-28 */
static void a_malformed_header_is_none(void **state)
{
    (void)state;
    const char *const bad[] = {"",
                               "00",
                               "ff-" TRACE "-" PARENT "-01",
                               "0F-" TRACE "-" PARENT "-01",
                               "00-" TRACE "-" PARENT "-01-",
                               "00-" TRACE "-" PARENT "-01-more",
                               "cc-" TRACE "-" PARENT "-01.more",
                               "00-" TRACE "-" PARENT "-0",
                               "00-" TRACE "-" PARENT "-0x",
                               "00-" TRACE "-" PARENT "_01",
                               "00_" TRACE "-" PARENT "-01",
                               "00-00000000000000000000000000000000-" PARENT "-01",
                               "00-" TRACE "-0000000000000000-01",
                               "00-0AF7651916CD43DD8448EB211C80319C-" PARENT "-01",
                               "00-" TRACE "-B7AD6B7169203331-01"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct trace t;
        if (trace_parse(str_z(bad[i]), &t))
            fail_msg("%s was accepted", bad[i]);
    }
}

/* SERVICE-28 */
static void a_header_that_is_sent_twice_is_none(void **state)
{
    (void)state;
    const struct http_header headers[] = {{STR("Traceparent"), STR("00-" TRACE "-" PARENT "-01")},
                                          {STR("traceparent"), STR("00-" TRACE "-" PARENT "-00")}};
    struct http_request r = {.headers = headers, .header_count = 1};
    struct trace t;
    trace_read(&r, &t);
    assert_string_equal(t.trace_id, TRACE);
    r.header_count = 2;
    trace_read(&r, &t);
    assert_string_equal(t.trace_id, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_is_read),
        cmocka_unit_test(a_malformed_header_is_none),
        cmocka_unit_test(a_header_that_is_sent_twice_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
