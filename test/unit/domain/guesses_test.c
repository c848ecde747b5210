/* How many guesses of a door code are judged, whatever way they come: the bound of docs/calls.md, "Guessing codes". */
#include "domain/access_fixture.h"
#include "domain/mail.h"
#include "jobs/time_bound.h"

#define BOX       "+15553330000" /* a known caller */
#define FIRST_MAX 70             /* judged guesses on the first day, of all ways together */
#define LATER_MAX 35             /* and on each later one */
#define GROUP_MAX 17             /* of a group within any 24 hours */
#define WEEK      7

static void passcode(struct building_fixture *fx, const char *code, bool voice)
{
    add_grant(fx, (struct grant_input){.type = text("passcode"),
                                       .access_code = text(code),
                                       .label = text("Ana"),
                                       .enter_code_with_voice = v_bool(voice)});
}

/* One group's guesser, who knows the rules, and when the keypad opens again. */
struct guesser {
    const char *from; /* NULL: another number each time */
    int64_t free_us;  /* the keypad is open from then on */
    int judged[WEEK]; /* guesses of each day */
    int64_t at_us[WEEK * GROUP_MAX];
    size_t count;
};

/* A way to guess. */
struct way {
    const char *name;
    bool strangers, known; /* the groups that it uses */
    int64_t apart_s;       /* between two guesses of a group; -1: at random */
    int spoken;            /* of ten guesses */
    bool unclear;          /* the spoken ones */
    int day_max;           /* guesses of a group within a day, then a pause; 0: no pause */
    int64_t late_s;        /* of a day, before it begins */
    int idle;              /* days between those on which it guesses */
};

static unsigned chance(unsigned n)
{
    static unsigned state = 1;
    state = state * 1103515245U + 12345U;
    return (state >> 16) % n;
}

static int64_t pause_us(const struct way *w)
{
    static const int64_t pauses_s[] = {0, 1, 120, 150, 601, 3600, 4548, 20000};
    return (w->apart_s < 0 ? pauses_s[chance(8)] : w->apart_s) * US_PER_S;
}

/* One guess. Returns whether it was judged. */
static bool guess(struct building_fixture *fx, const struct way *w, struct guesser *g)
{
    char other[20];
    snprintf(other, sizeof other, "+1555900%04u", chance(10000));
    const bool spoken = (int)chance(10) < w->spoken;
    const struct access_decision d = enter_as(fx, g->from ? g->from : other, "0000",
                                              !spoken      ? ACCESS_KEYS
                                              : w->unclear ? ACCESS_UNCLEAR
                                                           : ACCESS_SPOKEN);
    g->free_us = fx->now_us + pause_us(w) + d.closing.minutes * MINUTES;
    if (d.verdict == ACCESS_COLLECT)
        g->free_us += HOURS; /* keys alone count now */
    return d.verdict == ACCESS_WRONG;
}

/* The next day on which guesses are made begins. */
static int64_t next_day_us(const struct way *w, int64_t day)
{
    return (day + 1 + w->idle) * DAYS + w->late_s * US_PER_S;
}

static void count_guess(struct guesser *g, int64_t day, int64_t at_us, bool judged)
{
    if (!judged)
        return;
    g->judged[day]++;
    assert_in_range(g->count, 0, sizeof g->at_us / sizeof *g->at_us - 1);
    g->at_us[g->count++] = at_us;
    /* Within any 24 hours, whenever they begin. */
    assert_true(g->count <= GROUP_MAX || at_us - g->at_us[g->count - 1 - GROUP_MAX] >= DAYS);
}

