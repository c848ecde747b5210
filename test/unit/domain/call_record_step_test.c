/* The steps of a call's record as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "domain/call_record.h"

static void expect_line(struct call_step step, const char *line)
{
    char text[CALL_STEP_LINE_MAX];
    const size_t n = call_step_write(&step, text);
    assert_true(n < sizeof text);
    assert_true(str_eq(str_n(text, n), str_z(line)));
}

static void test_a_step_is_one_line_whatever_its_words_are(void **state)
{
    (void)state;
    expect_line((struct call_step){.at_ms = 12, .kind = CALL_STEP_ARRIVED}, "12 arrived\n");
    expect_line((struct call_step){.at_ms = 12, .kind = CALL_STEP_KEY, .text = STR("tone")}, "12 key tone\n");
    expect_line((struct call_step){.kind = CALL_STEP_RINGING, .ref = STR("...4321")}, "0 ringing - ...4321\n");
    expect_line((struct call_step){.kind = CALL_STEP_LEG_FAILED, .text = STR("a\nb c"), .ref = STR("x y")},
                "0 leg_failed a x\n");
    expect_line((struct call_step){.kind = CALL_STEP_LEG_FAILED, .text = STR("\xc3\xa9"), .ref = STR("1\x7f")},
                "0 leg_failed - 1\n");
    expect_line((struct call_step){.at_ms = INT64_MAX,
                                   .kind = CALL_STEP_RESIDENT_OPENED,
                                   .text = STR("ttttttttttttttttttttttttttttttttttttttttt"),
                                   .ref = STR("rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr")},
                "9223372036854775807 resident_opened tttttttttttttttttttttttttttttt rrrrrrrrrrrrrrrrrrrrrrrrrrrrrr\n");
}

static void test_steps_are_read_back_and_damaged_lines_skipped(void **state)
{
    (void)state;
    struct str text =
        STR("0 arrived\n\nx said\n5 nonsense\n7\n8 said welcome\n9 not_usable expired abc\n10 ringing - 1\n3 key");
    static const struct {
        int64_t at_ms;
        enum call_step_kind kind;
        const char *text, *ref;
    } steps[] = {{0, CALL_STEP_ARRIVED, NULL, NULL},
                 {8, CALL_STEP_SAID, "welcome", NULL},
                 {9, CALL_STEP_NOT_USABLE, "expired", "abc"},
                 {10, CALL_STEP_RINGING, NULL, "1"},
                 {3, CALL_STEP_KEY, NULL, NULL}};
    struct call_step step;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        assert_true(call_step_read(&text, &step));
        assert_int_equal(step.at_ms, steps[i].at_ms);
        assert_int_equal(step.kind, steps[i].kind);
        assert_true(str_eq(step.text, str_z(steps[i].text)));
        assert_true(str_eq(step.ref, str_z(steps[i].ref)));
    }
    assert_false(call_step_read(&text, &step));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_step_is_one_line_whatever_its_words_are),
        cmocka_unit_test(test_steps_are_read_back_and_damaged_lines_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
