#include "domain/access_fixture.h"
#include "domain/access_spoken.h"
#include "domain/mail.h"
#include "domain/removal.h"

#define EVENTS "SELECT type, data FROM event ORDER BY id"
#define LOG    "SELECT type, unlock_type, name, succeeded FROM activity NATURAL JOIN activity_kind ORDER BY created_at, id"

/* ---- the calls of a front end ---- */

static struct access_decision arrive(struct building_fixture *fx)
{
    return arrive_from(fx, VISITOR);
}

static struct access_decision enter(struct building_fixture *fx, const char *digits, enum access_way way)
{
    return enter_as(fx, VISITOR, digits, way);
}

struct forwarding {
    const struct id *building;
    int64_t at_us; /* of one that is recorded later */
    struct access_decision decision;
};

static enum err forwarded_run(struct tx *tx, void *arg)
{
    struct forwarding *f = arg;
    return access_forwarded(tx, f->building, &f->decision);
}

static enum err late_run(struct tx *tx, void *arg)
{
    struct forwarding *f = arg;
    return access_forwarded_late(tx, f->building, f->at_us, &f->decision);
}

static struct grant passcode(struct building_fixture *fx, const char *code)
{
    return add_grant(fx,
                     (struct grant_input){.type = text("passcode"), .access_code = text(code), .label = text("Ana")});
}

static struct grant timer(struct building_fixture *fx, const char *label, int64_t uses)
{
    return add_grant(fx, (struct grant_input){.type = text("timer"),
                                              .label = text(label),
                                              .expires_in_minutes = v_int(60),
                                              .remaining_uses = uses ? v_int(uses) : v_null()});
}

/* Fridays from 09:00 to 10:00 UTC, which contains the fixture's clock. */
static struct grant routine(struct building_fixture *fx, const char *start, const char *end)
{
    static const struct val friday = {VAL_STR, .s = {"friday", 6}};
    return add_grant(fx, (struct grant_input){.type = text("routine"),
                                              .label = text("Mail"),
                                              .days = v_list(&friday, 1),
                                              .start = text(start),
                                              .end = text(end),
                                              .timezone = text("UTC")});
}

/* ---- callers and buildings ---- */

static void test_an_unknown_number_is_rejected(void **state)
{
    struct building_fixture *fx = *state;
    struct arrival a = {STR("+15559999999"), STR(VISITOR), {.verdict = ACCESS_FORWARD}, AUDIO_TAKEN};
    assert_int_equal(fixture_run(fx, STORE_WRITE, arrive_run, &a), ERR_NONE);
    assert_int_equal(a.decision.verdict, ACCESS_REJECT);
    fixture_expect(fx, LOG, "");
    fixture_expect(fx, EVENTS, "");
}

/* CALL-12 */
static void test_a_call_from_the_owner_takes_no_use_and_leaves_no_record(void **state)
{
    struct building_fixture *fx = *state;
    const struct grant g = timer(fx, "Once", 1);
    assert_int_equal(arrive_from(fx, OWNER_PHONE).verdict, ACCESS_SELF_CALL);
    assert_int_equal(get_grant(fx, &g.id).remaining_uses, 1);
    fixture_expect(fx, LOG, "");
    fixture_expect(fx, EVENTS, "");
    fixture_expect(fx, "SELECT unlock_count, last_buzz_at FROM building", "0|\n");
}

static void test_calls_are_forwarded_without_a_tone_or_a_subscription(void **state)
{
    struct building_fixture *fx = *state;
    timer(fx, "Open", 0);
    passcode(fx, "1234");
    fixture_sql(fx, "UPDATE building SET unlock_tone = NULL");
    const struct access_decision d = arrive(fx);
    assert_int_equal(d.verdict, ACCESS_FORWARD);
    assert_true(str_eq(d.forward_to, STR(OWNER_PHONE)));
    assert_string_equal(d.tones, "");
    assert_int_equal(enter(fx, "1234", ACCESS_KEYS).verdict, ACCESS_FORWARD);
    fixture_sql(fx, "UPDATE building SET unlock_tone = '9'");
    fixture_sql(fx, "UPDATE account SET subscription_status = 'none'");
    assert_int_equal(arrive(fx).verdict, ACCESS_FORWARD);
    assert_int_equal(enter(fx, "1234", ACCESS_KEYS).verdict, ACCESS_FORWARD);
    fixture_expect(fx, LOG, "");
    fixture_sql(fx, "UPDATE account SET subscription_status = 'past_due'"); /* still opens */
    assert_int_equal(arrive(fx).verdict, ACCESS_RELEASE);
}

static void test_a_building_may_forward_to_its_own_phone_or_to_no_phone(void **state)
{
    struct building_fixture *fx = *state;
    fixture_sql(fx, "UPDATE building SET forward_phone = '+15553334444'");
    assert_true(str_eq(arrive(fx).forward_to, STR("+15553334444")));
    assert_int_equal(arrive_from(fx, "+15553334444").verdict, ACCESS_SELF_CALL);
    fixture_sql(fx, "UPDATE building SET forward_phone = NULL");
    fixture_sql(fx, "UPDATE account SET phone = NULL");
    const struct access_decision d = arrive_from(fx, "");
    assert_int_equal(d.verdict, ACCESS_FORWARD);
    assert_null(d.forward_to.p);
}

static void test_a_decision_carries_the_buildings_tones_and_greetings(void **state)
{
    struct building_fixture *fx = *state;
    fixture_sql(fx, "UPDATE building SET unlock_tone = '#9*', greeting_welcome = 'Hello'");
    const struct access_decision d = arrive(fx);
    assert_string_equal(d.tones, "#9*");
    assert_true(str_eq(d.greeting_welcome, STR("Hello")));
    assert_true(str_eq(d.greeting_granted, STR("")));      /* set to an empty text */
    assert_true(str_eq(d.greeting_denied, STR("Wrong."))); /* the default */
    assert_string_equal(d.building_id.text, fx->building.text);
    assert_string_equal(d.account_id.text, fx->account.text);
}

/* ---- timers and routines ---- */

