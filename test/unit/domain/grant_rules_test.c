#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "domain/grant_rules.h"

#define NOW     (1795167000LL * US_PER_S) /* 2026-11-20T09:30:00Z */
#define MINUTES (60 * US_PER_S)
#define HOURS   (60 * MINUTES)
#define DAYS    (24 * HOURS)

static struct arena arena;
static struct tx tx;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, NULL, 0);
    tx = (struct tx){.arena = &arena, .now_us = NOW};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static struct val s(const char *z)
{
    return v_str(str_z(z));
}

/* "monday tuesday" */
static struct val day_list(const char *names)
{
    struct val *list = arena_array(&arena, struct val, 10);
    size_t n = 0;
    struct str rest = str_z(names);
    while (rest.p)
        list[n++] = v_str(str_cut(rest, ' ', &rest));
    return v_list(list, n);
}

struct refused {
    struct grant_input in;
    const char *why;
};

static void check_why(size_t i, enum err e, const char *why)
{
    if (e == ERR_NONE)
        fail_msg("case %zu passed, it should be refused: %s", i, why);
    if (!str_eq(tx.why, str_z(why)))
        fail_msg("case %zu says \"%.*s\", not \"%s\"", i, STR_ARG(tx.why), why);
}

/* ---- creation ---- */

