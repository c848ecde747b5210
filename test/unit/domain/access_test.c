#include "domain/access.h"
#include "domain/house.h"
#include "domain/mail.h"
#include "domain/removal.h"

#define EVENTS "SELECT type, data FROM event ORDER BY id"
#define LOG    "SELECT type, unlock_type, name, succeeded FROM activity NATURAL JOIN activity_kind ORDER BY created_at, id"

/* ---- the door's side of a call ---- */

struct arrival {
    struct str to, from;
    struct access_decision decision;
};

static enum err arrive_run(struct tx *tx, void *arg)
{
    struct arrival *a = arg;
    return access_arrive(tx, a->to, a->from, &a->decision);
}

static struct access_decision arrive_from(struct house *h, const char *from)
{
    struct arrival a = {STR(HOUSE_NUMBER), str_z(from), {.verdict = ACCESS_REJECT}};
    assert_int_equal(house_run(h, STORE_WRITE, arrive_run, &a), ERR_NONE);
    return a.decision;
}

static struct access_decision arrive(struct house *h)
{
    return arrive_from(h, VISITOR);
}

struct entry {
    const struct id *building;
    struct str from, digits;
    bool spoken;
    struct access_decision decision;
};

static enum err code_run(struct tx *tx, void *arg)
{
    struct entry *e = arg;
    return access_code(tx, e->building, e->from, e->digits, e->spoken, &e->decision);
}

static struct access_decision enter_as(struct house *h, const char *from, const char *digits, bool spoken)
{
    struct entry e = {&h->building, str_z(from), str_z(digits), spoken, {.verdict = ACCESS_REJECT}};
    assert_int_equal(house_run(h, STORE_WRITE, code_run, &e), ERR_NONE);
    return e.decision;
}

static struct access_decision enter(struct house *h, const char *digits, bool spoken)
{
    return enter_as(h, VISITOR, digits, spoken);
}

struct forwarding {
    const struct id *building;
    struct access_decision decision;
};

static enum err forwarded_run(struct tx *tx, void *arg)
{
    struct forwarding *f = arg;
    return access_forwarded(tx, f->building, &f->decision);
}

static struct grant passcode(struct house *h, const char *code)
{
    return house_grant(h,
                       (struct grant_input){.type = text("passcode"), .access_code = text(code), .label = text("Ana")});
}

static struct grant timer(struct house *h, const char *label, int64_t uses)
{
    return house_grant(h, (struct grant_input){.type = text("timer"),
                                               .label = text(label),
                                               .expires_in_minutes = v_int(60),
                                               .remaining_uses = uses ? v_int(uses) : v_null()});
}

/* Fridays from 09:00 to 10:00 UTC: the house's clock is inside. */
static struct grant routine(struct house *h, const char *start, const char *end)
{
    static const struct val friday = {VAL_STR, .s = {"friday", 6}};
    return house_grant(h, (struct grant_input){.type = text("routine"),
                                               .label = text("Mail"),
                                               .days = v_list(&friday, 1),
                                               .start = text(start),
                                               .end = text(end),
                                               .timezone = text("UTC")});
}

/* ---- who calls, and where ---- */

static void test_a_number_that_belongs_to_nobody_is_rejected(void **state)
{
    struct house *h = *state;
    struct arrival a = {STR("+15559999999"), STR(VISITOR), {.verdict = ACCESS_FORWARD}};
    assert_int_equal(house_run(h, STORE_WRITE, arrive_run, &a), ERR_NONE);
    assert_int_equal(a.decision.verdict, ACCESS_REJECT);
    house_expect(h, LOG, "");
    house_expect(h, EVENTS, "");
}

static void test_the_owners_own_call_uses_nothing_and_is_recorded_nowhere(void **state)
{
    struct house *h = *state;
    const struct grant g = timer(h, "Once", 1);
    assert_int_equal(arrive_from(h, OWNER_PHONE).verdict, ACCESS_SELF_CALL);
    assert_int_equal(house_get(h, &g.id).remaining_uses, 1);
    house_expect(h, LOG, "");
    house_expect(h, EVENTS, "");
    house_expect(h, "SELECT unlock_count, last_buzz_at FROM building", "0|\n");
}

static void test_without_a_tone_or_a_subscription_everything_is_forwarded(void **state)
{
    struct house *h = *state;
    timer(h, "Open", 0);
    passcode(h, "1234");
    house_sql(h, "UPDATE building SET unlock_tone = NULL");
    const struct access_decision d = arrive(h);
    assert_int_equal(d.verdict, ACCESS_FORWARD);
    assert_true(str_eq(d.forward_to, STR(OWNER_PHONE)));
    assert_string_equal(d.tones, "");
    assert_int_equal(enter(h, "1234", false).verdict, ACCESS_FORWARD);
    house_sql(h, "UPDATE building SET unlock_tone = '9'");
    house_sql(h, "UPDATE account SET subscription_status = 'none'");
    assert_int_equal(arrive(h).verdict, ACCESS_FORWARD);
    assert_int_equal(enter(h, "1234", false).verdict, ACCESS_FORWARD);
    house_expect(h, LOG, "");
    house_sql(h, "UPDATE account SET subscription_status = 'past_due'"); /* keeps opening */
    assert_int_equal(arrive(h).verdict, ACCESS_RELEASE);
}

