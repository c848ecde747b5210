#include "base/err.h"

#include <string.h>

#include "unit.h"

static void every_error_has_a_row(void **state)
{
    (void)state;
    for (enum err e = ERR_NONE + 1; e < ERR_TABLE_END; e++) {
        const struct err_info *i = err_info(e);
        assert_true(i->status >= 400 && i->status <= 599);
        assert_true(strspn(i->code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == strlen(i->code));
        assert_true(i->message[0] && i->message[strlen(i->message) - 1] == '.');
        assert_true(i->next_action[0] && i->next_action[strlen(i->next_action) - 1] == '.');
        for (enum err other = ERR_NONE + 1; other < e; other++)
            assert_true(strcmp(err_info(other)->code, i->code) != 0 || err_info(other)->status != i->status);
    }
    assert_string_equal(err_info(ERR_HTTPS_REQUIRED)->code, "HTTPS_REQUIRED");
    assert_int_equal(err_info(ERR_HTTPS_REQUIRED)->status, 426);
}

static void internal_errors_have_the_row_of_internal_error(void **state)
{
    (void)state;
    assert_string_equal(err_info(ERR_NONE)->code, "INTERNAL_ERROR");
    assert_string_equal(err_info(ERR_RETRY)->code, "INTERNAL_ERROR");
    assert_string_equal(err_info(ERR_USAGE)->code, "INTERNAL_ERROR");
    assert_string_equal(err_info(ERR_IO)->code, "INTERNAL_ERROR");
}

static void err_why_sets_the_reason_and_returns_the_error(void **state)
{
    (void)state;
    char *why = NULL;
    assert_int_equal(err_why(&why, ERR_USAGE, "%s: %d", "port", 7), ERR_USAGE);
    assert_string_equal(why, "port: 7");
    free(why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_error_has_a_row),
        cmocka_unit_test(internal_errors_have_the_row_of_internal_error),
        cmocka_unit_test(err_why_sets_the_reason_and_returns_the_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
