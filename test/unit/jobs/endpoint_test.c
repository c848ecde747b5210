/* The limits on attempts in progress: for each endpoint, for slow endpoints, and in all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "jobs/endpoint.h"

#define ROUNDS 20 /* more than a window needs to grow to its maximum */

struct fixture {
    struct endpoints *endpoints;
    struct arena arena;
    struct delivery_take offer;
    unsigned made;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    if (!f)
        return -1;
    f->endpoints = endpoints_new();
    arena_init(&f->arena, NULL, 0);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    endpoints_free(f->endpoints);
    arena_done(&f->arena);
    free(f);
    return 0;
}

static struct attempt *begin(struct fixture *f, unsigned endpoint)
{
    struct delivery d = {.attempts = 0}; /* without a URL: nothing is sent */
    snprintf(d.webhook_id.text, sizeof d.webhook_id.text, "%024u", endpoint);
    snprintf(d.id.text, sizeof d.id.text, "%024u", f->made++);
    struct attempt *a = attempt_new(&d);
    endpoints_begin(f->endpoints, a);
    a->began_us += 3600 * US_PER_S; /* so that a busy machine makes no endpoint slow */
    return a;
}

static void end(struct fixture *f, struct attempt *a, long status, bool timed_out)
{
    a->post.status = status;
    a->post.timed_out = timed_out;
    endpoints_end(f->endpoints, a);
    endpoints_remove(f->endpoints, a);
}

/* The number of attempts that the endpoint may begin now. */
static unsigned room(struct fixture *f, unsigned endpoint)
{
    char id[ID_LEN + 1];
    snprintf(id, sizeof id, "%024u", endpoint);
    endpoints_offer(f->endpoints, &f->arena, &f->offer);
    for (size_t i = 0; i < f->offer.lane_count; i++)
        if (strcmp(f->offer.lanes[i].webhook_id.text, id) == 0)
            return f->offer.lanes[i].room;
    return f->offer.lane_room;
}

/* Uses up each offer. Returns the number of attempts in progress. */
static unsigned fill(struct fixture *f, unsigned endpoint, struct attempt *attempts[static ENDPOINT_WINDOW_MAX])
{
    unsigned n = 0;
    for (unsigned more; (more = room(f, endpoint)) > 0;)
        for (; more > 0; more--) {
            assert_true(n < ENDPOINT_WINDOW_MAX);
            attempts[n++] = begin(f, endpoint);
        }
    return n;
}

/* The number of attempts that one endpoint may begin, after the attempts that have begun since the offer. */
static unsigned take_room(struct delivery_take *offer, unsigned i)
{
    const struct delivery_lane *lane = &offer->lanes[i];
    if (!lane->slow || lane->room <= offer->slow_room) {
        offer->slow_room -= lane->slow ? lane->room : 0;
        return lane->room;
    }
    return 0;
}

/* The same for all known endpoints. */
static unsigned fill_all(struct fixture *f)
{
    unsigned begun = 0, before;
    do {
        before = begun;
        endpoints_offer(f->endpoints, &f->arena, &f->offer);
        for (unsigned i = 0; i < f->offer.lane_count; i++)
            for (unsigned more = take_room(&f->offer, i); more > 0; more--, begun++)
                begin(f, i);
    } while (begun > before);
    return begun;
}

static unsigned fill_and_end(struct fixture *f, unsigned endpoint, long status, bool timed_out)
{
    struct attempt *attempts[ENDPOINT_WINDOW_MAX];
    unsigned n = fill(f, endpoint, attempts);
    for (unsigned i = 0; i < n; i++)
        end(f, attempts[i], status, timed_out);
    return n;
}

static void test_an_unknown_endpoint_begins_with_the_first_window(void **state)
{
    assert_int_equal(fill_and_end(*state, 1, 200, false), ENDPOINT_WINDOW_FIRST);
}

/* WEBHOOK-27 */
static void test_answers_widen_the_window_up_to_its_maximum(void **state)
{
    unsigned before = 0, now = 0;
    for (int i = 0; i < ROUNDS; i++) {
        now = fill_and_end(*state, 1, i % 2 ? 200 : 500, false);
        assert_true(now > before || now == ENDPOINT_WINDOW_MAX);
        before = now;
    }
    assert_int_equal(now, ENDPOINT_WINDOW_MAX);
}

/* WEBHOOK-27 */
static void test_a_timeout_resets_the_window_to_one(void **state)
{
    for (int i = 0; i < ROUNDS; i++)
        fill_and_end(*state, 1, 200, false);
    fill_and_end(*state, 1, 0, true);
    assert_int_equal(fill_and_end(*state, 1, 0, true), 1);
    fill_and_end(*state, 1, 200, false);
    assert_int_equal(fill_and_end(*state, 1, 200, false), 2);
}