/* The judged guesses of each day of a week. */
static void guess_for_a_week(struct building_fixture *fx, const struct way *w, struct guesser groups[static 2])
{
    const int64_t start_us = fx->now_us;
    groups[0] = (struct guesser){.from = NULL, .free_us = start_us + w->late_s * US_PER_S};
    groups[1] = (struct guesser){.from = BOX, .free_us = groups[0].free_us};
    for (;;) {
        struct guesser *g = &groups[!w->strangers || (w->known && groups[1].free_us < groups[0].free_us)];
        if (g->free_us > fx->now_us)
            fx->now_us = g->free_us;
        const int64_t day = (fx->now_us - start_us) / DAYS;
        if (day >= WEEK)
            return;
        if ((w->day_max && g->judged[day] == w->day_max) || day % (1 + w->idle))
            g->free_us = start_us + next_day_us(w, day - day % (1 + w->idle));
        else
            count_guess(g, day, fx->now_us, guess(fx, w, g));
    }
}

#define ONE  .strangers = true
#define BOTH .strangers = true, .known = true
#define LAST (GUARD_DAY_CLOSED - 1) /* the guesses of a day that close nothing, if they are slow */

static const struct way ways[] = {
    {.name = "keys as fast as they are taken", ONE},
    {.name = "four codes in each ten minutes", ONE, .apart_s = 151},
    {.name = "all of a day, evenly", ONE, .apart_s = DAYS / US_PER_S / LAST},
    {.name = "one less than closes the keypad, each day", ONE, .apart_s = 151, .day_max = LAST},
    {.name = "the same at the end of each day", ONE, .apart_s = 151, .day_max = LAST, .late_s = 80000},
    {.name = "each second day", ONE, .apart_s = 151, .idle = 1},
    {.name = "each third day, from its end on", ONE, .apart_s = 151, .idle = 2, .late_s = 80000},
    {.name = "keys at random times", ONE, .apart_s = -1},
    {.name = "a forged number of a known caller", .known = true, .apart_s = 151},
    {.name = "spoken codes", ONE, .apart_s = 151, .spoken = 10},
    {.name = "unclear speech", ONE, .apart_s = 151, .spoken = 10, .unclear = true},
    {.name = "speech and keys", ONE, .apart_s = 151, .spoken = 5},
    {.name = "unclear speech and keys at random times", .known = true, .apart_s = -1, .spoken = 3, .unclear = true},
    {.name = "both groups", BOTH, .apart_s = 151},
    {.name = "both groups, as fast as they are taken", BOTH},
    {.name = "both groups, one less than closes, each day", BOTH, .apart_s = 151, .day_max = LAST},
    {.name = "both groups, the same at the end of each day", BOTH, .apart_s = 151, .day_max = LAST, .late_s = 80000},
    {.name = "both groups, each second day", BOTH, .apart_s = 151, .idle = 1},
    {.name = "both groups, each third day, from its end on", BOTH, .apart_s = 151, .idle = 2, .late_s = 80000},
    {.name = "both groups, by keys and speech at random times", BOTH, .apart_s = -1, .spoken = 5, .unclear = true},
    {.name = "both groups, by keys and speech", BOTH, .apart_s = 151, .spoken = 5},
};

/* CALL-3 */
static void test_no_way_passes_the_bound_of_guesses_in_a_week(void **state)
{
    struct building_fixture *fx = *state;
    passcode(fx, "1234", true);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const struct way *w = &ways[i];
        struct guesser groups[2];
        int most = 0;
        assert_int_equal(enter_as(fx, BOX, "1234", ACCESS_KEYS).verdict, ACCESS_RELEASE);
        guess_for_a_week(fx, w, groups);
        print_message("%s:", w->name);
        for (int day = 0; day < WEEK; day++) {
            const int judged = groups[0].judged[day] + groups[1].judged[day];
            print_message(" %d", judged);
            assert_in_range(judged, 0, day ? LATER_MAX : FIRST_MAX);
            assert_in_range(groups[0].judged[day], 0, GROUP_MAX);
            assert_in_range(groups[1].judged[day], 0, GROUP_MAX);
            most = judged > most ? judged : most;
        }
        print_message("\n");
        assert_true(most > 0);
        fx->now_us += 3 * DAYS;
    }
}

