#include "base/arena.h"
#include "unit.h"

static void allocations_are_aligned_and_do_not_overlap(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, NULL, 0);
    char *last = NULL;
    for (size_t n = 0; n < 300; n++) {
        char *p = arena_zalloc(&a, n);
        assert_int_equal((uintptr_t)p % 16, 0);
        assert_ptr_not_equal(p, NULL);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(p[i], 0);
        memset(p, 'x', n);
        if (last && n > 1)
            assert_int_equal(last[0], 'x'); /* the previous one is intact */
        last = n ? p : NULL;
    }
    arena_done(&a);
}

static void the_given_memory_is_used_before_the_heap(void **state)
{
    (void)state;
    _Alignas(16) char first[64];
    struct arena a;
    arena_init(&a, first, sizeof first);
    assert_ptr_equal(arena_alloc(&a, 10), first);
    assert_ptr_equal(arena_alloc(&a, 48), first + 16);
    assert_null(a.blocks);
    memset(arena_alloc(&a, 1), 1, 1);
    assert_non_null(a.blocks);
    arena_done(&a);
}

static void large_allocations_fit(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, NULL, 0);
    for (size_t n = 4000; n < 4200; n++)
        memset(arena_alloc(&a, n), 1, n);
    memset(arena_alloc(&a, 1 << 20), 1, 1 << 20);
    arena_done(&a);
}

static void strings_are_copied_with_a_nul(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, NULL, 0);
    char text[] = "abc";
    struct str s = arena_str(&a, str_n(text, 2));
    text[0] = 'z';
    assert_text(s, "ab");
    assert_int_equal(s.p[2], '\0');
    assert_null(arena_str(&a, STR_NONE).p);
    assert_text(arena_str(&a, STR("")), "");
    assert_text(arena_printf(&a, "%d-%s", 7, "x"), "7-x");
    arena_done(&a);
}

static char ends[8];

static void note_end(void *arg)
{
    ends[strlen(ends)] = *(const char *)arg;
}

static void the_end_calls_what_was_deferred_the_newest_first(void **state)
{
    (void)state;
    struct arena a;
    char memory[512];
    arena_init(&a, memory, sizeof memory);
    arena_defer(&a, note_end, (void *)"1");
    memset(arena_alloc(&a, 1 << 16), 'x', 1 << 16);
    arena_defer(&a, note_end, (void *)"2");
    arena_done(&a);
    assert_string_equal(ends, "21");
    arena_done(&a);
    assert_string_equal(ends, "21");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_aligned_and_do_not_overlap),
        cmocka_unit_test(the_given_memory_is_used_before_the_heap),
        cmocka_unit_test(large_allocations_fit),
        cmocka_unit_test(strings_are_copied_with_a_nul),
        cmocka_unit_test(the_end_calls_what_was_deferred_the_newest_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
