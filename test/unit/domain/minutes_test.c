/* voice.account_minutes_per_day: what a forwarded call reserves, what its end takes, and when minutes come back. */
#include "domain/minutes.h"

#include "domain/access_fixture.h"
#include "domain/call_record.h"
#include "domain/phone.h"

#define LIMIT   30
#define CALLERS 8 /* at once */

struct forwarding {
    struct building_fixture *fx;
    struct arena arena;
    struct call_arrival arrival;
    struct call_end end;
    struct access_decision decision;
    enum err e;
};

/* As a front end: the decision and the beginning of the record are one transaction. */
static enum err forward_run(void *arg, struct db *db)
{
    struct forwarding *f = arg;
    struct building_fixture *fx = f->fx;
    struct tx tx = {.arena = &f->arena, .db = db, .config = &fx->fixture->config, .now_us = f->arrival.started_us};
    enum err e = access_forwarded(&tx, &fx->building, &f->decision);
    f->end = (struct call_end){.account_id = f->decision.account_id,
                               .building_id = f->decision.building_id,
                               .outcome = CALL_RECORD_FORWARDED,
                               .reason = ACCESS_NO_GRANT,
                               .minutes = f->decision.minutes};
    return e ? e : call_record_write(&tx, &f->arrival, &f->end);
}

static void *forward_thread(void *arg)
{
    struct forwarding *f = arg;
    f->arrival = (struct call_arrival){
        .id = id_new(f->fx->now_us), .started_us = f->fx->now_us, .dialled = FIXTURE_NUMBER, .caller = VISITOR};
    arena_init(&f->arena, NULL, 0);
    f->e = store_run(f->fx->fixture->store, STORE_WRITE, forward_run, f);
    arena_done(&f->arena);
    return NULL;
}

static struct forwarding forwarded(struct building_fixture *fx)
{
    struct forwarding f = {.fx = fx};
    (void)forward_thread(&f);
    assert_int_equal(f.e, ERR_NONE);
    return f;
}

static enum err end_run(struct tx *tx, void *arg)
{
    const struct forwarding *f = arg;
    return call_record_write(tx, &f->arrival, &f->end);
}

static void ended(struct forwarding *f, int64_t minutes)
{
    f->end.minutes = minutes;
    f->end.ended_us = f->fx->now_us;
    f->end.ended_by = CALL_ENDED_RESIDENT;
    assert_int_equal(fixture_run(f->fx, STORE_WRITE, end_run, f), ERR_NONE);
}

struct asking {
    struct id account;
    int64_t minutes;
};

static enum err ask_run(struct tx *tx, void *arg)
{
    struct asking *a = arg;
    return minutes_left(tx, &a->account, &a->minutes);
}

static int64_t minutes_of(struct building_fixture *fx)
{
    struct asking a = {.account = fx->account};
    assert_int_equal(fixture_run(fx, STORE_READ, ask_run, &a), ERR_NONE);
    return a.minutes;
}

static struct building_fixture *limited(void **state)
{
    struct building_fixture *fx = *state;
    fx->fixture->config.voice_account_minutes_per_day = LIMIT;
    return fx;
}

static void expect_mails(struct building_fixture *fx, const char *count)
{
    fixture_expect(fx, "SELECT count(*) FROM job WHERE kind = 'mail'", count);
}

static void test_without_a_limit_nothing_is_reserved(void **state)
{
    struct building_fixture *fx = limited(state);
    fx->fixture->config.voice_account_minutes_per_day = 0;
    const struct forwarding f = forwarded(fx);
    assert_int_equal(f.decision.minutes, 0);
    assert_false(f.decision.spent);
    assert_true(minutes_of(fx) == INT64_MAX);
}

/* ACCOUNT-28 */
static void test_a_call_reserves_ten_minutes_and_one_for_its_phone_or_the_rest(void **state)
{
    struct building_fixture *fx = limited(state);
    const int64_t reserved[] = {11, 11, 8};
    for (size_t i = 0; i < 3; i++) {
        const struct forwarding f = forwarded(fx);
        assert_int_equal(f.decision.minutes, reserved[i]);
        assert_false(f.decision.spent);
    }
    assert_int_equal(minutes_of(fx), 0);
    const struct forwarding f = forwarded(fx);
    assert_int_equal(f.decision.minutes, 0);
    assert_true(f.decision.spent);
}

/* ACCOUNT-28 */
static void test_the_end_of_a_call_gives_back_minutes_that_it_did_not_take(void **state)
{
    struct building_fixture *fx = limited(state);
    struct forwarding f = forwarded(fx);
    assert_int_equal(minutes_of(fx), LIMIT - 11);
    ended(&f, 2);
    assert_int_equal(minutes_of(fx), LIMIT - 2);
    f = forwarded(fx);
    ended(&f, 0);
    assert_int_equal(minutes_of(fx), LIMIT - 2);
}

/* ACCOUNT-27 */
static void test_minutes_come_back_a_day_after_the_start_of_their_call(void **state)
{
    struct building_fixture *fx = limited(state);
    const int64_t began_us = fx->now_us;
    struct forwarding f = forwarded(fx);
    ended(&f, 7);
    fx->now_us = began_us + 5 * HOURS;
    f = forwarded(fx);
    ended(&f, 3);
    fx->now_us = began_us + DAYS - 1;
    assert_int_equal(minutes_of(fx), LIMIT - 10);
    fx->now_us = began_us + DAYS;
    assert_int_equal(minutes_of(fx), LIMIT - 3);
    fx->now_us = began_us + 5 * HOURS + DAYS;
    assert_int_equal(minutes_of(fx), LIMIT);
}