static void test_a_building_may_forward_to_a_phone_of_its_own_or_to_none(void **state)
{
    struct house *h = *state;
    house_sql(h, "UPDATE building SET forward_phone = '+15553334444'");
    assert_true(str_eq(arrive(h).forward_to, STR("+15553334444")));
    assert_int_equal(arrive_from(h, "+15553334444").verdict, ACCESS_SELF_CALL);
    house_sql(h, "UPDATE building SET forward_phone = NULL");
    house_sql(h, "UPDATE account SET phone = NULL");
    const struct access_decision d = arrive_from(h, "");
    assert_int_equal(d.verdict, ACCESS_FORWARD);
    assert_null(d.forward_to.p);
}

static void test_a_decision_carries_the_buildings_tones_and_greetings(void **state)
{
    struct house *h = *state;
    house_sql(h, "UPDATE building SET unlock_tone = '#9*', greeting_welcome = 'Hello'");
    const struct access_decision d = arrive(h);
    assert_string_equal(d.tones, "#9*");
    assert_true(str_eq(d.greeting_welcome, STR("Hello")));
    assert_true(str_eq(d.greeting_granted, STR("")));     /* set to nothing: nothing is said */
    assert_true(str_eq(d.greeting_denied, STR("wrong"))); /* the configuration's */
    assert_string_equal(d.building_id.text, h->building.text);
    assert_string_equal(d.account_id.text, h->account.text);
}

/* ---- timers and routines ---- */

static void test_a_release_takes_a_use_and_leaves_log_event_and_last_buzz(void **state)
{
    struct house *h = *state;
    const struct grant g = timer(h, "Cleaner", 3);
    const struct access_decision d = arrive(h);
    assert_int_equal(d.verdict, ACCESS_RELEASE);
    assert_string_equal(d.grant_id.text, g.id.text);
    assert_string_equal(d.tones, "9");
    const struct grant now = house_get(h, &g.id);
    assert_int_equal(now.remaining_uses, 2);
    assert_int_equal(now.version, 0); /* a buzz is no edit */
    assert_int_equal(now.updated_us, 0);
    house_expect(h, LOG, "unlock|timer|Cleaner|1\n");
    house_expect(h, "SELECT unlock_id, name_folded FROM activity NATURAL JOIN activity_kind",
                 arena_printf(&h->arena, "%s|cleaner\n", g.id.text).p);
    house_expect(h, "SELECT unlock_count, last_buzz_at FROM building",
                 arena_printf(&h->arena, "1|%lld\n", (long long)h->now_us).p);
    house_expect(h, EVENTS,
                 arena_printf(&h->arena,
                              "access.granted|{\"building_id\":\"%s\",\"building_label\":\"Home\",\"unlock_id\":\"%s\","
                              "\"unlock_type\":\"timer\",\"label\":\"Cleaner\",\"remaining_uses\":2,"
                              "\"occurred_at\":\"2026-11-20T09:30:00.000Z\"}\n",
                              h->building.text, g.id.text)
                     .p);
    house_expect(h, "SELECT account_id, building_id, length(id), substr(id, 1, 4) FROM event",
                 arena_printf(&h->arena, "%s|%s|28|evt_\n", h->account.text, h->building.text).p);
}

static void test_the_last_use_is_told_after_the_release(void **state)
{
    struct house *h = *state;
    const struct grant g = timer(h, "Once", 1);
    assert_int_equal(arrive(h).verdict, ACCESS_RELEASE);
    house_expect(h, EVENTS,
                 arena_printf(&h->arena,
                              "access.granted|{\"building_id\":\"%s\",\"building_label\":\"Home\",\"unlock_id\":\"%s\","
                              "\"unlock_type\":\"timer\",\"label\":\"Once\",\"remaining_uses\":0,"
                              "\"occurred_at\":\"2026-11-20T09:30:00.000Z\"}\n"
                              "unlock.no_uses_remaining|{\"building_id\":\"%s\",\"building_label\":\"Home\","
                              "\"unlock_id\":\"%s\",\"unlock_type\":\"timer\",\"label\":\"Once\","
                              "\"occurred_at\":\"2026-11-20T09:30:00.001Z\"}\n",
                              h->building.text, g.id.text, h->building.text, g.id.text)
                     .p);
    const struct grant now = house_get(h, &g.id);
    assert_int_equal(grant_status(&now, h->now_us), GRANT_EXHAUSTED);
    assert_int_equal(arrive(h).verdict, ACCESS_FORWARD);
}