static const struct way slow = {.name = "slow", .strangers = true, .apart_s = 151};

/* CALL-2 */
static void test_the_twelfth_wrong_code_of_a_day_closes_the_keypad_and_the_pauses_double(void **state)
{
    struct building_fixture *fx = *state;
    struct guesser g = {.from = VISITOR};
    passcode(fx, "1234", false);
    for (int i = 1; i < 12; i++, fx->now_us += 151 * US_PER_S) {
        assert_true(guess(fx, &slow, &g));
        assert_int_equal(arrive_from(fx, VISITOR).verdict, ACCESS_COLLECT);
    }
    for (int64_t minutes = 80; minutes <= 320; minutes *= 2) {
        assert_int_equal(enter_as(fx, VISITOR, "0000", ACCESS_KEYS).closing.minutes, minutes);
        assert_int_equal(arrive_from(fx, VISITOR).verdict, ACCESS_FORWARD);
        assert_int_equal(arrive_from(fx, BOX).verdict, ACCESS_FORWARD); /* not known yet */
        fx->now_us += minutes * MINUTES;
        assert_int_equal(arrive_from(fx, VISITOR).verdict, ACCESS_COLLECT);
    }
    fx->now_us += DAYS;
    for (int i = 1; i < 12; i++, fx->now_us += 151 * US_PER_S)
        assert_true(guess(fx, &slow, &g));
    assert_int_equal(enter_as(fx, VISITOR, "0000", ACCESS_KEYS).closing.minutes, 80);
}

/* CALL-3 */
static void test_a_wrong_code_counts_for_all_of_24_hours(void **state)
{
    struct building_fixture *fx = *state;
    struct guesser g = {.from = VISITOR};
    passcode(fx, "1234", false);
    fx->now_us = fx->now_us / US_PER_S * US_PER_S + US_PER_S - 1;
    const int64_t end_us = fx->now_us + DAYS;
    for (int i = 1; i < 12; i++, fx->now_us += HOURS)
        assert_true(guess(fx, &slow, &g));
    fx->now_us = end_us - 1;
    assert_int_equal(enter_as(fx, VISITOR, "0000", ACCESS_KEYS).closing.minutes, 80);
}

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

/* CALL-4 */
static void test_the_owner_is_told_of_the_tenth_wrong_code_of_a_day(void **state)
{
    struct building_fixture *fx = *state;
    struct guesser g = {.from = VISITOR};
    struct mail_intent mail;
    passcode(fx, "1234", false);
    for (int i = 1; i < 10; i++, fx->now_us += HOURS)
        assert_true(guess(fx, &slow, &g));
    fixture_expect(fx, "SELECT count(*) FROM job", "0\n");
    assert_int_equal(enter_as(fx, "+15559990001", "0000", ACCESS_KEYS).closing.minutes, 0);
    fixture_expect(fx, "SELECT kind FROM job", JOB_MAIL "\n");
    assert_int_equal(fixture_run(fx, STORE_WRITE, read_mail, &mail), ERR_NONE);
    assert_non_null(strstr(mail.text.p, "10 wrong door codes were entered at Home within 24 hours"));
    assert_non_null(strstr(mail.text.p, "+15559990001"));
    assert_non_null(strstr(mail.text.p, "At 12 within 24 hours"));
    guess(fx, &slow, &g);
    fixture_expect(fx, "SELECT count(*) FROM job", "1\n");
}

