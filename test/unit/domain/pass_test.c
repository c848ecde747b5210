/* Passes in a store of each engine. Their calendars are in schedule_test.c. */
#include "domain/pass.h"

#include "domain/access_fixture.h"
#include "domain/access_opening.h"

#define MANY 9994 /* codes of a building that is nearly full */
#define LEFT 5    /* that are given before it is full: not 9999 */

static struct val one_window(struct building_fixture *fx, const char *day, const char *start, const char *end)
{
    struct pass_window *w = arena_new(&fx->arena, struct pass_window);
    struct val *days = arena_new(&fx->arena, struct val);
    *days = text(day);
    *w = (struct pass_window){v_list(days, 1), text(start), text(end)};
    return v_list(w, 1);
}

struct make_pass {
    struct grant_place place;
    const struct pass_input *in;
    struct str key;
    unsigned char hash[SHA256_LEN];
    struct grant pass;
    bool replayed;
};

static enum err make_pass_run(struct tx *tx, void *arg)
{
    struct make_pass *m = arg;
    const struct grant_request request = {.id = m->key, .hash = m->hash, .pass = true};
    return pass_create(tx, &m->place, m->in, &request, &m->pass, &m->replayed);
}

static enum err make_pass(struct building_fixture *fx, struct pass_input in, const char *key, struct grant *ret,
                          bool *ret_replayed)
{
    struct make_pass m = {.place = {.building = &fx->building}, .in = &in, .key = str_z(key)};
    crypto_sha256(in.label.s, m.hash); /* in place of the canonical body's */
    enum err e = fixture_run(fx, STORE_WRITE, make_pass_run, &m);
    if (!e) {
        *ret = m.pass;
        *ret_replayed = m.replayed;
    }
    return e;
}

/* Creates a pass with a new key. The test fails if it is refused. */
static struct grant add_pass(struct building_fixture *fx, struct pass_input in)
{
    char key[40];
    struct grant g = {.version = 0};
    bool replayed;
    snprintf(key, sizeof key, "fixture-request-%06u", fx->requests++);
    if (!v_given(in.label))
        in.label = text("Pass");
    enum err e = make_pass(fx, in, key, &g, &replayed);
    if (e)
        fail_msg("%s: %.*s", err_info(e)->code, STR_ARG(fx->tx.why));
    return g;
}

struct change_pass {
    struct grant_place place;
    const struct grant *pass;
    const struct pass_input *in;
    struct grant changed;
};

static enum err change_pass_run(struct tx *tx, void *arg)
{
    struct change_pass *c = arg;
    return pass_update(tx, &c->place, &c->pass->id, c->pass->version, c->in, &c->changed);
}

/* Updates *g. */
static enum err change_pass(struct building_fixture *fx, struct grant *g, struct pass_input in)
{
    struct change_pass c = {{.building = &fx->building}, g, &in, {.version = 0}};
    enum err e = fixture_run(fx, STORE_WRITE, change_pass_run, &c);
    if (!e)
        *g = c.changed;
    return e;
}

/* Opens the door once with another code, so that the caller is known. */
static void make_known(struct building_fixture *fx, const char *caller)
{
    const struct grant g = add_pass(fx, (struct pass_input){.access_code = text("909090")});
    assert_int_equal(enter_as(fx, caller, "909090", ACCESS_KEYS).verdict, ACCESS_RELEASE);
    assert_int_equal(revoke_grant(fx, &g.id), ERR_NONE);
}

static void say_opening(struct building_fixture *fx)
{
    fixture_sql(fx, "UPDATE building SET say_opening = 1");
}

/* ---- creation and change ---- */

