/* The lanes: how many attempts of each endpoint may be under way, and how many in all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "jobs/lane.h"

#define ROUNDS 20 /* more than any lane needs to grow */

struct track {
    struct lanes *lanes;
    struct arena arena;
    struct delivery_take offer;
    unsigned made;
};

static int open_track(void **state)
{
    struct track *t = calloc(1, sizeof *t);
    if (!t)
        return -1;
    t->lanes = lanes_new();
    arena_init(&t->arena, NULL, 0);
    *state = t;
    return 0;
}

static int close_track(void **state)
{
    struct track *t = *state;
    lanes_free(t->lanes);
    arena_done(&t->arena);
    free(t);
    return 0;
}

static struct attempt *enter(struct track *t, unsigned endpoint)
{
    struct delivery d = {.attempts = 0}; /* without an endpoint: nothing is sent */
    snprintf(d.webhook_id.text, sizeof d.webhook_id.text, "%024u", endpoint);
    snprintf(d.id.text, sizeof d.id.text, "%024u", t->made++);
    struct attempt *a = attempt_new(&d);
    lanes_enter(t->lanes, a);
    a->began_us += 3600 * US_PER_S; /* none is slow by accident */
    return a;
}

static void end(struct track *t, struct attempt *a, long status, bool timed_out)
{
    a->post.status = status;
    a->post.timed_out = timed_out;
    lanes_end(t->lanes, a);
    lanes_leave(t->lanes, a);
}

/* What the endpoint may begin now. */
static unsigned room(struct track *t, unsigned endpoint)
{
    char id[ID_LEN + 1];
    snprintf(id, sizeof id, "%024u", endpoint);
    lanes_offer(t->lanes, &t->arena, &t->offer);
    for (size_t i = 0; i < t->offer.lane_count; i++)
        if (strcmp(t->offer.lanes[i].webhook_id.text, id) == 0)
            return t->offer.lanes[i].room;
    return t->offer.lane_room;
}

/* How many attempts come to be under way if each offer is used up. */
static unsigned fill(struct track *t, unsigned endpoint, struct attempt *attempts[static LANE_MOST])
{
    unsigned n = 0;
    for (unsigned more; (more = room(t, endpoint)) > 0;)
        for (; more > 0; more--) {
            assert_true(n < LANE_MOST);
            attempts[n++] = enter(t, endpoint);
        }
    return n;
}

/* What one endpoint may begin beside those that have begun since the offer. */
static unsigned take_room(struct delivery_take *offer, unsigned i)
{
    const struct delivery_lane *lane = &offer->lanes[i];
    if (!lane->slow || lane->room <= offer->slow_room) {
        offer->slow_room -= lane->slow ? lane->room : 0;
        return lane->room;
    }
    return 0;
}

/* The same for all endpoints that are known. */
static unsigned fill_all(struct track *t)
{
    unsigned begun = 0, before;
    do {
        before = begun;
        lanes_offer(t->lanes, &t->arena, &t->offer);
        for (unsigned i = 0; i < t->offer.lane_count; i++)
            for (unsigned more = take_room(&t->offer, i); more > 0; more--, begun++)
                enter(t, i);
    } while (begun > before);
    return begun;
}

static unsigned fill_and_end(struct track *t, unsigned endpoint, long status, bool timed_out)
{
    struct attempt *attempts[LANE_MOST];
    unsigned n = fill(t, endpoint, attempts);
    for (unsigned i = 0; i < n; i++)
        end(t, attempts[i], status, timed_out);
    return n;
}

static void test_an_unknown_endpoint_begins_with_few(void **state)
{
    assert_int_equal(fill_and_end(*state, 1, 200, false), LANE_FIRST);
}

static void test_answers_make_room_up_to_a_bound(void **state)
{
    unsigned before = 0, now = 0;
    for (int i = 0; i < ROUNDS; i++) {
        now = fill_and_end(*state, 1, i % 2 ? 200 : 500, false);
        assert_true(now > before || now == LANE_MOST);
        before = now;
    }
    assert_int_equal(now, LANE_MOST);
}

static void test_a_time_out_leaves_room_for_one(void **state)
{
    for (int i = 0; i < ROUNDS; i++)
        fill_and_end(*state, 1, 200, false);
    fill_and_end(*state, 1, 0, true);
    assert_int_equal(fill_and_end(*state, 1, 0, true), 1);
    fill_and_end(*state, 1, 200, false);
    assert_int_equal(fill_and_end(*state, 1, 200, false), 2);
}