static void test_a_release_takes_a_use_and_records_log_event_and_last_buzz(void **state)
{
    struct building_fixture *fx = *state;
    const struct grant g = timer(fx, "Cleaner", 3);
    const struct access_decision d = arrive(fx);
    assert_int_equal(d.verdict, ACCESS_RELEASE);
    assert_string_equal(d.grant_id.text, g.id.text);
    assert_string_equal(d.tones, "9");
    const struct grant now = get_grant(fx, &g.id);
    assert_int_equal(now.remaining_uses, 2);
    assert_int_equal(now.version, 0); /* a release is not an update */
    assert_int_equal(now.updated_us, 0);
    fixture_expect(fx, LOG, "unlock|timer|Cleaner|1\n");
    fixture_expect(fx, "SELECT unlock_id, name_folded FROM activity NATURAL JOIN activity_kind",
                   arena_printf(&fx->arena, "%s|cleaner\n", g.id.text).p);
    fixture_expect(fx, "SELECT unlock_count, last_buzz_at FROM building",
                   arena_printf(&fx->arena, "1|%lld\n", (long long)fx->now_us).p);
    fixture_expect(
        fx, EVENTS,
        arena_printf(&fx->arena,
                     "access.granted|{\"building_id\":\"%s\",\"building_label\":\"Home\",\"unlock_id\":\"%s\","
                     "\"unlock_type\":\"timer\",\"label\":\"Cleaner\",\"remaining_uses\":2,"
                     "\"occurred_at\":\"2026-11-20T09:30:00.000Z\"}\n",
                     fx->building.text, g.id.text)
            .p);
    fixture_expect(fx, "SELECT account_id, building_id, length(id), substr(id, 1, 4) FROM event",
                   arena_printf(&fx->arena, "%s|%s|28|evt_\n", fx->account.text, fx->building.text).p);
}

static void test_the_event_of_the_last_use_follows_the_event_of_the_release(void **state)
{
    struct building_fixture *fx = *state;
    const struct grant g = timer(fx, "Once", 1);
    assert_int_equal(arrive(fx).verdict, ACCESS_RELEASE);
    fixture_expect(
        fx, EVENTS,
        arena_printf(&fx->arena,
                     "access.granted|{\"building_id\":\"%s\",\"building_label\":\"Home\",\"unlock_id\":\"%s\","
                     "\"unlock_type\":\"timer\",\"label\":\"Once\",\"remaining_uses\":0,"
                     "\"occurred_at\":\"2026-11-20T09:30:00.000Z\"}\n"
                     "unlock.no_uses_remaining|{\"building_id\":\"%s\",\"building_label\":\"Home\","
                     "\"unlock_id\":\"%s\",\"unlock_type\":\"timer\",\"label\":\"Once\","
                     "\"occurred_at\":\"2026-11-20T09:30:00.001Z\"}\n",
                     fx->building.text, g.id.text, fx->building.text, g.id.text)
            .p);
    const struct grant now = get_grant(fx, &g.id);
    assert_int_equal(grant_status(&now, fx->now_us), GRANT_EXHAUSTED);
    assert_int_equal(arrive(fx).verdict, ACCESS_FORWARD);
}