/* PASS-1, PASS-2 */
static void test_a_created_pass_is_read_back(void **state)
{
    struct building_fixture *fx = *state;
    const struct grant made = add_pass(fx, (struct pass_input){.label = text("Cleaner"),
                                                               .access_code = text("48151623"),
                                                               .from = text("2026-12-01T08:00"),
                                                               .until = text("2027-03-01T00:00:00Z"),
                                                               .windows = one_window(fx, "tuesday", "22:00", "06:00"),
                                                               .timezone = text("Europe/Madrid"),
                                                               .remaining_uses = v_int(9),
                                                               .note = text("Ströme 北")});
    const struct grant g = get_grant(fx, &made.id);
    assert_true(g.pass && g.enabled && !g.revoked && !g.few_codes);
    assert_int_equal(g.type, GRANT_PASSCODE);
    assert_string_equal(g.code, "48151623");
    assert_int_equal(g.starts_us, FIXTURE_NOW + 10 * DAYS + 21 * HOURS + 30 * MINUTES);
    assert_int_equal(g.remaining_uses, 9);
    assert_int_equal(g.schedule.count, 1);
    assert_int_equal(g.schedule.windows[0].days, 4);
    assert_int_equal(g.schedule.windows[0].start_minute, 22 * 60);
    assert_int_equal(g.schedule.windows[0].end_minute, 6 * 60);
    assert_true(str_eq(g.schedule.timezone, STR("Europe/Madrid")) && str_eq(g.note, STR("Ströme 北")));
    fixture_expect(fx, "SELECT count(*) FROM access_grant", "0\n");
}

/* PASS-1 */
static void test_a_repeated_creation_makes_no_second_pass(void **state)
{
    struct building_fixture *fx = *state;
    struct grant first, again;
    bool replayed;
    const struct pass_input in = {.label = text("Once")}, other = {.label = text("Other")};
    assert_int_equal(make_pass(fx, in, "my-key-0123456789", &first, &replayed), ERR_NONE);
    assert_false(replayed);
    assert_int_equal(make_pass(fx, in, "my-key-0123456789", &again, &replayed), ERR_NONE);
    assert_true(replayed && id_equal(&first.id, &again.id));
    assert_string_equal(first.code, again.code);
    assert_int_equal(make_pass(fx, other, "my-key-0123456789", &again, &replayed), ERR_IDEMPOTENCY_CONFLICT);
    fixture_expect(fx, "SELECT count(*) FROM pass", "1\n");
    const struct grant g = add_grant(fx, (struct grant_input){.type = text("passcode")});
    assert_false(g.pass);
}

/* PASS-3 */
static void test_a_change_keeps_what_it_does_not_name(void **state)
{
    struct building_fixture *fx = *state;
    struct grant g = add_pass(
        fx, (struct pass_input){.until = text("2026-12-01T00:00:00Z"), .timezone = text("UTC"), .note = text("x")});
    const struct grant before = g;
    assert_int_equal(change_pass(fx, &g, (struct pass_input){.windows = one_window(fx, "monday", "09:00", "10:00")}),
                     ERR_NONE);
    g = get_grant(fx, &g.id);
    assert_int_equal(g.version, 1);
    assert_int_equal(g.schedule.count, 1);
    assert_string_equal(g.code, before.code);
    assert_true(g.ends_us == before.ends_us && str_eq(g.note, STR("x")));
    assert_int_equal(change_pass(fx, &g, (struct pass_input){.until = v_null(), .windows = v_null()}), ERR_NONE);
    assert_true(g.ends_us == GRANT_NO_END && g.schedule.count == 0);
    struct grant stale = before;
    assert_int_equal(change_pass(fx, &stale, (struct pass_input){.label = text("y")}), ERR_VERSION_CONFLICT);
}

/* PASS-9 */
static void test_a_calendar_without_a_time_to_come_is_refused(void **state)
{
    struct building_fixture *fx = *state;
    struct grant g;
    bool replayed;
    /* The window begins at the very moment of the end, which is excluded. */
    struct pass_input in = {.label = text("x"),
                            .until = text("2026-11-20T12:00:00Z"),
                            .windows = one_window(fx, "friday", "12:00", "13:00"),
                            .timezone = text("UTC")};
    assert_int_equal(make_pass(fx, in, "my-key-0123456789", &g, &replayed), ERR_INVALID_UNLOCK);
    assert_true(str_starts(fx->tx.why, STR("windows must have a time")));
    in.until = text("2026-11-20T12:00:01Z");
    assert_int_equal(make_pass(fx, in, "my-key-0123456789", &g, &replayed), ERR_NONE);
}

