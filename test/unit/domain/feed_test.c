/* The feed of a building: its numbers, what it tells, and its purge. */
#include "domain/feed.h"

#include "domain/building_fixture.h"

/* ---- writing and reading ---- */

struct adding {
    struct id building;
    int64_t at_us;
    bool again, fails;
};

static enum err add_run(struct tx *tx, void *arg)
{
    const struct adding *a = arg;
    const struct feed_data none = {0};
    enum err e = a->again ? feed_add_again(tx, &a->building, FEED_SETTINGS_CHANGED, a->at_us, &none)
                          : feed_add(tx, &a->building, FEED_SETTINGS_CHANGED, a->at_us, &none);
    return e || !a->fails ? e : ERR_BAD_REQUEST;
}

static enum err add(struct building_fixture *fx, struct adding a)
{
    return fixture_run(fx, STORE_WRITE, add_run, &a);
}

struct feed_reading {
    struct id building;
    int64_t after, newest;
    const struct feed_event *events;
    size_t count;
};

static enum err read_run(struct tx *tx, void *arg)
{
    struct feed_reading *r = arg;
    enum err e = feed_newest(tx, &r->building, &r->newest);
    return e ? e : feed_read(tx, &r->building, r->after, 1000, &r->events, &r->count);
}

static struct feed_reading read_feed(struct building_fixture *fx, int64_t after)
{
    struct feed_reading r = {.building = fx->building, .after = after};
    assert_int_equal(fixture_run(fx, STORE_READ, read_run, &r), ERR_NONE);
    return r;
}

/* LOG-9 */
static void test_numbers_have_no_gap_where_a_transaction_was_rolled_back(void **state)
{
    struct building_fixture *fx = *state;
    assert_int_equal(read_feed(fx, 0).newest, 0);
    assert_int_equal(add(fx, (struct adding){fx->building, 1, false, false}), ERR_NONE);
    assert_int_equal(add(fx, (struct adding){fx->building, 2, false, true}), ERR_BAD_REQUEST);
    assert_int_equal(add(fx, (struct adding){fx->building, 3, false, false}), ERR_NONE);
    const struct feed_reading all = read_feed(fx, 0), rest = read_feed(fx, 1);
    assert_int_equal(all.newest, 2);
    assert_int_equal(all.count, 2);
    assert_int_equal(all.events[1].seq, 2);
    assert_int_equal(all.events[1].at_us, 3);
    assert_true(str_eq(all.events[1].type, STR("settings.changed")));
    assert_true(str_eq(all.events[1].data, STR("{}")));
    assert_int_equal(rest.count, 1);
    assert_int_equal(read_feed(fx, 2).count, 0);
}

static void test_nothing_is_added_for_a_building_that_is_gone(void **state)
{
    struct building_fixture *fx = *state;
    assert_int_equal(add(fx, (struct adding){fx->account, 1, true, false}), ERR_NONE);
    fixture_expect(fx, "SELECT count(*) FROM feed", "0\n");
    fixture_expect(fx, "SELECT count(*) FROM feed_counter", "0\n");
}

#define WRITERS 4
#define EACH    25

struct writer {
    pthread_t thread;
    struct building_fixture *fx;
};

static enum err add_in_store(void *arg, struct db *db)
{
    struct building_fixture *fx = arg;
    struct tx tx = {.db = db, .now_us = fx->now_us};
    return feed_settings(&tx, &fx->building);
}

static void *write_many(void *arg)
{
    struct writer *w = arg;
    for (int i = 0; i < EACH; i++)
        if (store_run(w->fx->fixture->store, STORE_WRITE, add_in_store, w->fx))
            abort();
    return NULL;
}

/* LOG-9 */
static void test_writers_at_the_same_time_leave_no_gap(void **state)
{
    struct building_fixture *fx = *state;
    struct writer writers[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        writers[i].fx = fx;
        assert_int_equal(pthread_create(&writers[i].thread, NULL, write_many, &writers[i]), 0);
    }
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_join(writers[i].thread, NULL), 0);
    const struct feed_reading all = read_feed(fx, 0);
    assert_int_equal(all.count, WRITERS * EACH);
    for (size_t i = 0; i < all.count; i++)
        assert_int_equal(all.events[i].seq, i + 1);
}

/* ---- calls ---- */

struct telling {
    struct call_arrival call;
    struct access_decision decision;
    enum feed_decision what;
    struct str steps;
};

static enum err tell_run(struct tx *tx, void *arg)
{
    const struct telling *t = arg;
    return t->steps.p ? feed_steps(tx, &t->call, &t->decision.building_id, t->steps)
                      : feed_decided(tx, &t->call, t->what, &t->decision, ACCESS_NO_CODE);
}

static struct telling telling(struct building_fixture *fx, enum feed_decision what, enum access_verdict verdict)
{
    return (struct telling){.call = {.id = fx->account, .started_us = fx->now_us, .caller = VISITOR},
                            .decision = {.verdict = verdict,
                                         .reason = ACCESS_PASSCODE,
                                         .building_id = fx->building,
                                         .grant_id = fx->account,
                                         .grant_label = STR("Guest")},
                            .what = what};
}