static void test_an_unlimited_grant_stays_unlimited(void **state)
{
    struct building_fixture *fx = *state;
    const struct grant g = timer(fx, "Party", 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(arrive(fx).verdict, ACCESS_RELEASE);
    assert_int_equal(get_grant(fx, &g.id).remaining_uses, GRANT_UNLIMITED);
    fixture_expect(fx, "SELECT count(*) FROM event WHERE data LIKE '%\"remaining_uses\":null%'", "3\n");
    fixture_expect(fx, "SELECT count(*) FROM event", "3\n"); /* without unlock.no_uses_remaining */
    fixture_expect(fx, "SELECT unlock_count FROM building", "3\n");
}

static void test_timers_come_before_routines_and_the_oldest_first(void **state)
{
    struct building_fixture *fx = *state;
    const struct grant mail = routine(fx, "09:00", "10:00"), mail2 = routine(fx, "09:00", "10:00");
    const struct grant first = timer(fx, "First", 1), second = timer(fx, "Second", 1);
    assert_string_equal(arrive(fx).grant_id.text, first.id.text);
    assert_string_equal(arrive(fx).grant_id.text, second.id.text);
    assert_string_equal(arrive(fx).grant_id.text, mail.id.text);
    assert_int_equal(revoke_grant(fx, &mail.id), ERR_NONE);
    assert_string_equal(arrive(fx).grant_id.text, mail2.id.text);
}

static void test_a_timer_opens_within_its_window_only(void **state)
{
    struct building_fixture *fx = *state;
    add_grant(fx, (struct grant_input){.type = text("timer"),
                                       .starts_at = v_time(fx->now_us + HOURS),
                                       .ends_at = v_time(fx->now_us + 2 * HOURS)});
    assert_int_equal(arrive(fx).verdict, ACCESS_FORWARD);
    fx->now_us += HOURS - 1;
    assert_int_equal(arrive(fx).verdict, ACCESS_FORWARD);
    fx->now_us += 1;
    assert_int_equal(arrive(fx).verdict, ACCESS_RELEASE);
    fx->now_us += HOURS - 1;
    assert_int_equal(arrive(fx).verdict, ACCESS_RELEASE);
    fx->now_us += 1;
    assert_int_equal(arrive(fx).verdict, ACCESS_FORWARD);
}

static void test_a_routine_opens_inside_its_window_only(void **state)
{
    struct building_fixture *fx = *state;
    routine(fx, "10:00", "11:00");
    assert_int_equal(arrive(fx).verdict, ACCESS_FORWARD);
    fx->now_us += 30 * MINUTES;
    assert_int_equal(arrive(fx).verdict, ACCESS_RELEASE);
    fixture_expect(fx, LOG, "unlock|routine|Mail|1\n");
    fx->now_us += HOURS;
    assert_int_equal(arrive(fx).verdict, ACCESS_FORWARD);
}

static void test_a_disabled_or_revoked_grant_opens_nothing(void **state)
{
    struct building_fixture *fx = *state;
    struct grant g = timer(fx, "Off", 0);
    const struct grant gone = timer(fx, "Gone", 0);
    assert_int_equal(update_grant(fx, &g, (struct grant_input){.enabled = v_bool(false)}), ERR_NONE);
    assert_int_equal(revoke_grant(fx, &gone.id), ERR_NONE);
    assert_int_equal(arrive(fx).verdict, ACCESS_FORWARD);
    struct grant code = passcode(fx, "1234");
    passcode(fx, "9999");
    assert_int_equal(update_grant(fx, &code, (struct grant_input){.enabled = v_bool(false)}), ERR_NONE);
    assert_int_equal(enter(fx, "1234", ACCESS_KEYS).verdict, ACCESS_WRONG);
}

struct visitor {
    struct building_fixture fx;
    pthread_t thread;
    enum access_verdict verdict;
};

static void *buzz(void *arg)
{
    struct visitor *v = arg;
    v->verdict = arrive(&v->fx).verdict;
    return NULL;
}

static void test_concurrent_calls_never_take_the_last_use_twice(void **state)
{
    struct building_fixture *fx = *state;
    for (int round = 0; round < 10; round++) {
        const struct grant g = timer(fx, "Twice", 2);
        struct visitor visitors[6];
        int released = 0;
        for (int i = 0; i < 6; i++) {
            visitors[i] = (struct visitor){.fx = *fx};
            arena_init(&visitors[i].fx.arena, NULL, 0);
            assert_int_equal(pthread_create(&visitors[i].thread, NULL, buzz, &visitors[i]), 0);
        }
        for (int i = 0; i < 6; i++) {
            pthread_join(visitors[i].thread, NULL);
            released += visitors[i].verdict == ACCESS_RELEASE;
            arena_done(&visitors[i].fx.arena);
        }
        assert_int_equal(released, 2);
        assert_int_equal(get_grant(fx, &g.id).remaining_uses, 0);
    }
    fixture_expect(fx, "SELECT count(*) FROM activity", "20\n");
    fixture_expect(fx, "SELECT type, count(*) FROM event GROUP BY type ORDER BY type",
                   "access.granted|20\nunlock.no_uses_remaining|10\n");
}

/* ---- codes ---- */

static void test_a_code_is_collected_only_if_a_passcode_is_usable(void **state)
{
    struct building_fixture *fx = *state;
    assert_int_equal(arrive(fx).verdict, ACCESS_FORWARD);
    struct grant g = passcode(fx, "1234");
    struct access_decision d = arrive(fx);
    assert_int_equal(d.verdict, ACCESS_COLLECT);
    assert_false(d.voice);
    assert_int_equal(update_grant(fx, &g, (struct grant_input){.enter_code_with_voice = v_bool(true)}), ERR_NONE);
    d = arrive(fx);
    assert_int_equal(d.verdict, ACCESS_COLLECT);
    assert_true(d.voice);
    assert_int_equal(update_grant(fx, &g, (struct grant_input){.expires_in_minutes = v_int(5)}), ERR_NONE);
    fx->now_us += 5 * MINUTES;
    assert_int_equal(arrive(fx).verdict, ACCESS_FORWARD);
    fixture_expect(fx, LOG, ""); /* collecting writes no entry */
}

static void test_a_correct_code_releases_and_takes_a_use(void **state)
{
    struct building_fixture *fx = *state;
    passcode(fx, "12");
    const struct grant g = add_grant(fx, (struct grant_input){.type = text("passcode"),
                                                              .access_code = text("0012"),
                                                              .label = text("Ben"),
                                                              .remaining_uses = v_int(1)});
    const struct access_decision d = enter(fx, "0012", ACCESS_KEYS);
    assert_int_equal(d.verdict, ACCESS_RELEASE);
    assert_string_equal(d.grant_id.text, g.id.text);
    assert_string_equal(d.tones, "9");
    assert_int_equal(get_grant(fx, &g.id).remaining_uses, 0);
    fixture_expect(fx, LOG, "unlock|passcode|Ben|1\n");
    fixture_expect(fx, "SELECT type FROM event ORDER BY id", "access.granted\nunlock.no_uses_remaining\n");
    assert_int_equal(enter(fx, "0012", ACCESS_KEYS).verdict, ACCESS_WRONG); /* used up */
}

/* LOG-6 */
static void test_a_wrong_code_is_recorded_without_the_code(void **state)
{
    struct building_fixture *fx = *state;
    passcode(fx, "1234");
    const struct access_decision d = enter(fx, "5678", ACCESS_KEYS);
    assert_int_equal(d.verdict, ACCESS_WRONG);
    assert_int_equal(d.closing.minutes, 0);
    assert_false(id_given(&d.grant_id));
    fixture_expect(fx, LOG, "unlock|passcode|Wrong passcode|0\n");
    fixture_expect(fx, "SELECT unlock_id FROM activity", "\n");
    fixture_expect(fx, EVENTS,
                   arena_printf(&fx->arena,
                                "access.denied|{\"building_id\":\"%s\",\"building_label\":\"Home\","
                                "\"occurred_at\":\"2026-11-20T09:30:00.000Z\"}\n",
                                fx->building.text)
                       .p);
    fixture_expect(fx, "SELECT unlock_count, last_buzz_at FROM building", "1|\n");
}

static void test_only_the_exact_code_matches(void **state)
{
    struct building_fixture *fx = *state;
    passcode(fx, "123");
    static const char *const wrong[] = {"124", "1234", "0123", "1230", "12345678", "321"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(enter(fx, wrong[i], ACCESS_KEYS).verdict, ACCESS_WRONG);
        fx->now_us += HOURS; /* the guard's window is over */
    }
    assert_int_equal(enter(fx, "123", ACCESS_KEYS).verdict, ACCESS_RELEASE);
}

struct spoken_reading {
    const struct id *building;
    char codes[2][GRANT_CODE_DIGITS + 1];
    size_t count;
};

static enum err spoken_run(struct tx *tx, void *arg)
{
    struct spoken_reading *r = arg;
    return access_spoken_codes(tx, r->building, r->codes, 2, &r->count);
}

static size_t spoken_codes(struct building_fixture *fx, struct spoken_reading *ret)
{
    *ret = (struct spoken_reading){.building = &fx->building};
    assert_int_equal(fixture_run(fx, STORE_READ, spoken_run, ret), ERR_NONE);
    return ret->count;
}

static struct grant voice_passcode(struct building_fixture *fx, const char *code)
{
    struct grant g = passcode(fx, code);
    assert_int_equal(update_grant(fx, &g, (struct grant_input){.enter_code_with_voice = v_bool(true)}), ERR_NONE);
    return g;
}

/* CALL-44 */
static void test_the_recogniser_gets_codes_with_voice_up_to_a_number(void **state)
{
    struct building_fixture *fx = *state;
    struct spoken_reading r;
    assert_int_equal(spoken_codes(fx, &r), 0);
    passcode(fx, "1111");
    assert_int_equal(spoken_codes(fx, &r), 0);
    voice_passcode(fx, "0042");
    assert_int_equal(spoken_codes(fx, &r), 1);
    assert_string_equal(r.codes[0], "0042");
    voice_passcode(fx, "77");
    assert_int_equal(spoken_codes(fx, &r), 2);
    assert_string_equal(r.codes[1], "77");
    voice_passcode(fx, "2222");
    assert_int_equal(spoken_codes(fx, &r), 0);
}

static void test_spoken_digits_match_only_passcodes_with_voice(void **state)
{
    struct building_fixture *fx = *state;
    passcode(fx, "1234");
    const struct grant g = add_grant(fx, (struct grant_input){.type = text("passcode"),
                                                              .access_code = text("5678"),
                                                              .enter_code_with_voice = v_bool(true)});
    assert_int_equal(enter(fx, "1234", ACCESS_SPOKEN).verdict, ACCESS_WRONG);
    assert_string_equal(enter(fx, "5678", ACCESS_SPOKEN).grant_id.text, g.id.text);
    assert_string_equal(enter(fx, "5678", ACCESS_KEYS).grant_id.text, g.id.text);
}

static void test_a_call_is_forwarded_if_the_last_passcode_is_removed_during_it(void **state)
{
    struct building_fixture *fx = *state;
    const struct grant g = passcode(fx, "1234");
    assert_int_equal(arrive(fx).verdict, ACCESS_COLLECT);
    assert_int_equal(revoke_grant(fx, &g.id), ERR_NONE);
    assert_int_equal(enter(fx, "1234", ACCESS_KEYS).verdict, ACCESS_FORWARD);
    fixture_expect(fx, LOG, "");
    fixture_sql(fx, "DELETE FROM building");
    assert_int_equal(enter(fx, "1234", ACCESS_KEYS).verdict, ACCESS_REJECT);
}

/* ---- the guard against guessing ---- */

#define BOX      "+15553330000" /* a call box, which becomes a known caller */
#define WITHHELD ""

/* Enters a wrong code. Returns for how many minutes it closed the keypad. */
static int64_t guess(struct building_fixture *fx, const char *from)
{
    const struct access_decision d = enter_as(fx, from, "0000", ACCESS_KEYS);
    assert_int_equal(d.verdict, ACCESS_WRONG);
    return d.closing.minutes;
}

/* Enters wrong codes until they close the keypad. Returns for how many minutes. */
static int64_t guess_until_closed(struct building_fixture *fx, const char *from)
{
    int64_t minutes = 0;
    for (int i = 0; i < 5 && !minutes; i++)
        minutes = guess(fx, from);
    return minutes;
}

static void make_known(struct building_fixture *fx, const char *from)
{
    assert_int_equal(enter_as(fx, from, "1234", ACCESS_KEYS).verdict, ACCESS_RELEASE);
}

/* CALL-2 */
static void test_five_wrong_codes_close_the_keypad_for_ten_minutes(void **state)
{
    struct building_fixture *fx = *state;
    passcode(fx, "1234");
    for (int i = 0; i < 5; i++) {
        assert_int_equal(guess(fx, VISITOR), i == 4 ? 10 : 0);
        fx->now_us += 2 * MINUTES;
    }
    fx->now_us -= 2 * MINUTES;
    assert_int_equal(arrive(fx).verdict, ACCESS_FORWARD);
    assert_int_equal(enter(fx, "1234", ACCESS_KEYS).verdict, ACCESS_FORWARD); /* also the correct one */
    fixture_expect(fx, "SELECT count(*) FROM activity", "5\n");
    fx->now_us += 10 * MINUTES - 1;
    assert_int_equal(arrive(fx).verdict, ACCESS_FORWARD);
    fx->now_us += 1;
    assert_int_equal(arrive(fx).verdict, ACCESS_COLLECT);
    assert_int_equal(enter(fx, "1234", ACCESS_KEYS).verdict, ACCESS_RELEASE);
}

static void test_wrong_codes_far_apart_do_not_close_the_keypad(void **state)
{
    struct building_fixture *fx = *state;
    passcode(fx, "1234");
    for (int i = 0; i < 11; i++) { /* four within any ten minutes */
        assert_int_equal(guess(fx, VISITOR), 0);
        fx->now_us += 150 * US_PER_S;
    }
    assert_int_equal(arrive(fx).verdict, ACCESS_COLLECT);
}

static void test_the_guard_counts_in_a_sliding_window_of_ten_minutes(void **state)
{
    struct building_fixture *fx = *state;
    passcode(fx, "1234");
    guess(fx, VISITOR);
    fx->now_us += 9 * MINUTES;
    for (int i = 0; i < 3; i++)
        assert_int_equal(guess(fx, VISITOR), 0);
    fx->now_us += 2 * MINUTES; /* the first is out of the window */
    assert_int_equal(guess(fx, VISITOR), 0);
    assert_int_equal(guess(fx, VISITOR), 10);
}

/* CALL-2 */
static void test_each_closing_doubles_up_to_320_minutes_until_a_day_without_a_wrong_code(void **state)
{
    struct building_fixture *fx = *state;
    passcode(fx, "1234");
    static const int64_t minutes[] = {10, 20, 80, 160, 320, 320, 320}; /* the third by the count of a day */
    for (size_t i = 0; i < sizeof minutes / sizeof *minutes; i++) {
        assert_int_equal(guess_until_closed(fx, VISITOR), minutes[i]);
        fx->now_us += minutes[i] * MINUTES - 1;
        assert_int_equal(arrive(fx).verdict, ACCESS_FORWARD);
        fx->now_us += 1;
        assert_int_equal(arrive(fx).verdict, ACCESS_COLLECT);
    }
    fx->now_us += DAYS - 320 * MINUTES - 1; /* since the last wrong code */
    assert_int_equal(guess_until_closed(fx, VISITOR), 320);
    fx->now_us += DAYS;
    assert_int_equal(guess_until_closed(fx, VISITOR), 10);
}

/* CALL-1 */
static void test_strangers_close_the_keypad_only_to_strangers(void **state)
{
    struct building_fixture *fx = *state;
    passcode(fx, "1234");
    make_known(fx, BOX);
    assert_int_equal(guess(fx, VISITOR), 0);
    assert_int_equal(guess(fx, WITHHELD), 0); /* a caller without a number is a stranger */
    assert_int_equal(guess(fx, "anonymous"), 0);
    assert_int_equal(guess(fx, "+266696687"), 0); /* a carrier's form of a withheld number */
    assert_int_equal(guess(fx, "+15559990001"), 10);
    assert_int_equal(arrive(fx).verdict, ACCESS_FORWARD);
    assert_int_equal(arrive_from(fx, WITHHELD).verdict, ACCESS_FORWARD);
    assert_int_equal(arrive_from(fx, BOX).verdict, ACCESS_COLLECT);
    make_known(fx, BOX);
}

/* CALL-1 */
static void test_known_callers_share_five_tries(void **state)
{
    struct building_fixture *fx = *state;
    passcode(fx, "1234");
    make_known(fx, BOX);
    make_known(fx, "+15553330001");
    assert_int_equal(guess(fx, "+15553330001"), 0); /* a forged number of a known caller */
    assert_int_equal(guess_until_closed(fx, VISITOR), 10);
    for (int i = 0; i < 3; i++)
        assert_int_equal(guess(fx, BOX), 0);
    assert_int_equal(guess(fx, BOX), 10);
    assert_int_equal(arrive_from(fx, "+15553330001").verdict, ACCESS_FORWARD);
    assert_int_equal(enter_as(fx, BOX, "1234", ACCESS_KEYS).verdict, ACCESS_FORWARD);
}

static void test_a_release_makes_a_caller_known_unless_the_number_is_withheld(void **state)
{
    struct building_fixture *fx = *state;
    const struct grant g = timer(fx, "Open", 0);
    assert_int_equal(arrive_from(fx, BOX).verdict, ACCESS_RELEASE);
    assert_int_equal(arrive_from(fx, WITHHELD).verdict, ACCESS_RELEASE);
    assert_int_equal(arrive_from(fx, "anonymous").verdict, ACCESS_RELEASE);
    assert_int_equal(arrive_from(fx, "+7378742833").verdict, ACCESS_RELEASE);
    fixture_expect(fx, "SELECT number FROM door_caller", BOX "\n");
    assert_int_equal(revoke_grant(fx, &g.id), ERR_NONE);
    passcode(fx, "1234");
    guess_until_closed(fx, WITHHELD);
    assert_int_equal(arrive_from(fx, BOX).verdict, ACCESS_COLLECT);
}

static void test_a_caller_known_at_one_building_is_a_stranger_at_another(void **state)
{
    struct building_fixture *fx = *state;
    passcode(fx, "1234");
    make_known(fx, BOX);
    fx->building = fixture_add_building(fx, "Annex", "+15550100002");
    passcode(fx, "1234");
    guess_until_closed(fx, VISITOR);
    assert_int_equal(enter_as(fx, BOX, "1234", ACCESS_KEYS).verdict, ACCESS_FORWARD);
}

/* CALL-5 */
static void test_a_closed_keypad_affects_no_timer_and_no_other_building(void **state)
{
    struct building_fixture *fx = *state;
    passcode(fx, "1234");
    guess_until_closed(fx, VISITOR);
    const struct grant g = timer(fx, "Open", 0);
    assert_string_equal(arrive(fx).grant_id.text, g.id.text);
    fx->building = fixture_add_building(fx, "Annex", "+15550100002");
    passcode(fx, "1234");
    assert_int_equal(enter(fx, "1234", ACCESS_KEYS).verdict, ACCESS_RELEASE);
}

static void test_correct_codes_are_not_counted_by_the_guard(void **state)
{
    struct building_fixture *fx = *state;
    passcode(fx, "1234");
    for (int i = 0; i < 5; i++)
        assert_int_equal(enter(fx, "1234", ACCESS_KEYS).verdict, ACCESS_RELEASE);
    for (int i = 0; i < 4; i++)
        assert_int_equal(guess(fx, VISITOR), 0);
    assert_int_equal(arrive(fx).verdict, ACCESS_COLLECT);
    fixture_expect(fx, "SELECT unlock_count FROM building", "9\n");
}

struct guesser {
    struct building_fixture fx;
    pthread_t thread;
    const char *from;
    enum access_verdict verdict;
};

static void *guess_once(void *arg)
{
    struct guesser *g = arg;
    g->verdict = enter_as(&g->fx, g->from, "0000", ACCESS_KEYS).verdict;
    return NULL;
}

static void test_concurrent_guesses_share_five_tries(void **state)
{
    struct building_fixture *fx = *state;
    static const char *const from[] = {BOX, VISITOR, WITHHELD};
    struct guesser g[24];
    int wrong = 0;
    passcode(fx, "1234");
    make_known(fx, BOX);
    for (size_t i = 0; i < 24; i++) {
        g[i] = (struct guesser){.fx = *fx, .from = from[i % 3]};
        arena_init(&g[i].fx.arena, NULL, 0);
        assert_int_equal(pthread_create(&g[i].thread, NULL, guess_once, &g[i]), 0);
    }
    for (size_t i = 0; i < 24; i++) {
        pthread_join(g[i].thread, NULL);
        wrong += g[i].verdict == ACCESS_WRONG;
        arena_done(&g[i].fx.arena);
    }
    assert_int_equal(wrong, 10); /* five of each group */
    fixture_expect(fx, "SELECT count(*) FROM activity NATURAL JOIN activity_kind WHERE succeeded = 0", "10\n");
    fixture_expect(fx, "SELECT known, closings FROM door_guard ORDER BY known", "0|1\n1|1\n");
    fixture_expect(fx, "SELECT count(*) FROM job WHERE kind = 'mail'", "2\n");
}

/* ---- the mail and the records of the guard ---- */

static enum err read_mail(struct tx *tx, void *arg)
{
    CURSOR c;
    enum err e = db_query(tx->db, SQL(job_take, .now = INT64_MAX, .lasts = 0, .leased_by = NULL), &c);
    bool more;
    if (e || (e = db_next(&c, &more)))
        return e;
    assert_true(more);
    return mail_read(row_job_take(&c, NULL).payload, tx->arena, arg);
}

static void test_the_owner_is_mailed_once_a_day_with_the_callers_number(void **state)
{
    struct building_fixture *fx = *state;
    struct mail_intent mail;
    passcode(fx, "1234");
    for (int i = 0; i < 4; i++)
        guess(fx, WITHHELD);
    fixture_expect(fx, "SELECT count(*) FROM job", "0\n");
    guess(fx, "+15559990001");
    fixture_expect(fx, "SELECT kind FROM job", JOB_MAIL "\n");
    assert_int_equal(fixture_run(fx, STORE_WRITE, read_mail, &mail), ERR_NONE);
    assert_true(str_eq(mail.to, STR("owner@example.com")));
    assert_true(str_eq(mail.subject, STR("Someone is guessing door codes")));
    assert_non_null(strstr(mail.text.p, "+15559990001"));
    assert_non_null(strstr(mail.text.p, "at Home"));
    assert_null(strstr(mail.text.p, "0000"));
    fx->now_us += 10 * MINUTES;
    assert_int_equal(guess_until_closed(fx, WITHHELD), 20);
    fixture_expect(fx, "SELECT count(*) FROM job", "1\n");
    fx->now_us += DAYS - 10 * MINUTES + US_PER_S;
    assert_int_equal(guess_until_closed(fx, WITHHELD), 40); /* the last closing was less than a day ago */
    fixture_expect(fx, "SELECT count(*) FROM job", "2\n");
}

/* CALL-1 */
static void test_known_callers_are_bounded_and_the_least_recent_is_evicted(void **state)
{
    struct building_fixture *fx = *state;
    char number[20];
    timer(fx, "Open", 0);
    for (int i = 0; i < GUARD_CALLERS_MAX + 20; i++) {
        snprintf(number, sizeof number, "+1555400%04d", i);
        fx->now_us += US_PER_S;
        assert_int_equal(arrive_from(fx, number).verdict, ACCESS_RELEASE);
    }
    fixture_expect(fx, "SELECT count(*), min(number) FROM door_caller", "200|+15554000020\n");
}

static enum err purge_run(struct tx *tx, void *arg)
{
    (void)arg;
    int64_t count;
    enum err e = guard_purge(tx, tx->now_us - GUARD_KEPT_S * US_PER_S, 100, &count);
    return e ? e : guard_purge_callers(tx, tx->now_us - INT64_C(365) * 86400 * US_PER_S, 100, &count);
}

/* CALL-1 */
static void test_old_callers_and_guards_are_purged(void **state)
{
    struct building_fixture *fx = *state;
    passcode(fx, "1234");
    make_known(fx, BOX);
    guess(fx, VISITOR);
    fx->now_us += 2 * DAYS;
    assert_int_equal(fixture_run(fx, STORE_WRITE, purge_run, NULL), ERR_NONE);
    fixture_expect(fx, "SELECT count(*) FROM door_guard", "1\n");
    fx->now_us += 1;
    assert_int_equal(fixture_run(fx, STORE_WRITE, purge_run, NULL), ERR_NONE);
    fixture_expect(fx, "SELECT count(*) FROM door_guard", "0\n");
    fixture_expect(fx, "SELECT number FROM door_caller", BOX "\n");
    fx->now_us += 363 * DAYS;
    assert_int_equal(fixture_run(fx, STORE_WRITE, purge_run, NULL), ERR_NONE);
    fixture_expect(fx, "SELECT count(*) FROM door_caller", "0\n");
}

static enum err remove_run(struct tx *tx, void *arg)
{
    struct building_fixture *fx = arg;
    return removal_finish(tx, &fx->account, &fx->building);
}

static void test_a_removed_building_leaves_no_callers_and_no_guard(void **state)
{
    struct building_fixture *fx = *state;
    passcode(fx, "1234");
    make_known(fx, BOX);
    guess(fx, VISITOR);
    assert_int_equal(fixture_run(fx, STORE_WRITE, remove_run, fx), ERR_NONE);
    fixture_expect(fx, "SELECT number FROM door_caller", "");
    fixture_expect(fx, "SELECT known FROM door_guard", "");
}

/* ---- forwarding ---- */

static void test_a_forwarded_call_is_logged_and_has_an_event(void **state)
{
    struct building_fixture *fx = *state;
    struct forwarding f = {.building = &fx->building};
    assert_int_equal(fixture_run(fx, STORE_WRITE, forwarded_run, &f), ERR_NONE);
    fixture_expect(fx, LOG, "call||Forwarded call|1\n");
    fixture_expect(fx, EVENTS,
                   arena_printf(&fx->arena,
                                "access.call_forwarded|{\"building_id\":\"%s\",\"building_label\":\"Home\","
                                "\"occurred_at\":\"2026-11-20T09:30:00.000Z\"}\n",
                                fx->building.text)
                       .p);
    fixture_expect(fx, "SELECT unlock_count, last_buzz_at FROM building", "0|\n");
    struct id gone = id_new(fx->now_us);
    f.building = &gone;
    assert_int_equal(fixture_run(fx, STORE_WRITE, forwarded_run, &f), ERR_BUILDING_NOT_FOUND);
}

/* ---- reasons ---- */

static void expect_reason(struct access_decision d, const char *reason)
{
    assert_string_equal(access_reason_names[d.reason], reason);
}

/* The tone would be audio, or a SIP INFO. */
/* CALL-14 */
static void test_a_call_that_takes_no_audio_uses_no_grant(void **state)
{
    struct building_fixture *fx = *state;
    passcode(fx, "1234");
    struct entry code = {&fx->building, STR(VISITOR), STR("1234"), ACCESS_KEYS, {.verdict = ACCESS_REJECT},
                         AUDIO_REFUSED};
    struct arrival a = {STR(FIXTURE_NUMBER), STR(VISITOR), {.verdict = ACCESS_REJECT}, AUDIO_REFUSED};
    for (int info = 0; info < 2; info++) {
        const struct grant g = timer(fx, "Courier", 1);
        if (info)
            fixture_sql(fx, arena_printf(&fx->arena, "UPDATE building SET release_mode = %d", RELEASE_INFO).p);
        assert_int_equal(fixture_run(fx, STORE_WRITE, arrive_run, &a), ERR_NONE);
        assert_int_equal(a.decision.verdict, info ? ACCESS_RELEASE : ACCESS_FORWARD);
        expect_reason(a.decision, info ? "timer" : "one_way");
        assert_int_equal(get_grant(fx, &g.id).remaining_uses, info ? 0 : 1);
        assert_int_equal(fixture_run(fx, STORE_WRITE, code_run, &code), ERR_NONE);
        expect_reason(code.decision, info ? "passcode" : "one_way");
        if (!info)
            assert_int_equal(revoke_grant(fx, &g.id), ERR_NONE);
    }
}

/* The SDP of the box comes only when the call is answered. */
static void test_a_call_whose_audio_is_unknown_uses_no_grant_before_it_is_answered(void **state)
{
    struct building_fixture *fx = *state;
    struct arrival a = {STR(FIXTURE_NUMBER), STR(VISITOR), {.verdict = ACCESS_REJECT}, AUDIO_UNKNOWN};
    passcode(fx, "1234");
    assert_int_equal(fixture_run(fx, STORE_WRITE, arrive_run, &a), ERR_NONE);
    assert_int_equal(a.decision.verdict, ACCESS_COLLECT);
    const struct grant g = timer(fx, "Courier", 2);
    assert_int_equal(fixture_run(fx, STORE_WRITE, arrive_run, &a), ERR_NONE);
    assert_int_equal(a.decision.verdict, ACCESS_ANSWER);
    assert_int_equal(get_grant(fx, &g.id).remaining_uses, 2);
    fixture_sql(fx, arena_printf(&fx->arena, "UPDATE building SET release_mode = %d", RELEASE_INFO).p);
    assert_int_equal(fixture_run(fx, STORE_WRITE, arrive_run, &a), ERR_NONE);
    assert_int_equal(a.decision.verdict, ACCESS_RELEASE);
    assert_int_equal(get_grant(fx, &g.id).remaining_uses, 1);
}

/* CALL-8 */
static void test_each_decision_has_its_reason(void **state)
{
    struct building_fixture *fx = *state;
    struct arrival nowhere = {STR("+15559999999"), STR(VISITOR), {.verdict = ACCESS_FORWARD}, AUDIO_TAKEN};
    assert_int_equal(fixture_run(fx, STORE_WRITE, arrive_run, &nowhere), ERR_NONE);
    expect_reason(nowhere.decision, "unknown_number");
    expect_reason(arrive_from(fx, OWNER_PHONE), "owner");
    expect_reason(arrive(fx), "no_grant");
    expect_reason(enter(fx, "1234", ACCESS_KEYS), "no_grant");
    passcode(fx, "1234");
    expect_reason(arrive(fx), "no_code");
    expect_reason(enter(fx, "1234", ACCESS_KEYS), "passcode");
    routine(fx, "09:00", "10:00");
    expect_reason(arrive(fx), "routine");
    timer(fx, "Open", 1);
    struct access_decision d = arrive(fx);
    expect_reason(d, "timer");
    assert_true(str_eq(d.grant_label, STR("Open")));
    for (int i = 0; i < 4; i++)
        expect_reason(enter_as(fx, WITHHELD, "0000", ACCESS_KEYS), "wrong_code");
    expect_reason(enter_as(fx, WITHHELD, "0000", ACCESS_KEYS), "keypad_closed");
    expect_reason(enter_as(fx, WITHHELD, "1234", ACCESS_KEYS), "keypad_closed");
    fx->now_us += HOURS; /* after the routine */
    assert_int_equal(guess_until_closed(fx, WITHHELD), 20);
    expect_reason(arrive_from(fx, WITHHELD), "keypad_closed");
    fixture_sql(fx, "UPDATE account SET subscription_status = 'none'");
    expect_reason(arrive(fx), "no_subscription");
    expect_reason(enter(fx, "1234", ACCESS_KEYS), "no_subscription");
    fixture_sql(fx, "UPDATE building SET unlock_tone = NULL");
    expect_reason(arrive(fx), "no_tone");
}

static void test_a_forwarding_that_is_recorded_later_has_its_own_time(void **state)
{
    struct building_fixture *fx = *state;
    struct forwarding f = {.building = &fx->building, .at_us = fx->now_us - 1800 * US_PER_S};
    assert_int_equal(fixture_run(fx, STORE_WRITE, late_run, &f), ERR_NONE);
    fixture_expect(fx, "SELECT name, created_at FROM activity NATURAL JOIN activity_kind",
                   arena_printf(&fx->arena, "Forwarded call|%lld\n", (long long)f.at_us).p);
    fixture_expect(fx, EVENTS,
                   arena_printf(&fx->arena,
                                "access.call_forwarded|{\"building_id\":\"%s\",\"building_label\":\"Home\","
                                "\"occurred_at\":\"2026-11-20T09:00:00.000Z\"}\n",
                                fx->building.text)
                       .p);
    fixture_expect(fx, "SELECT created_at FROM event",
                   arena_printf(&fx->arena, "%lld\n", (long long)fx->now_us).p); /* it is delivered from now on */
    assert_int_equal(f.decision.verdict, ACCESS_FORWARD);
    struct id gone = id_new(fx->now_us);
    f.building = &gone;
    assert_int_equal(fixture_run(fx, STORE_WRITE, late_run, &f), ERR_BUILDING_NOT_FOUND);
}

/* The grants that a forwarded call names: "Later:not_begun Mail:outside_window ". */
static const char *near_misses(struct building_fixture *fx)
{
    struct forwarding f = {.building = &fx->building};
    assert_int_equal(fixture_run(fx, STORE_WRITE, forwarded_run, &f), ERR_NONE);
    char *text = arena_zalloc(&fx->arena, 1000);
    for (size_t i = 0; i < f.decision.near_count; i++) {
        const struct access_near *n = &f.decision.near[i];
        assert_true(id_given(&n->grant_id));
        snprintf(text + strlen(text), 1000 - strlen(text), "%.*s:%s ", STR_ARG(n->label), access_why_names[n->why]);
    }
    return text;
}

/* CALL-9 */
static void test_a_forwarded_call_names_the_unusable_grants_with_reasons(void **state)
{
    struct building_fixture *fx = *state;
    assert_string_equal(near_misses(fx), "");
    passcode(fx, "1234"); /* usable, so not named */
    struct grant off = timer(fx, "Off", 0);
    assert_int_equal(update_grant(fx, &off, (struct grant_input){.enabled = v_bool(false)}), ERR_NONE);
    const struct grant gone = timer(fx, "Gone", 0);
    assert_int_equal(revoke_grant(fx, &gone.id), ERR_NONE);
    const struct grant once = timer(fx, "Once", 1);
    assert_string_equal(arrive(fx).grant_id.text, once.id.text);
    routine(fx, "10:00", "11:00");
    add_grant(fx, (struct grant_input){.type = text("timer"),
                                       .label = text("Later"),
                                       .starts_at = v_time(fx->now_us + HOURS),
                                       .ends_at = v_time(fx->now_us + 2 * HOURS)});
    add_grant(fx, (struct grant_input){.type = text("timer"), .label = text("Short"), .expires_in_minutes = v_int(1)});
    fx->now_us += MINUTES;
    assert_string_equal(near_misses(fx), "Short:expired Later:not_begun Mail:outside_window Once:used_up "
                                         "Off:switched_off ");
    fixture_sql(fx, "UPDATE building SET unlock_tone = NULL"); /* then grants are not the reason */
    assert_string_equal(near_misses(fx), "");
}

/* CALL-9 */
static void test_a_forwarded_call_names_the_five_newest_grants_at_most(void **state)
{
    struct building_fixture *fx = *state;
    for (int i = 0; i < 8; i++)
        add_grant(fx, (struct grant_input){.type = text("timer"),
                                           .label = text(arena_printf(&fx->arena, "T%d", i).p),
                                           .starts_at = v_time(fx->now_us + HOURS),
                                           .ends_at = v_time(fx->now_us + 2 * HOURS)});
    assert_string_equal(near_misses(fx), "T7:not_begun T6:not_begun T5:not_begun T4:not_begun T3:not_begun ");
}

#define TESTS(T)                                                                                                       \
    T(test_an_unknown_number_is_rejected), T(test_a_call_from_the_owner_takes_no_use_and_leaves_no_record),            \
        T(test_calls_are_forwarded_without_a_tone_or_a_subscription),                                                  \
        T(test_a_call_that_takes_no_audio_uses_no_grant),                                                              \
        T(test_a_call_whose_audio_is_unknown_uses_no_grant_before_it_is_answered),                                     \
        T(test_a_building_may_forward_to_its_own_phone_or_to_no_phone),                                                \
        T(test_a_decision_carries_the_buildings_tones_and_greetings),                                                  \
        T(test_a_release_takes_a_use_and_records_log_event_and_last_buzz),                                             \
        T(test_the_event_of_the_last_use_follows_the_event_of_the_release),                                            \
        T(test_an_unlimited_grant_stays_unlimited), T(test_timers_come_before_routines_and_the_oldest_first),          \
        T(test_a_timer_opens_within_its_window_only), T(test_a_routine_opens_inside_its_window_only),                  \
        T(test_a_disabled_or_revoked_grant_opens_nothing), T(test_concurrent_calls_never_take_the_last_use_twice),     \
        T(test_a_code_is_collected_only_if_a_passcode_is_usable), T(test_a_correct_code_releases_and_takes_a_use),     \
        T(test_a_wrong_code_is_recorded_without_the_code), T(test_only_the_exact_code_matches),                        \
        T(test_the_recogniser_gets_codes_with_voice_up_to_a_number),                                                   \
        T(test_spoken_digits_match_only_passcodes_with_voice),                                                         \
        T(test_a_call_is_forwarded_if_the_last_passcode_is_removed_during_it),                                         \
        T(test_five_wrong_codes_close_the_keypad_for_ten_minutes),                                                     \
        T(test_wrong_codes_far_apart_do_not_close_the_keypad),                                                         \
        T(test_the_guard_counts_in_a_sliding_window_of_ten_minutes),                                                   \
        T(test_each_closing_doubles_up_to_320_minutes_until_a_day_without_a_wrong_code),                               \
        T(test_strangers_close_the_keypad_only_to_strangers), T(test_known_callers_share_five_tries),                  \
        T(test_a_release_makes_a_caller_known_unless_the_number_is_withheld),                                          \
        T(test_a_caller_known_at_one_building_is_a_stranger_at_another),                                               \
        T(test_a_closed_keypad_affects_no_timer_and_no_other_building),                                                \
        T(test_correct_codes_are_not_counted_by_the_guard), T(test_concurrent_guesses_share_five_tries),               \
        T(test_the_owner_is_mailed_once_a_day_with_the_callers_number),                                                \
        T(test_known_callers_are_bounded_and_the_least_recent_is_evicted), T(test_old_callers_and_guards_are_purged),  \
        T(test_a_removed_building_leaves_no_callers_and_no_guard),                                                     \
        T(test_a_forwarded_call_is_logged_and_has_an_event),                                                           \
        T(test_a_forwarding_that_is_recorded_later_has_its_own_time), T(test_each_decision_has_its_reason),            \
        T(test_a_forwarded_call_names_the_unusable_grants_with_reasons),                                               \
        T(test_a_forwarded_call_names_the_five_newest_grants_at_most)

FIXTURE_RUN(TESTS)