/* ---- codes ---- */

/* Gives the first MANY codes to passes. */
static void fill(struct building_fixture *fx)
{
    const bool sqlite = fx->fixture->config.engine == ENGINE_SQLITE;
    fixture_sql(fx, arena_printf(&fx->arena,
                                 "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
                                 "INSERT INTO pass (building_id, id, type, label, enabled, created_at, starts_at, "
                                 "ends_at, access_code, timezone, windows) SELECT '%s', CAST(%s('000000000000' || i, "
                                 "%s12) AS %s), 1, 'x', 1, 0, 0, 9223372036854775807, %s('0000' || i, %s4), 'UTC', '' "
                                 "FROM n",
                                 MANY - 1, fx->building.text, sqlite ? "substr" : "right", sqlite ? "-" : "",
                                 sqlite ? "BLOB" : "BYTEA", sqlite ? "substr" : "right", sqlite ? "-" : "")
                        .p);
}

/* PASS-6 */
static void test_the_last_codes_are_given_and_told(void **state)
{
    struct building_fixture *fx = *state;
    struct grant g;
    bool replayed, given[LEFT] = {false};
    const struct pass_input in = {.label = text("x"), .until = text("2026-12-01T00:00:00Z")};
    assert_false(add_pass(fx, in).few_codes);
    fixture_sql(fx, "DELETE FROM pass");
    fill(fx);
    for (int left = LEFT; left-- > 0;) {
        g = add_pass(fx, in);
        const int code = atoi(g.code) - MANY;
        assert_true(strlen(g.code) == 4 && code >= 0 && code < LEFT && !given[code]);
        given[code] = true;
        assert_true(g.few_codes);
        assert_int_equal(g.codes_left, left + 1);
    }
    assert_int_equal(make_pass(fx, in, "my-key-0123456789", &g, &replayed), ERR_INVALID_UNLOCK);
    assert_true(str_starts(fx->tx.why, STR("every four-digit access_code")));
    g = add_pass(fx, (struct pass_input){.until = v_null()});
    assert_int_equal(strlen(g.code), 6);
    assert_true(g.few_codes && g.codes_left == 1);
    fixture_sql(fx, "UPDATE pass SET ends_at = 1 WHERE access_code = '0007'");
    g = add_pass(fx, in);
    assert_string_equal(g.code, "0007");
}

/* PASS-6 */
static void test_codes_are_told_from_499_on(void **state)
{
    struct building_fixture *fx = *state;
    const struct pass_input in = {.until = text("2026-12-01T00:00:00Z")};
    fill(fx);
    fixture_sql(fx, "DELETE FROM pass WHERE access_code < '0495'");
    assert_false(add_pass(fx, in).few_codes);
    const struct grant g = add_pass(fx, in);
    assert_true(g.few_codes);
    assert_int_equal(g.codes_left, 499);
}

/* PASS-7 */
static void test_an_ended_pass_is_not_revived_with_a_code_that_was_given_away(void **state)
{
    struct building_fixture *fx = *state;
    struct grant old =
        add_pass(fx, (struct pass_input){.access_code = text("2580"), .until = v_str(STR("2026-11-20T10:00:00Z"))});
    fx->now_us += HOURS;
    const struct grant successor = add_pass(fx, (struct pass_input){.access_code = text("2580")});
    assert_int_equal(change_pass(fx, &old, (struct pass_input){.until = v_null()}), ERR_INVALID_UNLOCK);
    assert_true(str_starts(fx->tx.why, STR("access_code")));
    assert_int_equal(revoke_grant(fx, &successor.id), ERR_NONE);
    assert_int_equal(change_pass(fx, &old, (struct pass_input){.until = v_null()}), ERR_NONE);
}