static void test_a_status_whose_body_never_ends_is_slow_as_well(void **state)
{
    for (int i = 0; i < ROUNDS; i++)
        fill_and_end(*state, 1, 200, false);
    fill_and_end(*state, 1, 200, true);
    assert_int_equal(room(*state, 1), 1);
}

static void test_endpoints_that_answer_slowly_leave_room_as_well(void **state)
{
    struct track *t = *state;
    for (unsigned i = 0; i < LANES_MOST; i++) {
        struct attempt *a = enter(t, i);
        a->began_us -= 3602 * US_PER_S;
        end(t, a, 200, false);
    }
    assert_int_equal(fill_all(t), LANES_MOST_SLOW);
}

static void test_an_endpoint_begins_a_few_at_once(void **state)
{
    for (int i = 0; i < ROUNDS; i++)
        fill_and_end(*state, 1, 200, false);
    assert_int_equal(room(*state, 1), LANE_STEP);
}

static void test_slow_endpoints_together_leave_room_for_the_others(void **state)
{
    struct track *t = *state;
    for (unsigned i = 0; i < LANES_MOST; i++)
        end(t, enter(t, i), 0, true);
    assert_int_equal(fill_all(t), LANES_MOST_SLOW);
    assert_int_equal(lanes_room(t->lanes), LANES_MOST - LANES_MOST_SLOW);
    assert_int_equal(room(t, LANES_MOST), LANE_FIRST);
}

static void test_slow_endpoints_that_have_nothing_to_send_keep_no_room_from_others(void **state)
{
    struct track *t = *state;
    for (unsigned i = 0; i < 2 * LANES_MOST_SLOW; i++)
        end(t, enter(t, i), 0, true);
    lanes_offer(t->lanes, &t->arena, &t->offer);
    for (size_t i = 0; i < t->offer.lane_count; i++)
        assert_true(t->offer.lanes[i].slow && t->offer.lanes[i].room > 0);
    assert_int_equal(t->offer.slow_room, LANES_MOST_SLOW);
}

static void test_what_is_held_is_told_until_it_is_recorded(void **state)
{
    struct track *t = *state;
    struct attempt *a = enter(t, 1);
    lanes_offer(t->lanes, &t->arena, &t->offer);
    assert_int_equal(t->offer.lanes[0].held_count, 1);
    assert_string_equal(t->offer.lanes[0].held[0].text, a->result.id.text);
    lanes_end(t->lanes, a);
    assert_int_equal(lanes_held(t->lanes), 1);
    lanes_offer(t->lanes, &t->arena, &t->offer);
    assert_int_equal(t->offer.lanes[0].held_count, 1);
    lanes_leave(t->lanes, a);
    lanes_offer(t->lanes, &t->arena, &t->offer);
    assert_int_equal(t->offer.lanes[0].held_count, 0);
    assert_int_equal(lanes_held(t->lanes), 0);
}

static void test_no_more_are_held_than_there_is_memory_for(void **state)
{
    struct track *t = *state;
    for (unsigned i = 0; i < LANES_HELD; i++)
        lanes_end(t->lanes, enter(t, i)); /* not recorded */
    assert_int_equal(lanes_room(t->lanes), 0);
    lanes_offer(t->lanes, &t->arena, &t->offer);
    assert_int_equal(t->offer.room, 0);
}

static void test_lanes_are_offered_in_their_order(void **state)
{
    struct track *t = *state;
    for (unsigned i = 100; i > 0; i--)
        enter(t, i * 7919 % 101);
    lanes_offer(t->lanes, &t->arena, &t->offer);
    assert_int_equal(t->offer.lane_count, 100);
    for (size_t i = 1; i < t->offer.lane_count; i++)
        assert_true(strcmp(t->offer.lanes[i - 1].webhook_id.text, t->offer.lanes[i].webhook_id.text) < 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_track, close_track)
    const struct CMUnitTest tests[] = {
        TEST(test_an_unknown_endpoint_begins_with_few),
        TEST(test_answers_make_room_up_to_a_bound),
        TEST(test_a_time_out_leaves_room_for_one),
        TEST(test_a_status_whose_body_never_ends_is_slow_as_well),
        TEST(test_endpoints_that_answer_slowly_leave_room_as_well),
        TEST(test_an_endpoint_begins_a_few_at_once),
        TEST(test_slow_endpoints_together_leave_room_for_the_others),
        TEST(test_slow_endpoints_that_have_nothing_to_send_keep_no_room_from_others),
        TEST(test_what_is_held_is_told_until_it_is_recorded),
        TEST(test_no_more_are_held_than_there_is_memory_for),
        TEST(test_lanes_are_offered_in_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