static void test_a_record_ahead_of_the_clock_takes_nothing(void **state)
{
    struct building_fixture *fx = limited(state);
    fx->now_us += 40 * DAYS;
    struct forwarding f = forwarded(fx);
    ended(&f, LIMIT);
    assert_int_equal(minutes_of(fx), 0);
    fx->now_us -= 40 * DAYS;
    assert_int_equal(minutes_of(fx), LIMIT);
}

static void test_calls_at_once_reserve_no_more_than_there_is(void **state)
{
    struct building_fixture *fx = limited(state);
    struct forwarding calls[CALLERS];
    pthread_t threads[CALLERS];
    int64_t reserved = 0;
    for (size_t i = 0; i < CALLERS; i++) {
        calls[i] = (struct forwarding){.fx = fx};
        assert_int_equal(pthread_create(&threads[i], NULL, forward_thread, &calls[i]), 0);
    }
    for (size_t i = 0; i < CALLERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        reserved += calls[i].e ? 0 : calls[i].decision.minutes;
    }
    assert_in_range(reserved, 1, LIMIT);
    assert_int_equal(minutes_of(fx), LIMIT - reserved);
}

static void test_all_buildings_of_an_account_take_of_the_same_minutes(void **state)
{
    struct building_fixture *fx = limited(state);
    (void)forwarded(fx);
    fx->building = fixture_add_building(fx, "Annex", "+15550100002");
    (void)forwarded(fx);
    assert_int_equal(minutes_of(fx), LIMIT - 22);
    fixture_sql(fx, "UPDATE call_record SET account_id = 'another'");
    assert_int_equal(minutes_of(fx), LIMIT);
}

static void test_the_owner_is_told_once_a_day_that_no_minutes_are_left(void **state)
{
    struct building_fixture *fx = limited(state);
    struct forwarding f = forwarded(fx);
    ended(&f, LIMIT);
    expect_mails(fx, "0\n");
    (void)forwarded(fx);
    (void)forwarded(fx);
    expect_mails(fx, "1\n");
    fx->now_us += DAYS;
    f = forwarded(fx);
    ended(&f, LIMIT);
    expect_mails(fx, "1\n");
    (void)forwarded(fx);
    expect_mails(fx, "2\n");
    fixture_sql(fx, "UPDATE account SET minutes_mailed_at = minutes_mailed_at + 1"); /* ahead of the clock: void */
    (void)forwarded(fx);
    expect_mails(fx, "3\n");
}

static void test_a_building_without_phones_takes_nothing_and_tells_nobody(void **state)
{
    struct building_fixture *fx = limited(state);
    struct forwarding f = forwarded(fx);
    ended(&f, LIMIT);
    fixture_sql(fx, "UPDATE account SET phone = NULL");
    f = forwarded(fx);
    assert_int_equal(f.decision.minutes, 0);
    assert_false(f.decision.spent);
    expect_mails(fx, "0\n");
}

/* ---- codes that are told in a call ---- */

static enum err code_new_run(struct tx *tx, void *arg)
{
    struct building_fixture *fx = arg;
    struct phone_code code;
    return phone_code_new(tx, &fx->account, &(struct id){.text = ""}, STR("+15551110001"), &code);
}

static void test_a_code_that_is_told_in_a_call_takes_a_minute_and_waits_for_one(void **state)
{
    struct building_fixture *fx = limited(state);
    fx->fixture->config.voice_account_minutes_per_day = 2;
    fx->fixture->config.sms_provider = "call";
    assert_int_equal(fixture_run(fx, STORE_WRITE, code_new_run, fx), ERR_NONE);
    fx->now_us += HOURS;
    assert_int_equal(fixture_run(fx, STORE_WRITE, code_new_run, fx), ERR_NONE);
    fx->now_us += HOURS;
    assert_int_equal(fixture_run(fx, STORE_WRITE, code_new_run, fx), ERR_INVALID_PHONE_NUMBER);
    assert_non_null(strstr(fx->tx.why.p, "voice.account_minutes_per_day"));
    assert_true(forwarded(fx).decision.spent);
    fx->fixture->config.sms_provider = "sandbox";
    assert_int_equal(minutes_of(fx), 2);
    assert_int_equal(fixture_run(fx, STORE_WRITE, code_new_run, fx), ERR_NONE);
}

#define TESTS(x)                                                                                                       \
    x(test_without_a_limit_nothing_is_reserved),                                                                       \
        x(test_a_call_reserves_ten_minutes_and_one_for_its_phone_or_the_rest),                                         \
        x(test_the_end_of_a_call_gives_back_minutes_that_it_did_not_take),                                             \
        x(test_minutes_come_back_a_day_after_the_start_of_their_call),                                                 \
        x(test_a_record_ahead_of_the_clock_takes_nothing), x(test_calls_at_once_reserve_no_more_than_there_is),        \
        x(test_all_buildings_of_an_account_take_of_the_same_minutes),                                                  \
        x(test_the_owner_is_told_once_a_day_that_no_minutes_are_left),                                                 \
        x(test_a_building_without_phones_takes_nothing_and_tells_nobody),                                              \
        x(test_a_code_that_is_told_in_a_call_takes_a_minute_and_waits_for_one)
FIXTURE_RUN(TESTS)