/* ---- at the door ---- */

/* PASS-4 */
static void test_a_right_code_outside_its_window_counts_only_against_strangers(void **state)
{
    struct building_fixture *fx = *state;
    make_known(fx, VISITOR);
    add_pass(fx, (struct pass_input){.access_code = text("4711"),
                                     .windows = one_window(fx, "saturday", "09:00", "12:00"),
                                     .timezone = text("UTC")});
    for (int i = 0; i < 3 * GUARD_FAILURES; i++) {
        const struct access_decision d = enter_as(fx, VISITOR, "4711", ACCESS_KEYS);
        assert_int_equal(d.verdict, ACCESS_WRONG);
        assert_int_equal(d.reason, ACCESS_OUTSIDE_WINDOW);
        assert_int_equal(d.closing.minutes, 0);
    }
    fixture_expect(fx, "SELECT count(*) FROM door_guard", "0\n");
    for (int i = 1; i <= GUARD_FAILURES; i++) {
        const struct access_decision d = enter_as(fx, "+15559990000", "4711", ACCESS_KEYS);
        assert_int_equal(d.reason, i < GUARD_FAILURES ? ACCESS_OUTSIDE_WINDOW : ACCESS_KEYPAD_CLOSED);
    }
    assert_int_equal(enter_as(fx, "+15559990000", "4711", ACCESS_KEYS).verdict, ACCESS_FORWARD);
    assert_int_equal(enter_as(fx, VISITOR, "4711", ACCESS_KEYS).reason, ACCESS_OUTSIDE_WINDOW);
}

/* PASS-10 */
static void test_a_decision_names_the_grant_of_a_code_that_opened_nothing(void **state)
{
    struct building_fixture *fx = *state;
    const struct grant other = add_pass(fx, (struct pass_input){.access_code = text("1357")});
    const struct grant used = add_grant(
        fx, (struct grant_input){.type = text("passcode"), .access_code = text("3579"), .remaining_uses = v_int(1)});
    const struct grant later = add_pass(
        fx,
        (struct pass_input){.access_code = text("8642"), .from = text("2026-12-01T08:00"), .timezone = text("UTC")});
    const struct grant weekly = add_pass(fx, (struct pass_input){.access_code = text("7531"),
                                                                 .windows = one_window(fx, "monday", "09:00", "10:00"),
                                                                 .until = text("2026-11-24T00:00:00Z"),
                                                                 .timezone = text("America/New_York")});
    assert_int_equal(enter_as(fx, VISITOR, "3579", ACCESS_KEYS).verdict, ACCESS_RELEASE);
    struct access_decision d = enter_as(fx, VISITOR, "3579", ACCESS_KEYS);
    assert_int_equal(d.reason, ACCESS_WRONG_CODE);
    assert_int_equal(d.near_count, 1);
    assert_true(id_equal(&d.near[0].grant_id, &used.id) && d.near[0].why == NEAR_USED_UP && !d.near[0].opens_us);
    d = enter_as(fx, VISITOR, "8642", ACCESS_KEYS);
    assert_true(id_equal(&d.near[0].grant_id, &later.id) && d.near[0].why == NEAR_NOT_BEGUN);
    assert_int_equal(d.near[0].opens_us, later.starts_us);
    d = enter_as(fx, VISITOR, "7531", ACCESS_KEYS);
    assert_true(id_equal(&d.near[0].grant_id, &weekly.id) && d.near[0].why == NEAR_OUTSIDE_WINDOW);
    assert_int_equal(d.near[0].opens_us, FIXTURE_NOW + 3 * DAYS + 4 * HOURS + 30 * MINUTES);
    d = enter_as(fx, VISITOR, "9998", ACCESS_KEYS);
    assert_int_equal(d.near_count, 0);
    assert_false(d.opening.p);
    /* After its last window there is no next one. */
    fx->now_us += 3 * DAYS + 6 * HOURS;
    d = enter_as(fx, VISITOR, "7531", ACCESS_KEYS);
    assert_true(d.near[0].why == NEAR_OUTSIDE_WINDOW && !d.near[0].opens_us);
    (void)other;
}