static void expect_told(struct building_fixture *fx, struct telling t, const char *types)
{
    const int64_t before = read_feed(fx, 0).newest;
    assert_int_equal(fixture_run(fx, STORE_WRITE, tell_run, &t), ERR_NONE);
    const struct feed_reading r = read_feed(fx, before);
    struct buf told = BUF(4096);
    for (size_t i = 0; i < r.count; i++)
        buf_printf(&told, "%.*s ", STR_ARG(r.events[i].type));
    buf_char(&told, '\0');
    assert_string_equal(told.p, types);
    buf_done(&told);
}

static void test_each_decision_tells_what_it_decided(void **state)
{
    struct building_fixture *fx = *state;
    expect_told(fx, telling(fx, FEED_ARRIVAL, ACCESS_COLLECT), "call.ring ");
    expect_told(fx, telling(fx, FEED_ARRIVAL, ACCESS_RELEASE), "call.ring call.released ");
    expect_told(fx, telling(fx, FEED_ARRIVAL, ACCESS_REJECT), "");
    expect_told(fx, telling(fx, FEED_ARRIVAL, ACCESS_SELF_CALL), "");
    expect_told(fx, telling(fx, FEED_CODE, ACCESS_WRONG), "call.code_wrong ");
    expect_told(fx, telling(fx, FEED_CODE, ACCESS_RELEASE), "call.released ");
    expect_told(fx, telling(fx, FEED_CODE, ACCESS_FORWARD), "");
    expect_told(fx, telling(fx, FEED_FORWARDING, ACCESS_FORWARD), "call.forwarded ");
}

static void test_steps_that_a_decision_has_told_are_not_told_again(void **state)
{
    struct building_fixture *fx = *state;
    struct telling t = telling(fx, FEED_ARRIVAL, ACCESS_COLLECT);
    expect_told(fx, t, "call.ring ");
    t.steps = STR("0 arrived\n1 asked_code\n2 answered\n3 said welcome\n4 key event\n5 code_wrong wrong_code\n"
                  "6 released passcode\n7 forwarded no_code\n8 ringing - ...0001\n9 connected\n10 resident_opened\n"
                  "11 resident_opened no_tone\n12 unanswered busy\n13 message 5s\n14 message lost\n15 said granted\n");
    assert_true(feed_tells(t.steps));
    assert_false(feed_tells(STR("0 arrived\n4 key event\n5 code_wrong wrong_code\n6 released passcode\n")));
    expect_told(fx, t, "call.greeting call.ringing call.answered call.opened call.unanswered call.message ");
    const struct feed_reading r = read_feed(fx, 1);
    assert_int_equal(r.events[1].at_us, fx->now_us + 8000);
    assert_non_null(memmem(r.events[1].data.p, r.events[1].data.n, "\"number\":\"...0001\"", 18));
}

/* ---- the purge ---- */

static enum err purge_run(struct tx *tx, void *arg)
{
    int64_t count;
    (void)arg;
    return feed_purge(tx, tx->now_us - FEED_KEPT_S * US_PER_S, 3, &count);
}

/* LOG-10 */
static void test_events_older_than_a_day_are_purged_from_the_oldest_in_batches(void **state)
{
    struct building_fixture *fx = *state;
    for (int i = 0; i < 5; i++)
        assert_int_equal(add(fx, (struct adding){fx->building, fx->now_us, false, false}), ERR_NONE);
    fx->now_us += 12 * HOURS;
    assert_int_equal(add(fx, (struct adding){fx->building, fx->now_us, false, false}), ERR_NONE);
    fx->now_us += 13 * HOURS;
    assert_int_equal(fixture_run(fx, STORE_WRITE, purge_run, NULL), ERR_NONE);
    fixture_expect(fx, "SELECT seq FROM feed ORDER BY seq", "4\n5\n6\n");
    assert_int_equal(fixture_run(fx, STORE_WRITE, purge_run, NULL), ERR_NONE);
    fixture_expect(fx, "SELECT seq FROM feed ORDER BY seq", "6\n");
    assert_int_equal(add(fx, (struct adding){fx->building, fx->now_us, false, false}), ERR_NONE);
    assert_int_equal(read_feed(fx, 0).newest, 7);
}

#define TESTS(T)                                                                                                       \
    T(test_numbers_have_no_gap_where_a_transaction_was_rolled_back),                                                   \
        T(test_nothing_is_added_for_a_building_that_is_gone), T(test_writers_at_the_same_time_leave_no_gap),           \
        T(test_each_decision_tells_what_it_decided), T(test_steps_that_a_decision_has_told_are_not_told_again),        \
        T(test_events_older_than_a_day_are_purged_from_the_oldest_in_batches)

FIXTURE_RUN_BOTH(TESTS)
