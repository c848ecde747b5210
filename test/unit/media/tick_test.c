/* The tick that paces packets: an entry that is removed during a round does not skip others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "media/tick.h"

#define ENTRIES 4

struct listener {
    struct tick_entry entry;
    struct listener *takes; /* removed together with this one */
    int64_t ran_ms;         /* 0: never */
};

static void on_tick(void *arg, int64_t now_ms)
{
    struct listener *l = arg;
    l->ran_ms = now_ms;
    if (l->takes)
        tick_remove(&l->takes->entry);
    tick_remove(&l->entry);
}

static void on_last(void *arg, int64_t now_ms)
{
    on_tick(arg, now_ms);
    re_cancel();
}

/* Runs one round. Returns the listeners that ran in it, as bits. */
static unsigned run_round(struct listener l[static ENTRIES])
{
    struct tick *t;
    unsigned ran = 0;
    assert_int_equal(re_thread_init(), 0);
    assert_int_equal(fd_setsize(64), 0);
    assert_int_equal(tick_new(&t), ERR_NONE);
    for (int i = 0; i < ENTRIES; i++)
        tick_add(t, &l[i].entry, i == ENTRIES - 1 ? on_last : on_tick, &l[i]);
    assert_int_equal(re_main(NULL), 0);
    for (int i = 0; i < ENTRIES; i++) {
        if (l[i].ran_ms == l[0].ran_ms)
            ran |= 1u << i;
    }
    tick_free(t);
    fd_setsize(0);
    re_thread_close();
    return ran;
}

static void a_round_continues_when_a_listener_and_the_next_are_removed(void **state)
{
    (void)state;
    struct listener l[ENTRIES] = {0};
    l[0].takes = &l[1];
    assert_int_equal(run_round(l), 1 | 4 | 8);
    assert_int_equal(l[1].ran_ms, 0);
}

static void a_round_continues_when_an_earlier_listener_is_removed(void **state)
{
    (void)state;
    struct listener l[ENTRIES] = {0};
    l[1].takes = &l[0];
    assert_int_equal(run_round(l), 1 | 2 | 4 | 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_continues_when_a_listener_and_the_next_are_removed),
        cmocka_unit_test(a_round_continues_when_an_earlier_listener_is_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