/* PASS-10 */
static void test_a_visitor_hears_of_a_right_code_alone_and_only_if_wanted(void **state)
{
    struct building_fixture *fx = *state;
    make_known(fx, VISITOR);
    add_pass(fx, (struct pass_input){.access_code = text("4711"),
                                     .windows = one_window(fx, "saturday", "09:00", "12:00"),
                                     .timezone = text("UTC")});
    assert_false(enter_as(fx, VISITOR, "4711", ACCESS_KEYS).opening.p);
    say_opening(fx);
    struct access_decision d = enter_as(fx, VISITOR, "4711", ACCESS_KEYS);
    assert_true(str_eq(d.opening, STR("This code opens tomorrow at nine in the morning.")));
    assert_false(enter_as(fx, VISITOR, "4712", ACCESS_KEYS).opening.p);
    fx->now_us += DAYS; /* Saturday, 9:30 */
    assert_int_equal(enter_as(fx, VISITOR, "4711", ACCESS_KEYS).verdict, ACCESS_RELEASE);
    fx->now_us += 3 * HOURS;
    d = enter_as(fx, VISITOR, "4711", ACCESS_KEYS);
    assert_true(str_eq(d.opening, STR("This code opens on November twenty-eighth at nine in the morning.")));
}

/* PASS-10 */
static void test_an_opening_is_said_in_words(void **state)
{
    struct building_fixture *fx = *state;
    static const struct {
        const char *now, *opens, *zone, *says;
    } cases[] = {
        {"2026-11-20T06:00:00Z", "2026-11-20T08:00:00Z", "Europe/Berlin", "at nine in the morning."},
        {"2026-11-20T06:00:00Z", "2026-11-20T13:05:00Z", "UTC", "at one oh five in the afternoon."},
        {"2026-11-20T06:00:00Z", "2026-11-20T21:30:00Z", "UTC", "at nine thirty in the evening."},
        {"2026-11-20T06:00:00Z", "2026-11-20T12:00:00Z", "UTC", "at noon."},
        {"2026-11-20T06:00:00Z", "2026-11-21T00:00:00Z", "UTC", "tomorrow at midnight."},
        {"2026-11-20T06:00:00Z", "2026-11-21T00:20:00Z", "UTC", "tomorrow at twelve twenty in the morning."},
        {"2026-11-20T23:30:00Z", "2026-11-21T10:45:00Z", "Asia/Tokyo", "at seven forty-five in the evening."},
        {"2026-11-20T06:00:00Z", "2026-11-24T12:15:00Z", "UTC", "on Tuesday at twelve fifteen in the afternoon."},
        {"2026-11-20T06:00:00Z", "2026-11-27T09:00:00Z", "UTC", "on November twenty-seventh at nine in the morning."},
        {"2026-11-20T06:00:00Z", "2028-02-29T09:00:00Z", "UTC", "on February twenty-ninth at nine in the morning."},
        /* The day of 25 hours in New York: tomorrow is the next date, however many hours away. */
        {"2026-11-01T04:10:00Z", "2026-11-02T04:59:00Z", "America/New_York", "at eleven fifty-nine in the evening."},
        {"2026-11-01T04:10:00Z", "2026-11-02T05:00:00Z", "America/New_York", "tomorrow at midnight."},
        {"2026-12-31T12:00:00Z", "2027-01-01T12:00:00Z", "UTC", "tomorrow at noon."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t now_us;
        struct access_near near = {.timezone = str_z(cases[i].zone)};
        assert_true(time_parse(str_z(cases[i].now), &now_us) && time_parse(str_z(cases[i].opens), &near.opens_us));
        const struct str said = opening_text(&near, now_us, &fx->arena);
        assert_string_equal(arena_printf(&fx->arena, "%.*s", STR_ARG(said)).p,
                            arena_printf(&fx->arena, "This code opens %s", cases[i].says).p);
        assert_int_equal(strcspn(said.p, "0123456789"), said.n);
    }
    const struct access_near never = {.timezone = STR("UTC")}, nowhere = {.opens_us = 1, .timezone = STR("x")};
    assert_false(opening_text(&never, FIXTURE_NOW, &fx->arena).p);
    assert_false(opening_text(&nowhere, FIXTURE_NOW, &fx->arena).p);
}

static void test_a_next_opening_is_written_with_the_offset_of_its_zone(void **state)
{
    (void)state;
    static const struct {
        const char *at, *zone, *text;
    } cases[] = {
        {"2026-12-01T08:00:00Z", "Europe/Berlin", "2026-12-01T09:00:00+01:00"},
        {"2026-07-01T08:00:00Z", "America/St_Johns", "2026-07-01T05:30:00-02:30"},
        {"2026-12-01T08:00:00Z", "", "2026-12-01T08:00:00+00:00"},
        {"2026-12-01T07:59:59.000001Z", "UTC", "2026-12-01T08:00:00+00:00"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char written[SCHEDULE_TIME_TEXT_MAX];
        int64_t at_us;
        assert_true(time_parse(str_z(cases[i].at), &at_us));
        schedule_time_format(str_z(cases[i].zone), at_us, written);
        assert_string_equal(written, cases[i].text);
    }
}

static enum err forget_run(struct tx *tx, void *arg)
{
    return grant_forget(tx, tx->now_us, 10, arg);
}

/* GRANT-39 */
static void test_a_pass_that_ended_long_ago_loses_label_note_and_code(void **state)
{
    struct building_fixture *fx = *state;
    int64_t count = -1;
    const struct grant ended = add_pass(fx, (struct pass_input){.label = text("Kim"),
                                                                .note = text("Her sister"),
                                                                .until = text("2026-11-21T00:00:00Z"),
                                                                .timezone = text("UTC")});
    const struct grant live = add_pass(fx, (struct pass_input){.label = text("Ana"), .access_code = text("48151623")});
    fx->now_us += 30 * DAYS;
    assert_int_equal(fixture_run(fx, STORE_WRITE, forget_run, &count), ERR_NONE);
    assert_int_equal(count, 1);
    const struct grant g = get_grant(fx, &ended.id);
    assert_true(str_eq(g.label, STR("pass")));
    assert_string_equal(g.code, "");
    assert_null(g.note.p);
    fixture_expect(fx, "SELECT label FROM pass ORDER BY label", "\nAna\n");
    assert_string_equal(get_grant(fx, &live.id).code, "48151623");
}

#define TESTS(T)                                                                                                       \
    T(test_a_created_pass_is_read_back), T(test_a_repeated_creation_makes_no_second_pass),                             \
        T(test_a_change_keeps_what_it_does_not_name), T(test_a_calendar_without_a_time_to_come_is_refused),            \
        T(test_the_last_codes_are_given_and_told), T(test_codes_are_told_from_499_on),                                 \
        T(test_an_ended_pass_is_not_revived_with_a_code_that_was_given_away),                                          \
        T(test_a_right_code_outside_its_window_counts_only_against_strangers),                                         \
        T(test_a_decision_names_the_grant_of_a_code_that_opened_nothing),                                              \
        T(test_a_visitor_hears_of_a_right_code_alone_and_only_if_wanted), T(test_an_opening_is_said_in_words),         \
        T(test_a_next_opening_is_written_with_the_offset_of_its_zone),                                                 \
        T(test_a_pass_that_ended_long_ago_loses_label_note_and_code)

FIXTURE_RUN(TESTS)