/* CALL-46 */
static void test_ten_spoken_failures_of_a_day_leave_the_keypad_alone(void **state)
{
    struct building_fixture *fx = *state;
    passcode(fx, "1234", true);
    for (int i = 0; i < 10; i++, fx->now_us += 20 * MINUTES) {
        assert_true(arrive_from(fx, VISITOR).voice);
        const struct access_decision d =
            enter_as(fx, VISITOR, i % 2 ? "" : "4321", i % 2 ? ACCESS_UNCLEAR : ACCESS_SPOKEN);
        assert_int_equal(d.verdict, ACCESS_WRONG);
        assert_int_equal(d.voice, i < 9);
    }
    const struct access_decision asked = arrive_from(fx, VISITOR);
    assert_int_equal(asked.verdict, ACCESS_COLLECT);
    assert_false(asked.voice);
    const struct access_decision said = enter_as(fx, VISITOR, "1234", ACCESS_SPOKEN); /* also the right one */
    assert_int_equal(said.verdict, ACCESS_COLLECT);
    assert_false(said.voice);
    fixture_expect(fx, "SELECT count(*) FROM activity", "10\n");
    assert_int_equal(enter_as(fx, VISITOR, "1234", ACCESS_KEYS).verdict, ACCESS_RELEASE);
    fx->now_us += DAYS - 200 * MINUTES + US_PER_S;
    assert_true(arrive_from(fx, "+15559990001").voice);
}

/* CALL-6 */
static void test_input_shorter_than_every_usable_code_is_incomplete_and_counts_nothing(void **state)
{
    struct building_fixture *fx = *state;
    passcode(fx, "1234", false);
    static const char *const shorter[] = {"", "1", "12", "123"};
    for (int i = 0; i < 40; i++)
        assert_int_equal(enter_as(fx, VISITOR, shorter[i % 4], ACCESS_KEYS).verdict, ACCESS_INCOMPLETE);
    fixture_expect(fx, "SELECT count(*) FROM activity", "0\n");
    fixture_expect(fx, "SELECT count(*) FROM door_guard", "0\n");
    assert_int_equal(arrive_from(fx, VISITOR).lengths, 1 << 4);
    passcode(fx, "77", false);
    const struct access_decision d = enter_as(fx, VISITOR, "123", ACCESS_KEYS);
    assert_int_equal(d.verdict, ACCESS_WRONG);
    assert_int_equal(d.lengths, 1 << 4 | 1 << 2);
    assert_int_equal(arrive_from(fx, VISITOR).lengths, 1 << 4 | 1 << 2);
    assert_int_equal(enter_as(fx, VISITOR, "7", ACCESS_KEYS).verdict, ACCESS_INCOMPLETE);
}

static enum err apply_bounds(struct tx *tx, void *arg)
{
    enum err e = ERR_NONE;
    bool more = true;
    int64_t changed;
    (void)arg;
    for (size_t row = 0; !e && more; row++)
        e = time_bound_apply(tx, row, &more, &changed);
    return e;
}

static void test_a_keypad_that_a_clock_closed_while_it_was_ahead_is_open(void **state)
{
    struct building_fixture *fx = *state;
    passcode(fx, "7350", false);
    fx->now_us += 9 * HOURS;
    for (int i = 0; i < 5; i++)
        enter_as(fx, VISITOR, "0000", ACCESS_KEYS);
    fx->now_us -= 9 * HOURS;
    assert_int_equal(arrive_from(fx, VISITOR).verdict, ACCESS_FORWARD);
    assert_int_equal(fixture_run(fx, STORE_WRITE, apply_bounds, NULL), ERR_NONE);
    assert_int_equal(enter_as(fx, VISITOR, "7350", ACCESS_KEYS).verdict, ACCESS_RELEASE);
}

#define TESTS(T)                                                                                                       \
    T(test_no_way_passes_the_bound_of_guesses_in_a_week),                                                              \
        T(test_the_twelfth_wrong_code_of_a_day_closes_the_keypad_and_the_pauses_double),                               \
        T(test_a_wrong_code_counts_for_all_of_24_hours), T(test_the_owner_is_told_of_the_tenth_wrong_code_of_a_day),   \
        T(test_ten_spoken_failures_of_a_day_leave_the_keypad_alone),                                                   \
        T(test_input_shorter_than_every_usable_code_is_incomplete_and_counts_nothing),                                 \
        T(test_a_keypad_that_a_clock_closed_while_it_was_ahead_is_open)

FIXTURE_RUN(TESTS)
