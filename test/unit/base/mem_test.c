#include "base/mem.h"

#include <string.h>

#include "unit.h"

struct tail {
    int n;
    char bytes[];
};

static void new_memory_is_zeroed(void **state)
{
    (void)state;
    int *one = mem_new(int), *many = mem_array(int, 3);
    struct tail *t = mem_new_with(struct tail, 8);
    assert_int_equal(*one, 0);
    assert_int_equal(many[2], 0);
    assert_memory_equal(t->bytes, "\0\0\0\0\0\0\0", 8);
    free(t);
    free(many);
    free(one);
}

static void a_resized_array_keeps_its_elements(void **state)
{
    (void)state;
    int *p = NULL;
    mem_resize(p, 1);
    p[0] = 7;
    mem_resize(p, 1000);
    assert_int_equal(p[0], 7);
    free(p);
}

static void texts_are_copies(void **state)
{
    (void)state;
    char *whole = mem_strdup("portero"), *part = mem_strndup("portero", 4), *made = mem_printf("%s/%d", "a", 1);
    assert_string_equal(whole, "portero");
    assert_string_equal(part, "port");
    assert_string_equal(made, "a/1");
    free(whole);
    free(part);
    free(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_memory_is_zeroed),
        cmocka_unit_test(a_resized_array_keeps_its_elements),
        cmocka_unit_test(texts_are_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