/* GRANT-2, GRANT-4 */
static void test_creation_refuses_invalid_input(void **state)
{
    (void)state;
    const struct val timer = s("timer"), passcode = s("passcode"), routine = s("routine"), hour = v_int(60);
    const struct val days = day_list("monday"), nine = s("09:00"), ten = s("10:00"), zone = s("Europe/Berlin");
    const struct refused cases[] = {
        {{.type = timer}, "a timer needs expires_in_minutes or ends_at"},
        {{.type = timer, .expires_in_minutes = hour, .ends_at = v_time(NOW + HOURS)},
         "expires_in_minutes and ends_at cannot be given together"},
        {{.type = passcode, .expires_in_minutes = hour, .ends_at = v_time(NOW + HOURS)},
         "expires_in_minutes and ends_at cannot be given together"},
        {{.type = timer, .ends_at = v_null()}, "ends_at cannot be null on a timer"},
        {{.type = timer, .ends_at = v_time(NOW)}, "ends_at must be later than now"},
        {{.type = timer, .ends_at = v_time(NOW - HOURS), .starts_at = v_time(NOW - 2 * HOURS)},
         "ends_at must be later than now"},
        {{.type = timer, .ends_at = v_time(NOW + HOURS), .starts_at = v_time(NOW + HOURS)},
         "ends_at must be later than starts_at"},
        {{.type = timer, .ends_at = v_time(NOW + 7 * DAYS + 1)}, "ends_at must be at most seven days after starts_at"},
        {{.type = timer, .ends_at = v_time(NOW + 8 * DAYS + 1), .starts_at = v_time(NOW + DAYS)},
         "ends_at must be at most seven days after starts_at"},
        {{.type = timer, .expires_in_minutes = hour, .starts_at = v_time(NOW + 365 * DAYS + 1)},
         "starts_at must be at most 365 days ahead"},
        {{.type = passcode, .ends_at = v_time(NOW)}, "ends_at must be later than now"},
        {{.type = passcode, .ends_at = v_time(NOW + 7 * DAYS + 1)}, "ends_at must be at most seven days ahead"},
        {{.type = passcode, .access_code = s("1")}, "access_code must not be the single digit 1"},
        {{.type = passcode, .access_code = s("")}, "access_code must be 1 to 4 digits"},
        {{.type = passcode, .access_code = s("12345")}, "access_code must be 1 to 4 digits"},
        {{.type = passcode, .access_code = s("12a")}, "access_code must be 1 to 4 digits"},
        {{.type = timer, .expires_in_minutes = hour, .access_code = s("1234")},
         "access_code is not a field of a timer"},
        {{.type = timer, .expires_in_minutes = hour, .enter_code_with_voice = v_bool(false)},
         "enter_code_with_voice is not a field of a timer"},
        {{.type = timer, .expires_in_minutes = hour, .days = days}, "days is not a field of a timer"},
        {{.type = passcode, .starts_at = v_time(NOW)}, "starts_at is not a field of a passcode"},
        {{.type = passcode, .timezone = zone}, "timezone is not a field of a passcode"},
        {{.type = routine, .days = days, .start = nine, .end = ten, .timezone = zone, .remaining_uses = v_int(1)},
         "remaining_uses is not a field of a routine"},
        {{.type = routine, .days = days, .start = nine, .end = ten, .timezone = zone, .remaining_uses = v_null()},
         "remaining_uses is not a field of a routine"},
        {{.type = routine, .days = days, .start = nine, .end = ten, .timezone = zone, .expires_in_minutes = hour},
         "expires_in_minutes is not a field of a routine"},
        {{.type = routine, .days = days, .start = nine, .end = ten, .timezone = zone, .ends_at = v_time(NOW + HOURS)},
         "ends_at is not a field of a routine"},
        {{.type = routine, .start = nine, .end = ten, .timezone = zone},
         "a routine needs days, start, end and timezone"},
        {{.type = routine, .days = days, .end = ten, .timezone = zone},
         "a routine needs days, start, end and timezone"},
        {{.type = routine, .days = days, .start = nine, .timezone = zone},
         "a routine needs days, start, end and timezone"},
        {{.type = routine, .days = days, .start = nine, .end = ten}, "a routine needs days, start, end and timezone"},
        {{.type = routine, .days = day_list("monday tuesday"), .start = nine, .end = ten, .timezone = zone},
         "days must be one day, all five weekdays, both weekend days, or all seven days"},
        {{.type = routine, .days = day_list("monday MONDAY"), .start = nine, .end = ten, .timezone = zone},
         "days must not name a day twice"},
        {{.type = routine, .days = day_list("someday"), .start = nine, .end = ten, .timezone = zone},
         "days must be day names from sunday to saturday"},
        {{.type = routine, .days = days, .start = ten, .end = ten, .timezone = zone},
         "end must be later than start, on the same day"},
        {{.type = routine, .days = days, .start = ten, .end = nine, .timezone = zone},
         "end must be later than start, on the same day"},
        {{.type = routine, .days = days, .start = s("24:00"), .end = ten, .timezone = zone},
         "start must be a time of day as HH:MM"},
        {{.type = routine, .days = days, .start = nine, .end = s("9"), .timezone = zone},
         "end must be a time of day as HH:MM"},
        {{.type = routine, .days = days, .start = nine, .end = ten, .timezone = s("Mars/Olympus")},
         "timezone must be an IANA time zone name such as America/New_York"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct grant g = {.version = 77};
        tx.why = STR_NONE;
        enum err e = grant_rules_create(&tx, &cases[i].in, &g);
        check_why(i, e, cases[i].why);
        assert_int_equal(e, ERR_INVALID_UNLOCK);
        assert_int_equal(g.version, 77); /* unchanged */
    }
}

static void test_creation_needs_a_known_type(void **state)
{
    (void)state;
    struct grant g;
    assert_int_equal(grant_rules_create(&tx, &(struct grant_input){.expires_in_minutes = v_int(5)}, &g),
                     ERR_INVALID_TYPE);
    assert_int_equal(grant_rules_create(&tx, &(struct grant_input){.type = s("gate")}, &g), ERR_INVALID_TYPE);
}

static struct grant create(struct grant_input in)
{
    struct grant g;
    tx.why = STR_NONE;
    enum err e = grant_rules_create(&tx, &in, &g);
    if (e)
        fail_msg("refused: %.*s", STR_ARG(tx.why));
    return g;
}

/* GRANT-3 */
static void test_a_timer_starts_now_by_default(void **state)
{
    (void)state;
    struct grant g = create((struct grant_input){.type = s("timer"), .expires_in_minutes = v_int(30)});
    assert_int_equal(g.starts_us, NOW);
    assert_int_equal(g.ends_us, NOW + 30 * MINUTES);
    assert_int_equal(g.remaining_uses, GRANT_UNLIMITED);
    assert_true(g.enabled);
    assert_int_equal(grant_status(&g, NOW), GRANT_ACTIVE);

    g = create(
        (struct grant_input){.type = s("timer"), .starts_at = v_time(NOW - DAYS), .ends_at = v_time(NOW + 7 * DAYS)});
    assert_int_equal(g.starts_us, NOW); /* a start in the past becomes now */
    assert_int_equal(g.ends_us, NOW + 7 * DAYS);
}

/* GRANT-1 */
static void test_a_scheduled_timer_counts_its_minutes_from_its_start(void **state)
{
    (void)state;
    const struct grant g = create((struct grant_input){.type = s("timer"),
                                                       .starts_at = v_time(NOW + 365 * DAYS),
                                                       .expires_in_minutes = v_int(GRANT_MINUTES_MAX),
                                                       .remaining_uses = v_int(3)});
    assert_int_equal(g.starts_us, NOW + 365 * DAYS);
    assert_int_equal(g.ends_us, NOW + 372 * DAYS);
    assert_int_equal(g.remaining_uses, 3);
    assert_int_equal(grant_status(&g, NOW), GRANT_SCHEDULED);
}

/* GRANT-5 */
static void test_a_passcode_may_have_no_end(void **state)
{
    (void)state;
    struct grant g = create((struct grant_input){.type = s("passcode")});
    assert_int_equal(g.ends_us, GRANT_NO_END);
    assert_string_equal(g.code, "");
    assert_false(g.voice);
    g = create((struct grant_input){.type = s("passcode"),
                                    .access_code = s("007"),
                                    .enter_code_with_voice = v_bool(true),
                                    .expires_in_minutes = v_int(1),
                                    .remaining_uses = v_null()});
    assert_string_equal(g.code, "007");
    assert_true(g.voice);
    assert_int_equal(g.ends_us, NOW + MINUTES);
    assert_int_equal(g.remaining_uses, GRANT_UNLIMITED);
}

static void test_every_code_of_one_to_four_digits_but_1_is_accepted(void **state)
{
    (void)state;
    static const char *const codes[] = {"0", "2", "9", "00", "01", "11", "10", "111", "0000", "0001", "9999"};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        assert_string_equal(create((struct grant_input){.type = s("passcode"), .access_code = s(codes[i])}).code,
                            codes[i]);
}

static void test_a_label_defaults_to_the_type(void **state)
{
    (void)state;
    assert_true(str_eq(create((struct grant_input){.type = s("passcode")}).label, STR("passcode")));
    assert_true(str_eq(create((struct grant_input){.type = s("passcode"), .label = s("")}).label, STR("passcode")));
    assert_true(str_eq(create((struct grant_input){.type = s("passcode"), .label = s("Ana")}).label, STR("Ana")));
}

/* GRANT-7 */
static void test_every_type_can_be_created_disabled(void **state)
{
    (void)state;
    const struct grant timer =
        create((struct grant_input){.type = s("timer"), .expires_in_minutes = v_int(5), .enabled = v_bool(false)});
    assert_int_equal(grant_status(&timer, NOW), GRANT_INACTIVE);
    assert_int_equal(timer.ends_us, NOW + 5 * MINUTES);
    const struct grant passcode = create((struct grant_input){.type = s("passcode"), .enabled = v_bool(false)});
    assert_int_equal(grant_status(&passcode, NOW), GRANT_INACTIVE);
}

static void test_a_routine_keeps_its_schedule(void **state)
{
    (void)state;
    const struct grant g = create((struct grant_input){.type = s("routine"),
                                                       .days = day_list("Friday monday TUESDAY wednesday thursday"),
                                                       .start = s("08:05"),
                                                       .end = s("17:30"),
                                                       .timezone = s("America/Toronto")});
    assert_int_equal(g.schedule.windows[0].days, 0x3e);
    assert_int_equal(g.schedule.windows[0].start_minute, 485);
    assert_int_equal(g.schedule.windows[0].end_minute, 1050);
    assert_true(str_eq(g.schedule.timezone, STR("America/Toronto")));
    assert_int_equal(grant_status(&g, NOW), GRANT_ACTIVE); /* inside and outside its window */
}

/* ---- updates ---- */

static struct grant timer_grant(void)
{
    return (struct grant){.type = GRANT_TIMER,
                          .enabled = true,
                          .label = STR("Cleaner"),
                          .remaining_uses = 2,
                          .starts_us = NOW - HOURS,
                          .ends_us = NOW + HOURS};
}

static struct grant passcode_grant(void)
{
    return (struct grant){.type = GRANT_PASSCODE,
                          .enabled = true,
                          .label = STR("Guest"),
                          .code = "4321",
                          .remaining_uses = GRANT_UNLIMITED,
                          .ends_us = GRANT_NO_END};
}

static struct grant routine_grant(void)
{
    return (struct grant){.type = GRANT_ROUTINE,
                          .enabled = true,
                          .label = STR("Mail"),
                          .remaining_uses = GRANT_UNLIMITED,
                          .ends_us = GRANT_NO_END,
                          .schedule = {.count = 1, .windows = {{2, 540, 600}}, .timezone = STR("UTC")}};
}

static void test_an_update_refuses_invalid_input(void **state)
{
    (void)state;
    const struct val on = v_bool(true), off = v_bool(false), hour = v_int(60);
    const struct {
        struct grant of;
        struct grant_input in;
        const char *why;
    } cases[] = {
        {timer_grant(), {.enabled = on}, "enabled true needs expires_in_minutes or ends_at on a timer"},
        {timer_grant(),
         {.enabled = on, .starts_at = v_time(NOW + 1)},
         "enabled true needs expires_in_minutes or ends_at on a timer"},
        {timer_grant(),
         {.enabled = off, .expires_in_minutes = hour},
         "enabled false ends a timer now: starts_at, expires_in_minutes and ends_at cannot be given with it"},
        {timer_grant(),
         {.enabled = off, .starts_at = v_time(NOW)},
         "enabled false ends a timer now: starts_at, expires_in_minutes and ends_at cannot be given with it"},
        {timer_grant(), {.ends_at = v_null()}, "ends_at cannot be null on a timer"},
        {timer_grant(),
         {.ends_at = v_time(NOW + HOURS), .expires_in_minutes = hour},
         "expires_in_minutes and ends_at cannot be given together"},
        {timer_grant(), {.ends_at = v_time(NOW)}, "ends_at must be later than now"},
        {timer_grant(), {.ends_at = v_time(NOW + 7 * DAYS + 1)}, "ends_at must be at most seven days after starts_at"},
        {timer_grant(), {.starts_at = v_time(NOW + HOURS)}, "ends_at must be later than starts_at"},
        {timer_grant(),
         {.starts_at = v_time(NOW + 366 * DAYS), .expires_in_minutes = hour},
         "starts_at must be at most 365 days ahead"},
        {timer_grant(), {.access_code = s("1234")}, "access_code is not a field of a timer"},
        {timer_grant(), {.start = s("09:00"), .end = s("10:00")}, "start is not a field of a timer"},
        {passcode_grant(), {.starts_at = v_time(NOW)}, "starts_at is not a field of a passcode"},
        {passcode_grant(), {.access_code = s("1")}, "access_code must not be the single digit 1"},
        {passcode_grant(), {.ends_at = v_time(NOW)}, "ends_at must be later than now"},
        {passcode_grant(), {.ends_at = v_time(NOW + 8 * DAYS)}, "ends_at must be at most seven days ahead"},
        {passcode_grant(),
         {.ends_at = v_null(), .expires_in_minutes = hour},
         "expires_in_minutes and ends_at cannot be given together"},
        {routine_grant(), {.start = s("09:00")}, "start and end must be given together"},
        {routine_grant(), {.end = s("09:00")}, "start and end must be given together"},
        {routine_grant(), {.start = s("09:00"), .end = s("08:59")}, "end must be later than start, on the same day"},
        {routine_grant(),
         {.days = day_list("sunday monday")},
         "days must be one day, all five weekdays, both weekend days, or all seven days"},
        {routine_grant(), {.timezone = s("UTC0")}, "timezone must be an IANA time zone name such as America/New_York"},
        {routine_grant(), {.remaining_uses = v_null()}, "remaining_uses is not a field of a routine"},
        {routine_grant(), {.ends_at = v_null()}, "ends_at is not a field of a routine"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct grant g = cases[i].of;
        tx.why = STR_NONE;
        enum err e = grant_rules_update(&tx, &cases[i].in, &g);
        check_why(i, e, cases[i].why);
        assert_int_equal(e, ERR_INVALID_UNLOCK);
    }
}

static struct grant update(struct grant g, struct grant_input in)
{
    tx.why = STR_NONE;
    enum err e = grant_rules_update(&tx, &in, &g);
    if (e)
        fail_msg("refused: %.*s", STR_ARG(tx.why));
    return g;
}

/* GRANT-16 */
static void test_a_timer_that_is_switched_off_ends_now(void **state)
{
    (void)state;
    struct grant g = update(timer_grant(), (struct grant_input){.enabled = v_bool(false)});
    assert_int_equal(g.ends_us, NOW);
    assert_int_equal(grant_status(&g, NOW + DAYS), GRANT_INACTIVE); /* not expired */

    g = timer_grant();
    g.ends_us = NOW - MINUTES;
    g = update(g, (struct grant_input){.enabled = v_bool(false)});
    assert_int_equal(g.ends_us, NOW - MINUTES); /* it ended before */
}

static void test_a_timer_that_is_switched_on_restarts(void **state)
{
    (void)state;
    struct grant off = update(timer_grant(), (struct grant_input){.enabled = v_bool(false)});
    tx.now_us = NOW + DAYS;
    struct grant g = update(off, (struct grant_input){.enabled = v_bool(true), .expires_in_minutes = v_int(10)});
    assert_int_equal(g.starts_us, NOW + DAYS);
    assert_int_equal(g.ends_us, NOW + DAYS + 10 * MINUTES);
    assert_int_equal(grant_status(&g, tx.now_us), GRANT_ACTIVE);

    off.starts_us = NOW + 3 * DAYS; /* it was scheduled */
    g = update(off, (struct grant_input){.enabled = v_bool(true), .ends_at = v_time(NOW + 2 * DAYS)});
    assert_int_equal(g.starts_us, NOW + DAYS);
    assert_int_equal(grant_status(&g, tx.now_us), GRANT_ACTIVE);

    g = update(off, (struct grant_input){
                        .enabled = v_bool(true), .starts_at = v_time(NOW + 2 * DAYS), .expires_in_minutes = v_int(10)});
    assert_int_equal(grant_status(&g, tx.now_us), GRANT_SCHEDULED);
    assert_int_equal(g.ends_us, NOW + 2 * DAYS + 10 * MINUTES);
}

static void test_switching_on_a_timer_that_is_on_moves_its_end_only(void **state)
{
    (void)state;
    const struct grant g =
        update(timer_grant(), (struct grant_input){.enabled = v_bool(true), .expires_in_minutes = v_int(5)});
    assert_int_equal(g.starts_us, NOW - HOURS);
    assert_int_equal(g.ends_us, NOW + 5 * MINUTES);
}

static void test_an_end_alone_moves_the_end_and_is_stored_on_a_timer_that_is_off(void **state)
{
    (void)state;
    struct grant g = update(timer_grant(), (struct grant_input){.ends_at = v_time(NOW + 7 * DAYS)});
    assert_int_equal(g.ends_us, NOW + 7 * DAYS);
    assert_int_equal(g.starts_us, NOW - HOURS);
    g.enabled = false;
    g = update(g, (struct grant_input){.expires_in_minutes = v_int(2)});
    assert_int_equal(g.ends_us, NOW + 2 * MINUTES);
    assert_int_equal(grant_status(&g, NOW), GRANT_INACTIVE);
}

/* GRANT-15 */
static void test_a_later_end_or_more_uses_reactivate_a_grant(void **state)
{
    (void)state;
    struct grant g = timer_grant();
    g.ends_us = NOW - 1;
    assert_int_equal(grant_status(&g, NOW), GRANT_EXPIRED);
    g = update(g, (struct grant_input){.expires_in_minutes = v_int(1)});
    assert_int_equal(grant_status(&g, NOW), GRANT_ACTIVE);
    g.remaining_uses = 0;
    assert_int_equal(grant_status(&g, NOW), GRANT_EXHAUSTED);
    g = update(g, (struct grant_input){.remaining_uses = v_int(100)});
    assert_int_equal(g.remaining_uses, 100);
    assert_int_equal(grant_status(&g, NOW), GRANT_ACTIVE);
    g = update(g, (struct grant_input){.remaining_uses = v_null()});
    assert_int_equal(g.remaining_uses, GRANT_UNLIMITED);
}

static void test_uses_can_be_set_while_a_timer_is_switched_off(void **state)
{
    (void)state;
    const struct grant g = update(
        timer_grant(), (struct grant_input){.enabled = v_bool(false), .remaining_uses = v_int(9), .label = s("x")});
    assert_int_equal(g.remaining_uses, 9);
    assert_true(str_eq(g.label, STR("x")));
}

static void test_a_start_alone_moves_the_start(void **state)
{
    (void)state;
    const struct grant g = update(timer_grant(), (struct grant_input){.starts_at = v_time(NOW + 30 * MINUTES)});
    assert_int_equal(g.starts_us, NOW + 30 * MINUTES);
    assert_int_equal(g.ends_us, NOW + HOURS);
    assert_int_equal(grant_status(&g, NOW), GRANT_SCHEDULED);
}

static void test_a_passcode_changes_field_by_field(void **state)
{
    (void)state;
    struct grant g = update(passcode_grant(), (struct grant_input){.access_code = s("77"), .label = s("")});
    assert_string_equal(g.code, "77");
    assert_true(str_eq(g.label, STR("passcode")));
    assert_int_equal(g.ends_us, GRANT_NO_END);
    g = update(g, (struct grant_input){.ends_at = v_time(NOW + DAYS), .enter_code_with_voice = v_bool(true)});
    assert_int_equal(g.ends_us, NOW + DAYS);
    assert_true(g.voice);
    g = update(g, (struct grant_input){.expires_in_minutes = v_int(3), .enabled = v_bool(false)});
    assert_int_equal(g.ends_us, NOW + 3 * MINUTES);
    assert_int_equal(grant_status(&g, NOW), GRANT_INACTIVE);
    g = update(g, (struct grant_input){.ends_at = v_null()});
    assert_int_equal(g.ends_us, GRANT_NO_END);
    assert_string_equal(g.code, "77");
}

static void test_a_routine_changes_field_by_field(void **state)
{
    (void)state;
    struct grant g = update(routine_grant(), (struct grant_input){.days = day_list("saturday sunday")});
    assert_int_equal(g.schedule.windows[0].days, 0x41);
    assert_int_equal(g.schedule.windows[0].start_minute, 540);
    g = update(g, (struct grant_input){.start = s("00:00"), .end = s("23:59")});
    assert_int_equal(g.schedule.windows[0].start_minute, 0);
    assert_int_equal(g.schedule.windows[0].end_minute, 1439);
    assert_int_equal(g.schedule.windows[0].days, 0x41);
    g = update(g, (struct grant_input){.timezone = s("Asia/Tokyo"), .enabled = v_bool(false)});
    assert_true(str_eq(g.schedule.timezone, STR("Asia/Tokyo")));
    assert_int_equal(grant_status(&g, NOW), GRANT_INACTIVE);
    assert_int_equal(grant_status(&(struct grant){.enabled = true, .remaining_uses = -1, .ends_us = GRANT_NO_END}, NOW),
                     GRANT_ACTIVE);
}

static void test_an_update_without_fields_is_empty(void **state)
{
    (void)state;
    assert_false(v_any_given(&(struct grant_input){0}, sizeof(struct grant_input)));
    assert_true(v_any_given(&(struct grant_input){.timezone = v_null()}, sizeof(struct grant_input)));
    assert_true(v_any_given(&(struct grant_input){.label = s("")}, sizeof(struct grant_input)));
}

/* ---- status, for every combination of its inputs ---- */

/* GRANT-14 */
static void test_exactly_one_status_holds_in_the_order_of_precedence(void **state)
{
    (void)state;
    static const int64_t ends[] = {NOW - 1, NOW, NOW + 1, GRANT_NO_END}, starts[] = {0, NOW - 1, NOW, NOW + 1};
    static const int uses[] = {GRANT_UNLIMITED, 0, 1, 100};
    for (unsigned n = 0; n < 4 * 4 * 4 * 4; n++) {
        const struct grant g = {.revoked = n & 1,
                                .enabled = n >> 1 & 1,
                                .remaining_uses = uses[n >> 2 & 3],
                                .ends_us = ends[n >> 4 & 3],
                                .starts_us = starts[n >> 6 & 3]};
        const bool exhausted = g.remaining_uses == 0, expired = g.ends_us <= NOW, ahead = g.starts_us > NOW;
        const bool is[] = {
            [GRANT_REVOKED] = g.revoked,
            [GRANT_INACTIVE] = !g.revoked && !g.enabled,
            [GRANT_EXHAUSTED] = !g.revoked && g.enabled && exhausted,
            [GRANT_EXPIRED] = !g.revoked && g.enabled && !exhausted && expired,
            [GRANT_SCHEDULED] = !g.revoked && g.enabled && !exhausted && !expired && ahead,
            [GRANT_ACTIVE] = !g.revoked && g.enabled && !exhausted && !expired && !ahead,
        };
        assert_int_equal(is[0] + is[1] + is[2] + is[3] + is[4] + is[5], 1);
        assert_true(is[grant_status(&g, NOW)]);
    }
}

static void test_status_only_moves_forward_with_time(void **state)
{
    (void)state;
    const struct grant g = {.enabled = true, .remaining_uses = 1, .starts_us = NOW + 10, .ends_us = NOW + 20};
    for (int64_t at = NOW; at < NOW + 30; at++)
        assert_int_equal(grant_status(&g, at), at < NOW + 10   ? GRANT_SCHEDULED
                                               : at < NOW + 20 ? GRANT_ACTIVE
                                                               : GRANT_EXPIRED);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_creation_refuses_invalid_input),
        TEST(test_creation_needs_a_known_type),
        TEST(test_a_timer_starts_now_by_default),
        TEST(test_a_scheduled_timer_counts_its_minutes_from_its_start),
        TEST(test_a_passcode_may_have_no_end),
        TEST(test_every_code_of_one_to_four_digits_but_1_is_accepted),
        TEST(test_a_label_defaults_to_the_type),
        TEST(test_every_type_can_be_created_disabled),
        TEST(test_a_routine_keeps_its_schedule),
        TEST(test_an_update_refuses_invalid_input),
        TEST(test_a_timer_that_is_switched_off_ends_now),
        TEST(test_a_timer_that_is_switched_on_restarts),
        TEST(test_switching_on_a_timer_that_is_on_moves_its_end_only),
        TEST(test_an_end_alone_moves_the_end_and_is_stored_on_a_timer_that_is_off),
        TEST(test_a_later_end_or_more_uses_reactivate_a_grant),
        TEST(test_uses_can_be_set_while_a_timer_is_switched_off),
        TEST(test_a_start_alone_moves_the_start),
        TEST(test_a_passcode_changes_field_by_field),
        TEST(test_a_routine_changes_field_by_field),
        TEST(test_an_update_without_fields_is_empty),
        TEST(test_exactly_one_status_holds_in_the_order_of_precedence),
        TEST(test_status_only_moves_forward_with_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