static void test_an_unlimited_grant_stays_unlimited(void **state)
{
    struct house *h = *state;
    const struct grant g = timer(h, "Party", 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(arrive(h).verdict, ACCESS_RELEASE);
    assert_int_equal(house_get(h, &g.id).remaining_uses, GRANT_UNLIMITED);
    house_expect(h, "SELECT count(*) FROM event WHERE data LIKE '%\"remaining_uses\":null%'", "3\n");
    house_expect(h, "SELECT count(*) FROM event", "3\n"); /* none says that no uses remain */
    house_expect(h, "SELECT unlock_count FROM building", "3\n");
}

static void test_timers_come_before_routines_and_the_oldest_first(void **state)
{
    struct house *h = *state;
    const struct grant mail = routine(h, "09:00", "10:00"), mail2 = routine(h, "09:00", "10:00");
    const struct grant first = timer(h, "First", 1), second = timer(h, "Second", 1);
    assert_string_equal(arrive(h).grant_id.text, first.id.text);
    assert_string_equal(arrive(h).grant_id.text, second.id.text);
    assert_string_equal(arrive(h).grant_id.text, mail.id.text);
    assert_int_equal(house_revoke(h, &mail.id), ERR_NONE);
    assert_string_equal(arrive(h).grant_id.text, mail2.id.text);
}

static void test_a_timer_opens_within_its_window_only(void **state)
{
    struct house *h = *state;
    house_grant(h, (struct grant_input){.type = text("timer"),
                                        .starts_at = v_time(h->now_us + HOURS),
                                        .ends_at = v_time(h->now_us + 2 * HOURS)});
    assert_int_equal(arrive(h).verdict, ACCESS_FORWARD);
    h->now_us += HOURS - 1;
    assert_int_equal(arrive(h).verdict, ACCESS_FORWARD);
    h->now_us += 1;
    assert_int_equal(arrive(h).verdict, ACCESS_RELEASE);
    h->now_us += HOURS - 1;
    assert_int_equal(arrive(h).verdict, ACCESS_RELEASE);
    h->now_us += 1;
    assert_int_equal(arrive(h).verdict, ACCESS_FORWARD);
}

static void test_a_routine_opens_inside_its_window_only(void **state)
{
    struct house *h = *state;
    routine(h, "10:00", "11:00");
    assert_int_equal(arrive(h).verdict, ACCESS_FORWARD);
    h->now_us += 30 * MINUTES;
    assert_int_equal(arrive(h).verdict, ACCESS_RELEASE);
    house_expect(h, LOG, "unlock|routine|Mail|1\n");
    h->now_us += HOURS;
    assert_int_equal(arrive(h).verdict, ACCESS_FORWARD);
}

static void test_what_is_off_or_revoked_opens_nothing(void **state)
{
    struct house *h = *state;
    struct grant g = timer(h, "Off", 0);
    const struct grant gone = timer(h, "Gone", 0);
    assert_int_equal(house_update(h, &g, (struct grant_input){.enabled = v_bool(false)}), ERR_NONE);
    assert_int_equal(house_revoke(h, &gone.id), ERR_NONE);
    assert_int_equal(arrive(h).verdict, ACCESS_FORWARD);
    struct grant code = passcode(h, "1234");
    passcode(h, "9999");
    assert_int_equal(house_update(h, &code, (struct grant_input){.enabled = v_bool(false)}), ERR_NONE);
    assert_int_equal(enter(h, "1234", false).verdict, ACCESS_WRONG);
}

struct visitor {
    struct house house;
    pthread_t thread;
    enum access_verdict verdict;
};

static void *buzz(void *arg)
{
    struct visitor *v = arg;
    v->verdict = arrive(&v->house).verdict;
    return NULL;
}

static void test_concurrent_calls_never_use_the_last_use_twice(void **state)
{
    struct house *h = *state;
    for (int round = 0; round < 10; round++) {
        const struct grant g = timer(h, "Twice", 2);
        struct visitor visitors[6];
        int released = 0;
        for (int i = 0; i < 6; i++) {
            visitors[i] = (struct visitor){.house = *h};
            arena_init(&visitors[i].house.arena, NULL, 0);
            assert_int_equal(pthread_create(&visitors[i].thread, NULL, buzz, &visitors[i]), 0);
        }
        for (int i = 0; i < 6; i++) {
            pthread_join(visitors[i].thread, NULL);
            released += visitors[i].verdict == ACCESS_RELEASE;
            arena_done(&visitors[i].house.arena);
        }
        assert_int_equal(released, 2);
        assert_int_equal(house_get(h, &g.id).remaining_uses, 0);
    }
    house_expect(h, "SELECT count(*) FROM activity", "20\n");
    house_expect(h, "SELECT type, count(*) FROM event GROUP BY type ORDER BY type",
                 "access.granted|20\nunlock.no_uses_remaining|10\n");
}

/* ---- codes ---- */

static void test_a_code_is_asked_for_only_where_one_could_be_right(void **state)
{
    struct house *h = *state;
    assert_int_equal(arrive(h).verdict, ACCESS_FORWARD);
    struct grant g = passcode(h, "1234");
    struct access_decision d = arrive(h);
    assert_int_equal(d.verdict, ACCESS_COLLECT);
    assert_false(d.voice);
    assert_int_equal(house_update(h, &g, (struct grant_input){.enter_code_with_voice = v_bool(true)}), ERR_NONE);
    d = arrive(h);
    assert_int_equal(d.verdict, ACCESS_COLLECT);
    assert_true(d.voice);
    assert_int_equal(house_update(h, &g, (struct grant_input){.expires_in_minutes = v_int(5)}), ERR_NONE);
    h->now_us += 5 * MINUTES;
    assert_int_equal(arrive(h).verdict, ACCESS_FORWARD);
    house_expect(h, LOG, ""); /* asking is no entry */
}

static void test_the_right_code_releases_and_takes_a_use(void **state)
{
    struct house *h = *state;
    passcode(h, "12");
    const struct grant g = house_grant(h, (struct grant_input){.type = text("passcode"),
                                                               .access_code = text("0012"),
                                                               .label = text("Ben"),
                                                               .remaining_uses = v_int(1)});
    const struct access_decision d = enter(h, "0012", false);
    assert_int_equal(d.verdict, ACCESS_RELEASE);
    assert_string_equal(d.grant_id.text, g.id.text);
    assert_string_equal(d.tones, "9");
    assert_int_equal(house_get(h, &g.id).remaining_uses, 0);
    house_expect(h, LOG, "unlock|passcode|Ben|1\n");
    house_expect(h, "SELECT type FROM event ORDER BY id", "access.granted\nunlock.no_uses_remaining\n");
    assert_int_equal(enter(h, "0012", false).verdict, ACCESS_WRONG); /* used up */
}

static void test_a_wrong_code_is_recorded_without_the_code(void **state)
{
    struct house *h = *state;
    passcode(h, "1234");
    const struct access_decision d = enter(h, "5678", false);
    assert_int_equal(d.verdict, ACCESS_WRONG);
    assert_int_equal(d.closing.minutes, 0);
    assert_false(id_given(&d.grant_id));
    house_expect(h, LOG, "unlock|passcode|Wrong passcode|0\n");
    house_expect(h, "SELECT unlock_id FROM activity", "\n");
    house_expect(h, EVENTS,
                 arena_printf(&h->arena,
                              "access.denied|{\"building_id\":\"%s\",\"building_label\":\"Home\","
                              "\"occurred_at\":\"2026-11-20T09:30:00.000Z\"}\n",
                              h->building.text)
                     .p);
    house_expect(h, "SELECT unlock_count, last_buzz_at FROM building", "1|\n");
}

static void test_only_the_exact_code_is_right(void **state)
{
    struct house *h = *state;
    passcode(h, "123");
    static const char *const wrong[] = {"12", "1234", "0123", "1230", "", "12345678", "3"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(enter(h, wrong[i], false).verdict, ACCESS_WRONG);
        h->now_us += HOURS; /* the guard forgets */
    }
    assert_int_equal(enter(h, "123", false).verdict, ACCESS_RELEASE);
}

static void test_spoken_digits_count_for_passcodes_with_voice_alone(void **state)
{
    struct house *h = *state;
    passcode(h, "1234");
    const struct grant g = house_grant(h, (struct grant_input){.type = text("passcode"),
                                                               .access_code = text("5678"),
                                                               .enter_code_with_voice = v_bool(true)});
    assert_int_equal(enter(h, "1234", true).verdict, ACCESS_WRONG);
    assert_string_equal(enter(h, "5678", true).grant_id.text, g.id.text);
    assert_string_equal(enter(h, "5678", false).grant_id.text, g.id.text);
}

static void test_when_the_last_passcode_goes_while_a_caller_types_the_call_is_forwarded(void **state)
{
    struct house *h = *state;
    const struct grant g = passcode(h, "1234");
    assert_int_equal(arrive(h).verdict, ACCESS_COLLECT);
    assert_int_equal(house_revoke(h, &g.id), ERR_NONE);
    assert_int_equal(enter(h, "1234", false).verdict, ACCESS_FORWARD);
    house_expect(h, LOG, "");
    house_sql(h, "DELETE FROM building");
    assert_int_equal(enter(h, "1234", false).verdict, ACCESS_REJECT);
}

/* ---- the guard against guessing ---- */

#define BOX      "+15553330000" /* a call box: it will have released the door */
#define WITHHELD ""

/* A wrong code: how many minutes it closed the keypad for. */
static int64_t guess(struct house *h, const char *from)
{
    const struct access_decision d = enter_as(h, from, "0000", false);
    assert_int_equal(d.verdict, ACCESS_WRONG);
    return d.closing.minutes;
}

/* Five of them at once, which close it: for how many minutes. */
static int64_t guess_until_closed(struct house *h, const char *from)
{
    for (int i = 0; i < 4; i++)
        assert_int_equal(guess(h, from), 0);
    return guess(h, from);
}

static void make_known(struct house *h, const char *from)
{
    assert_int_equal(enter_as(h, from, "1234", false).verdict, ACCESS_RELEASE);
}

static void test_five_wrong_codes_close_the_keypad_for_ten_minutes(void **state)
{
    struct house *h = *state;
    passcode(h, "1234");
    for (int i = 0; i < 5; i++) {
        assert_int_equal(guess(h, VISITOR), i == 4 ? 10 : 0);
        h->now_us += 2 * MINUTES;
    }
    h->now_us -= 2 * MINUTES;
    assert_int_equal(arrive(h).verdict, ACCESS_FORWARD);
    assert_int_equal(enter(h, "1234", false).verdict, ACCESS_FORWARD); /* even the right one */
    house_expect(h, "SELECT count(*) FROM activity", "5\n");
    h->now_us += 10 * MINUTES - 1;
    assert_int_equal(arrive(h).verdict, ACCESS_FORWARD);
    h->now_us += 1;
    assert_int_equal(arrive(h).verdict, ACCESS_COLLECT);
    assert_int_equal(enter(h, "1234", false).verdict, ACCESS_RELEASE);
}

static void test_wrong_codes_far_apart_do_not_close_the_keypad(void **state)
{
    struct house *h = *state;
    passcode(h, "1234");
    for (int i = 0; i < 20; i++) { /* any ten minutes have four of them */
        assert_int_equal(guess(h, VISITOR), 0);
        h->now_us += 150 * US_PER_S;
    }
    assert_int_equal(arrive(h).verdict, ACCESS_COLLECT);
}

static void test_the_guard_counts_over_any_ten_minutes_not_fixed_ones(void **state)
{
    struct house *h = *state;
    passcode(h, "1234");
    guess(h, VISITOR);
    h->now_us += 9 * MINUTES;
    for (int i = 0; i < 3; i++)
        assert_int_equal(guess(h, VISITOR), 0);
    h->now_us += 2 * MINUTES; /* the first is forgotten, the three are not */
    assert_int_equal(guess(h, VISITOR), 0);
    assert_int_equal(guess(h, VISITOR), 10);
}

static void test_each_closing_doubles_up_to_320_minutes_until_a_day_without_a_wrong_code(void **state)
{
    struct house *h = *state;
    passcode(h, "1234");
    static const int64_t minutes[] = {10, 20, 40, 80, 160, 320, 320, 320};
    for (size_t i = 0; i < sizeof minutes / sizeof *minutes; i++) {
        assert_int_equal(guess_until_closed(h, VISITOR), minutes[i]);
        h->now_us += minutes[i] * MINUTES - 1;
        assert_int_equal(arrive(h).verdict, ACCESS_FORWARD);
        h->now_us += 1;
        assert_int_equal(arrive(h).verdict, ACCESS_COLLECT);
    }
    h->now_us += DAYS - 320 * MINUTES - 1; /* since the last wrong code */
    assert_int_equal(guess_until_closed(h, VISITOR), 320);
    h->now_us += DAYS;
    assert_int_equal(guess_until_closed(h, VISITOR), 10);
}

static void test_strangers_close_the_keypad_to_strangers_alone(void **state)
{
    struct house *h = *state;
    passcode(h, "1234");
    make_known(h, BOX);
    assert_int_equal(guess(h, VISITOR), 0);
    assert_int_equal(guess(h, WITHHELD), 0); /* without a number, one is a stranger, too */
    assert_int_equal(guess(h, "anonymous"), 0);
    assert_int_equal(guess(h, "+266696687"), 0); /* as carriers write a withheld number */
    assert_int_equal(guess(h, "+15559990001"), 10);
    assert_int_equal(arrive(h).verdict, ACCESS_FORWARD);
    assert_int_equal(arrive_from(h, WITHHELD).verdict, ACCESS_FORWARD);
    assert_int_equal(arrive_from(h, BOX).verdict, ACCESS_COLLECT);
    make_known(h, BOX);
}

static void test_known_callers_have_five_tries_of_their_own_and_no_more(void **state)
{
    struct house *h = *state;
    passcode(h, "1234");
    make_known(h, BOX);
    make_known(h, "+15553330001");
    assert_int_equal(guess(h, "+15553330001"), 0); /* who knows the number of a known caller may forge it */
    assert_int_equal(guess_until_closed(h, VISITOR), 10);
    for (int i = 0; i < 3; i++)
        assert_int_equal(guess(h, BOX), 0);
    assert_int_equal(guess(h, BOX), 10);
    assert_int_equal(arrive_from(h, "+15553330001").verdict, ACCESS_FORWARD);
    assert_int_equal(enter_as(h, BOX, "1234", false).verdict, ACCESS_FORWARD);
}

static void test_a_timer_or_routine_makes_a_caller_known_a_withheld_number_never_is(void **state)
{
    struct house *h = *state;
    const struct grant g = timer(h, "Open", 0);
    assert_int_equal(arrive_from(h, BOX).verdict, ACCESS_RELEASE);
    assert_int_equal(arrive_from(h, WITHHELD).verdict, ACCESS_RELEASE);
    assert_int_equal(arrive_from(h, "anonymous").verdict, ACCESS_RELEASE);
    assert_int_equal(arrive_from(h, "+7378742833").verdict, ACCESS_RELEASE);
    house_expect(h, "SELECT number FROM door_caller", BOX "\n");
    assert_int_equal(house_revoke(h, &g.id), ERR_NONE);
    passcode(h, "1234");
    guess_until_closed(h, WITHHELD);
    assert_int_equal(arrive_from(h, BOX).verdict, ACCESS_COLLECT);
}

static void test_a_caller_known_at_one_building_is_a_stranger_at_another(void **state)
{
    struct house *h = *state;
    passcode(h, "1234");
    make_known(h, BOX);
    h->building = house_add_building(h, "Annex", "+15550100002");
    passcode(h, "1234");
    guess_until_closed(h, VISITOR);
    assert_int_equal(enter_as(h, BOX, "1234", false).verdict, ACCESS_FORWARD);
}

static void test_the_guard_lets_timers_open_and_other_buildings_alone(void **state)
{
    struct house *h = *state;
    passcode(h, "1234");
    guess_until_closed(h, VISITOR);
    const struct grant g = timer(h, "Open", 0);
    assert_string_equal(arrive(h).grant_id.text, g.id.text);
    h->building = house_add_building(h, "Annex", "+15550100002");
    passcode(h, "1234");
    assert_int_equal(enter(h, "1234", false).verdict, ACCESS_RELEASE);
}

static void test_right_codes_do_not_count_against_the_guard(void **state)
{
    struct house *h = *state;
    passcode(h, "1234");
    for (int i = 0; i < 5; i++)
        assert_int_equal(enter(h, "1234", false).verdict, ACCESS_RELEASE);
    for (int i = 0; i < 4; i++)
        assert_int_equal(guess(h, VISITOR), 0);
    assert_int_equal(arrive(h).verdict, ACCESS_COLLECT);
    house_expect(h, "SELECT unlock_count FROM building", "9\n");
}

struct guesser {
    struct house house;
    pthread_t thread;
    const char *from;
    enum access_verdict verdict;
};

static void *guess_once(void *arg)
{
    struct guesser *g = arg;
    g->verdict = enter_as(&g->house, g->from, "0000", false).verdict;
    return NULL;
}

static void test_five_codes_are_tried_however_many_guess_at_once(void **state)
{
    struct house *h = *state;
    static const char *const from[] = {BOX, VISITOR, WITHHELD};
    struct guesser g[24];
    int wrong = 0;
    passcode(h, "1234");
    make_known(h, BOX);
    for (size_t i = 0; i < 24; i++) {
        g[i] = (struct guesser){.house = *h, .from = from[i % 3]};
        arena_init(&g[i].house.arena, NULL, 0);
        assert_int_equal(pthread_create(&g[i].thread, NULL, guess_once, &g[i]), 0);
    }
    for (size_t i = 0; i < 24; i++) {
        pthread_join(g[i].thread, NULL);
        wrong += g[i].verdict == ACCESS_WRONG;
        arena_done(&g[i].house.arena);
    }
    assert_int_equal(wrong, 10); /* five of each group */
    house_expect(h, "SELECT count(*) FROM activity NATURAL JOIN activity_kind WHERE succeeded = 0", "10\n");
    house_expect(h, "SELECT known, closings FROM door_guard ORDER BY known", "0|1\n1|1\n");
    house_expect(h, "SELECT count(*) FROM job WHERE kind = 'mail'", "2\n");
}

/* ---- what the guard tells, and keeps ---- */

static enum err read_mail(struct tx *tx, void *arg)
{
    CURSOR c;
    enum err e = db_query(tx->db, SQL_JOB_TAKE, DB_ARGS(v_int(INT64_MAX), v_int(1), v_int(0)), &c);
    bool more;
    if (e || (e = db_next(&c, &more)))
        return e;
    assert_true(more);
    return mail_read(col_blob(&c, COL_JOB_TAKE_PAYLOAD), tx->arena, arg);
}

static void test_the_owner_is_mailed_once_a_day_with_the_callers_number(void **state)
{
    struct house *h = *state;
    struct mail_intent mail;
    passcode(h, "1234");
    for (int i = 0; i < 4; i++)
        guess(h, WITHHELD);
    house_expect(h, "SELECT count(*) FROM job", "0\n");
    guess(h, "+15559990001");
    house_expect(h, "SELECT kind FROM job", JOB_MAIL "\n");
    assert_int_equal(house_run(h, STORE_WRITE, read_mail, &mail), ERR_NONE);
    assert_true(str_eq(mail.to, STR("owner@example.com")));
    assert_true(str_eq(mail.subject, STR("Wrong codes were entered at your door")));
    assert_non_null(strstr(mail.text.p, "+15559990001"));
    assert_non_null(strstr(mail.text.p, "at Home"));
    assert_null(strstr(mail.text.p, "0000"));
    h->now_us += 10 * MINUTES;
    assert_int_equal(guess_until_closed(h, WITHHELD), 20);
    house_expect(h, "SELECT count(*) FROM job", "1\n");
    h->now_us += DAYS - 10 * MINUTES;
    assert_int_equal(guess_until_closed(h, WITHHELD), 40); /* it went on within a day */
    house_expect(h, "SELECT count(*) FROM job", "2\n");
}

static void test_known_callers_are_bounded_and_the_last_to_release_stay(void **state)
{
    struct house *h = *state;
    char number[20];
    timer(h, "Open", 0);
    for (int i = 0; i < GUARD_CALLERS_MAX + 20; i++) {
        snprintf(number, sizeof number, "+1555400%04d", i);
        h->now_us += US_PER_S;
        assert_int_equal(arrive_from(h, number).verdict, ACCESS_RELEASE);
    }
    house_expect(h, "SELECT count(*), min(number) FROM door_caller", "200|+15554000020\n");
}

static enum err purge_run(struct tx *tx, void *arg)
{
    (void)arg;
    int64_t count;
    enum err e = guard_purge(tx, tx->now_us - GUARD_KEPT_S * US_PER_S, 100, &count);
    return e ? e : guard_purge_callers(tx, tx->now_us - CALLERS_KEPT_S * US_PER_S, 100, &count);
}

static void test_what_is_old_is_purged(void **state)
{
    struct house *h = *state;
    passcode(h, "1234");
    make_known(h, BOX);
    guess(h, VISITOR);
    h->now_us += 2 * DAYS;
    assert_int_equal(house_run(h, STORE_WRITE, purge_run, NULL), ERR_NONE);
    house_expect(h, "SELECT count(*) FROM door_guard", "1\n");
    h->now_us += 1;
    assert_int_equal(house_run(h, STORE_WRITE, purge_run, NULL), ERR_NONE);
    house_expect(h, "SELECT count(*) FROM door_guard", "0\n");
    house_expect(h, "SELECT number FROM door_caller", BOX "\n");
    h->now_us += 363 * DAYS;
    assert_int_equal(house_run(h, STORE_WRITE, purge_run, NULL), ERR_NONE);
    house_expect(h, "SELECT count(*) FROM door_caller", "0\n");
}

static enum err remove_run(struct tx *tx, void *arg)
{
    struct house *h = arg;
    return removal_finish(tx, &h->account, &h->building);
}

static void test_a_removed_building_leaves_no_callers_and_no_guard(void **state)
{
    struct house *h = *state;
    passcode(h, "1234");
    make_known(h, BOX);
    guess(h, VISITOR);
    assert_int_equal(house_run(h, STORE_WRITE, remove_run, h), ERR_NONE);
    house_expect(h, "SELECT number FROM door_caller", "");
    house_expect(h, "SELECT known FROM door_guard", "");
}

/* ---- forwarding ---- */

static void test_a_forwarded_call_is_logged_and_told(void **state)
{
    struct house *h = *state;
    struct forwarding f = {.building = &h->building};
    assert_int_equal(house_run(h, STORE_WRITE, forwarded_run, &f), ERR_NONE);
    house_expect(h, LOG, "call||Forwarded call|1\n");
    house_expect(h, EVENTS,
                 arena_printf(&h->arena,
                              "access.call_forwarded|{\"building_id\":\"%s\",\"building_label\":\"Home\","
                              "\"occurred_at\":\"2026-11-20T09:30:00.000Z\"}\n",
                              h->building.text)
                     .p);
    house_expect(h, "SELECT unlock_count, last_buzz_at FROM building", "0|\n");
    struct id gone = id_new(h->now_us);
    f.building = &gone;
    assert_int_equal(house_run(h, STORE_WRITE, forwarded_run, &f), ERR_BUILDING_NOT_FOUND);
}

/* ---- why ---- */

static void expect_reason(struct access_decision d, const char *reason)
{
    assert_string_equal(access_reason_names[d.reason], reason);
}

static void test_each_decision_says_why(void **state)
{
    struct house *h = *state;
    struct arrival nowhere = {STR("+15559999999"), STR(VISITOR), {.verdict = ACCESS_FORWARD}};
    assert_int_equal(house_run(h, STORE_WRITE, arrive_run, &nowhere), ERR_NONE);
    expect_reason(nowhere.decision, "unknown_number");
    expect_reason(arrive_from(h, OWNER_PHONE), "owner");
    expect_reason(arrive(h), "no_grant");
    expect_reason(enter(h, "1234", false), "no_grant");
    passcode(h, "1234");
    expect_reason(arrive(h), "no_code");
    expect_reason(enter(h, "1234", false), "passcode");
    routine(h, "09:00", "10:00");
    expect_reason(arrive(h), "routine");
    timer(h, "Open", 1);
    struct access_decision d = arrive(h);
    expect_reason(d, "timer");
    assert_true(str_eq(d.grant_label, STR("Open")));
    for (int i = 0; i < 4; i++)
        expect_reason(enter_as(h, WITHHELD, "0000", false), "wrong_code");
    expect_reason(enter_as(h, WITHHELD, "0000", false), "keypad_closed");
    expect_reason(enter_as(h, WITHHELD, "1234", false), "keypad_closed");
    h->now_us += HOURS; /* out of the routine */
    assert_int_equal(guess_until_closed(h, WITHHELD), 20);
    expect_reason(arrive_from(h, WITHHELD), "keypad_closed");
    house_sql(h, "UPDATE account SET subscription_status = 'none'");
    expect_reason(arrive(h), "no_subscription");
    expect_reason(enter(h, "1234", false), "no_subscription");
    house_sql(h, "UPDATE building SET unlock_tone = NULL");
    expect_reason(arrive(h), "no_tone");
}

/* "Later:not_begun Mail:outside_window ": the grants that a forwarded call names. */
static const char *near_misses(struct house *h)
{
    struct forwarding f = {.building = &h->building};
    assert_int_equal(house_run(h, STORE_WRITE, forwarded_run, &f), ERR_NONE);
    char *text = arena_zalloc(&h->arena, 1000);
    for (size_t i = 0; i < f.decision.near_count; i++) {
        const struct access_near *n = &f.decision.near[i];
        assert_true(id_given(&n->grant_id));
        snprintf(text + strlen(text), 1000 - strlen(text), "%.*s:%s ", STR_ARG(n->label), access_why_names[n->why]);
    }
    return text;
}

static void test_a_forwarded_call_names_the_grants_that_could_not_be_used_and_why(void **state)
{
    struct house *h = *state;
    assert_string_equal(near_misses(h), "");
    passcode(h, "1234"); /* usable, but not entered: no near miss */
    struct grant off = timer(h, "Off", 0);
    assert_int_equal(house_update(h, &off, (struct grant_input){.enabled = v_bool(false)}), ERR_NONE);
    const struct grant gone = timer(h, "Gone", 0);
    assert_int_equal(house_revoke(h, &gone.id), ERR_NONE);
    const struct grant once = timer(h, "Once", 1);
    assert_string_equal(arrive(h).grant_id.text, once.id.text);
    routine(h, "10:00", "11:00");
    house_grant(h, (struct grant_input){.type = text("timer"),
                                        .label = text("Later"),
                                        .starts_at = v_time(h->now_us + HOURS),
                                        .ends_at = v_time(h->now_us + 2 * HOURS)});
    house_grant(h, (struct grant_input){.type = text("timer"), .label = text("Short"), .expires_in_minutes = v_int(1)});
    h->now_us += MINUTES;
    assert_string_equal(near_misses(h), "Short:expired Later:not_begun Mail:outside_window Once:used_up "
                                        "Off:switched_off ");
    house_sql(h, "UPDATE building SET unlock_tone = NULL"); /* then it is not the grants */
    assert_string_equal(near_misses(h), "");
}

static void test_a_forwarded_call_names_the_five_newest_grants_at_most(void **state)
{
    struct house *h = *state;
    for (int i = 0; i < 8; i++)
        house_grant(h, (struct grant_input){.type = text("timer"),
                                            .label = text(arena_printf(&h->arena, "T%d", i).p),
                                            .starts_at = v_time(h->now_us + HOURS),
                                            .ends_at = v_time(h->now_us + 2 * HOURS)});
    assert_string_equal(near_misses(h), "T7:not_begun T6:not_begun T5:not_begun T4:not_begun T3:not_begun ");
}

#define TESTS(T)                                                                                                       \
    T(test_a_number_that_belongs_to_nobody_is_rejected),                                                               \
        T(test_the_owners_own_call_uses_nothing_and_is_recorded_nowhere),                                              \
        T(test_without_a_tone_or_a_subscription_everything_is_forwarded),                                              \
        T(test_a_building_may_forward_to_a_phone_of_its_own_or_to_none),                                               \
        T(test_a_decision_carries_the_buildings_tones_and_greetings),                                                  \
        T(test_a_release_takes_a_use_and_leaves_log_event_and_last_buzz),                                              \
        T(test_the_last_use_is_told_after_the_release), T(test_an_unlimited_grant_stays_unlimited),                    \
        T(test_timers_come_before_routines_and_the_oldest_first), T(test_a_timer_opens_within_its_window_only),        \
        T(test_a_routine_opens_inside_its_window_only), T(test_what_is_off_or_revoked_opens_nothing),                  \
        T(test_concurrent_calls_never_use_the_last_use_twice),                                                         \
        T(test_a_code_is_asked_for_only_where_one_could_be_right), T(test_the_right_code_releases_and_takes_a_use),    \
        T(test_a_wrong_code_is_recorded_without_the_code), T(test_only_the_exact_code_is_right),                       \
        T(test_spoken_digits_count_for_passcodes_with_voice_alone),                                                    \
        T(test_when_the_last_passcode_goes_while_a_caller_types_the_call_is_forwarded),                                \
        T(test_five_wrong_codes_close_the_keypad_for_ten_minutes),                                                     \
        T(test_wrong_codes_far_apart_do_not_close_the_keypad),                                                         \
        T(test_the_guard_counts_over_any_ten_minutes_not_fixed_ones),                                                  \
        T(test_each_closing_doubles_up_to_320_minutes_until_a_day_without_a_wrong_code),                               \
        T(test_strangers_close_the_keypad_to_strangers_alone),                                                         \
        T(test_known_callers_have_five_tries_of_their_own_and_no_more),                                                \
        T(test_a_timer_or_routine_makes_a_caller_known_a_withheld_number_never_is),                                    \
        T(test_a_caller_known_at_one_building_is_a_stranger_at_another),                                               \
        T(test_the_guard_lets_timers_open_and_other_buildings_alone),                                                  \
        T(test_right_codes_do_not_count_against_the_guard), T(test_five_codes_are_tried_however_many_guess_at_once),   \
        T(test_the_owner_is_mailed_once_a_day_with_the_callers_number),                                                \
        T(test_known_callers_are_bounded_and_the_last_to_release_stay), T(test_what_is_old_is_purged),                 \
        T(test_a_removed_building_leaves_no_callers_and_no_guard), T(test_a_forwarded_call_is_logged_and_told),        \
        T(test_each_decision_says_why), T(test_a_forwarded_call_names_the_grants_that_could_not_be_used_and_why),      \
        T(test_a_forwarded_call_names_the_five_newest_grants_at_most)

HOUSE_RUN(TESTS)