static void test_a_status_whose_body_never_ends_counts_as_a_timeout(void **state)
{
    for (int i = 0; i < ROUNDS; i++)
        fill_and_end(*state, 1, 200, false);
    fill_and_end(*state, 1, 200, true);
    assert_int_equal(room(*state, 1), 1);
}

/* WEBHOOK-27 */
static void test_endpoints_that_answer_slowly_share_the_slow_part(void **state)
{
    struct fixture *f = *state;
    for (unsigned i = 0; i < ENDPOINTS_ACTIVE_MAX; i++) {
        struct attempt *a = begin(f, i);
        a->began_us -= 3602 * US_PER_S;
        end(f, a, 200, false);
    }
    assert_int_equal(fill_all(f), ENDPOINTS_SLOW_MAX);
}

static void test_an_offer_to_one_endpoint_is_bounded(void **state)
{
    for (int i = 0; i < ROUNDS; i++)
        fill_and_end(*state, 1, 200, false);
    assert_int_equal(room(*state, 1), ENDPOINT_OFFER_MAX);
}

static void test_endpoints_that_time_out_share_the_slow_part(void **state)
{
    struct fixture *f = *state;
    for (unsigned i = 0; i < ENDPOINTS_ACTIVE_MAX; i++)
        end(f, begin(f, i), 0, true);
    assert_int_equal(fill_all(f), ENDPOINTS_SLOW_MAX);
    assert_int_equal(endpoints_room(f->endpoints), ENDPOINTS_ACTIVE_MAX - ENDPOINTS_SLOW_MAX);
    assert_int_equal(room(f, ENDPOINTS_ACTIVE_MAX), ENDPOINT_WINDOW_FIRST);
}

static void test_slow_endpoints_without_attempts_use_no_capacity(void **state)
{
    struct fixture *f = *state;
    for (unsigned i = 0; i < 2 * ENDPOINTS_SLOW_MAX; i++)
        end(f, begin(f, i), 0, true);
    endpoints_offer(f->endpoints, &f->arena, &f->offer);
    for (size_t i = 0; i < f->offer.lane_count; i++)
        assert_true(f->offer.lanes[i].slow && f->offer.lanes[i].room > 0);
    assert_int_equal(f->offer.slow_room, ENDPOINTS_SLOW_MAX);
}

static void test_an_attempt_is_in_the_offer_until_it_is_recorded(void **state)
{
    struct fixture *f = *state;
    struct attempt *a = begin(f, 1);
    endpoints_offer(f->endpoints, &f->arena, &f->offer);
    assert_int_equal(f->offer.lanes[0].held_count, 1);
    assert_string_equal(f->offer.lanes[0].held[0].text, a->result.id.text);
    endpoints_end(f->endpoints, a);
    assert_int_equal(endpoints_held(f->endpoints), 1);
    endpoints_offer(f->endpoints, &f->arena, &f->offer);
    assert_int_equal(f->offer.lanes[0].held_count, 1);
    endpoints_remove(f->endpoints, a);
    endpoints_offer(f->endpoints, &f->arena, &f->offer);
    assert_int_equal(f->offer.lanes[0].held_count, 0);
    assert_int_equal(endpoints_held(f->endpoints), 0);
}

static void test_nothing_is_offered_at_the_limit_of_held_attempts(void **state)
{
    struct fixture *f = *state;
    for (unsigned i = 0; i < ENDPOINTS_HELD_MAX; i++)
        endpoints_end(f->endpoints, begin(f, i)); /* not recorded */
    assert_int_equal(endpoints_room(f->endpoints), 0);
    endpoints_offer(f->endpoints, &f->arena, &f->offer);
    assert_int_equal(f->offer.room, 0);
}

static void test_endpoints_are_offered_in_the_order_of_their_ids(void **state)
{
    struct fixture *f = *state;
    for (unsigned i = 100; i > 0; i--)
        begin(f, i * 7919 % 101);
    endpoints_offer(f->endpoints, &f->arena, &f->offer);
    assert_int_equal(f->offer.lane_count, 100);
    for (size_t i = 1; i < f->offer.lane_count; i++)
        assert_true(strcmp(f->offer.lanes[i - 1].webhook_id.text, f->offer.lanes[i].webhook_id.text) < 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_an_unknown_endpoint_begins_with_the_first_window),
        TEST(test_answers_widen_the_window_up_to_its_maximum),
        TEST(test_a_timeout_resets_the_window_to_one),
        TEST(test_a_status_whose_body_never_ends_counts_as_a_timeout),
        TEST(test_endpoints_that_answer_slowly_share_the_slow_part),
        TEST(test_an_offer_to_one_endpoint_is_bounded),
        TEST(test_endpoints_that_time_out_share_the_slow_part),
        TEST(test_slow_endpoints_without_attempts_use_no_capacity),
        TEST(test_an_attempt_is_in_the_offer_until_it_is_recorded),
        TEST(test_nothing_is_offered_at_the_limit_of_held_attempts),
        TEST(test_endpoints_are_offered_in_the_order_of_their_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
