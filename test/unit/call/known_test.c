/* Doors in memory: which one is found, and until when. */
#include "call/known.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define NUMBER "+15550100001"
#define PHONE  "+15550001234"
#define SECOND "+15550001235"
#define MANY   1100 /* more than there is room for */

static const struct id owner = {"0123456789abcdef01234560"}, other = {"0123456789abcdef01234561"};

static struct access_decision decision(const char *phone)
{
    return (struct access_decision){.verdict = ACCESS_COLLECT,
                                    .account_id = owner,
                                    .building_id = {"0123456789abcdef01234567"},
                                    .tones = "9",
                                    .forward_to = str_z(phone),
                                    .ring = {.numbers = {STR(SECOND)}, .count = 1, .seconds = 30}};
}

static void note(struct known *k, const char *number, const struct access_decision *d)
{
    known_note(k, known_changes(k), number, d);
}

static bool finds(struct known *k, const char *number, const char *phone)
{
    struct arena arena;
    struct access_decision d;
    arena_init(&arena, NULL, 0);
    const bool found = known_find(k, number, &arena, &d);
    if (found) {
        assert_int_equal(d.verdict, ACCESS_FORWARD);
        assert_int_equal(d.reason, ACCESS_FAILED);
        assert_true(str_eq(d.forward_to, str_z(phone)));
        assert_int_equal(d.ring.count, 1);
        assert_true(str_eq(d.ring.numbers[0], STR(SECOND)));
        assert_string_equal(d.tones, "9");
    }
    arena_done(&arena);
    return found;
}

/* CALL-10 */
static void a_door_is_found_as_it_was_noted_last(void **state)
{
    struct known *k = *state;
    const struct access_decision first = decision(PHONE), second = decision(SECOND);
    assert_false(finds(k, NUMBER, PHONE));
    note(k, NUMBER, &first);
    assert_true(finds(k, NUMBER, PHONE));
    note(k, NUMBER, &second);
    assert_true(finds(k, NUMBER, SECOND));
    assert_false(finds(k, PHONE, PHONE));
}

static void change(struct known *k, const struct id *account)
{
    struct store_fed fed = {.all_doors = !account};
    if (account)
        fed.doors[fed.door_count++] = *account;
    known_changed(k, &fed);
}

/* CALL-10 */
static void a_door_that_was_read_before_a_change_of_its_account_is_not_used(void **state)
{
    static const struct id *const accounts[] = {&owner, NULL};
    struct known *k = *state;
    const struct access_decision d = decision(PHONE);
    for (size_t i = 0; i < 2; i++) {
        const uint64_t before = known_changes(k);
        note(k, NUMBER, &d);
        change(k, &other);
        assert_true(finds(k, NUMBER, PHONE));
        change(k, accounts[i]);
        assert_false(finds(k, NUMBER, PHONE));
        known_note(k, before, NUMBER, &d); /* read before, noted after */
        assert_false(finds(k, NUMBER, PHONE));
        note(k, NUMBER, &d);
        assert_true(finds(k, NUMBER, PHONE));
    }
}

/* CALL-10 */
static void a_new_door_or_account_that_was_read_before_a_change_is_not_used(void **state)
{
    struct known *k = *state;
    struct access_decision d = decision(PHONE);
    const uint64_t first = known_changes(k);
    change(k, &owner);
    known_note(k, first, NUMBER, &d);
    assert_false(finds(k, NUMBER, PHONE));
    note(k, NUMBER, &d);
    const uint64_t second = known_changes(k);
    change(k, &other);
    d.account_id = other; /* which has the number now */
    known_note(k, second, NUMBER, &d);
    assert_false(finds(k, NUMBER, PHONE));
    note(k, NUMBER, &d);
    assert_true(finds(k, NUMBER, PHONE));
}

static void a_number_that_is_not_found_any_more_ends_its_door(void **state)
{
    struct known *k = *state;
    const struct access_decision d = decision(PHONE),
                                 gone = {.verdict = ACCESS_REJECT, .reason = ACCESS_UNKNOWN_NUMBER};
    note(k, NUMBER, &d);
    note(k, NUMBER, &gone);
    assert_false(finds(k, NUMBER, PHONE));
}

/* CALL-10 */
static void the_memory_has_a_bound(void **state)
{
    struct known *k = *state;
    const struct access_decision d = decision(PHONE);
    int found = 0;
    char number[20];
    for (int i = 0; i < MANY; i++) {
        snprintf(number, sizeof number, "+1555%07d", i);
        note(k, number, &d);
    }
    for (int i = 0; i < MANY; i++) {
        snprintf(number, sizeof number, "+1555%07d", i);
        found += finds(k, number, PHONE);
    }
    assert_true(found >= 1000 && found < MANY);
    assert_true(finds(k, number, PHONE)); /* the newest */
}

static int known_setup(void **state)
{
    *state = known_new();
    return 0;
}

static int known_teardown(void **state)
{
    known_free(*state);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, known_setup, known_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_door_is_found_as_it_was_noted_last),
        TEST(a_door_that_was_read_before_a_change_of_its_account_is_not_used),
        TEST(a_new_door_or_account_that_was_read_before_a_change_is_not_used),
        TEST(a_number_that_is_not_found_any_more_ends_its_door),
        TEST(the_memory_has_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
