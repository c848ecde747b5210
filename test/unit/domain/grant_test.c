#include "domain/activity.h"
#include "domain/building_fixture.h"
#include "domain/feed.h"
#include "domain/grant_code.h"
#include "domain/grant_label.h"

/* ---- creation ---- */

static void test_a_created_grant_is_read_back(void **state)
{
    struct building_fixture *fx = *state;
    struct val days[] = {text("sunday"), text("saturday")};
    const struct grant timer = add_grant(fx, (struct grant_input){.type = text("timer"),
                                                                  .label = text("Ströme 北"),
                                                                  .starts_at = v_time(fx->now_us + HOURS),
                                                                  .expires_in_minutes = v_int(10),
                                                                  .remaining_uses = v_int(3)});
    const struct grant passcode = add_grant(fx, (struct grant_input){.type = text("passcode"),
                                                                     .access_code = text("0042"),
                                                                     .enabled = v_bool(false),
                                                                     .enter_code_with_voice = v_bool(true)});
    const struct grant routine = add_grant(fx, (struct grant_input){.type = text("routine"),
                                                                    .days = v_list(days, 2),
                                                                    .start = text("00:00"),
                                                                    .end = text("23:59"),
                                                                    .timezone = text("Asia/Tokyo")});
    struct grant g = get_grant(fx, &timer.id);
    assert_int_equal(g.type, GRANT_TIMER);
    assert_true(str_eq(g.label, STR("Ströme 北")));
    assert_true(str_eq(g.request_id, STR("fixture-request-000000")));
    assert_int_equal(g.starts_us, fx->now_us + HOURS);
    assert_int_equal(g.ends_us, fx->now_us + HOURS + 10 * MINUTES);
    assert_int_equal(g.remaining_uses, 3);
    assert_int_equal(g.version, 0);
    assert_int_equal(g.created_us, fx->now_us);
    assert_int_equal(g.updated_us, 0);
    assert_true(g.enabled && !g.revoked);
    g = get_grant(fx, &passcode.id);
    assert_int_equal(g.type, GRANT_PASSCODE);
    assert_string_equal(g.code, "0042");
    assert_true(g.voice && !g.enabled);
    assert_int_equal(g.ends_us, GRANT_NO_END);
    assert_int_equal(g.remaining_uses, GRANT_UNLIMITED);
    g = get_grant(fx, &routine.id);
    assert_int_equal(g.type, GRANT_ROUTINE);
    assert_int_equal(g.schedule.windows[0].days, 0x41);
    assert_int_equal(g.schedule.windows[0].start_minute, 0);
    assert_int_equal(g.schedule.windows[0].end_minute, 1439);
    assert_true(str_eq(g.schedule.timezone, STR("Asia/Tokyo")));
}

static void test_a_grant_belongs_only_to_its_building(void **state)
{
    struct building_fixture *fx = *state;
    const struct grant g = add_grant(fx, (struct grant_input){.type = text("passcode")});
    const struct id other = fixture_add_building(fx, "Annex", "+15550100002");
    struct get_grant c = {.id = g.id, .building = &other};
    struct revoke_grant r = {&fx->account, &other, &g.id};
    assert_int_equal(fixture_run(fx, STORE_READ, get_grant_run, &c), ERR_NOT_FOUND);
    assert_int_equal(fixture_run(fx, STORE_WRITE, revoke_grant_run, &r), ERR_NOT_FOUND);
    struct update_grant u = {{.building = &other}, g.id, 0, &(struct grant_input){.label = text("x")}, {.version = 0}};
    assert_int_equal(fixture_run(fx, STORE_WRITE, update_grant_run, &u), ERR_NOT_FOUND);
    assert_false(get_grant(fx, &g.id).revoked);
}

static const struct grant_input five_minutes = {
    .type = {VAL_STR, .s = {"timer", 5}}, .expires_in_minutes = {VAL_INT, .i = 5}, .remaining_uses = {VAL_INT, .i = 1}};

static void test_the_same_request_replays_the_grant_as_it_is_now(void **state)
{
    struct building_fixture *fx = *state;
    struct grant g, again;
    bool replayed = true;
    assert_int_equal(create_grant(fx, &five_minutes, "my-key-0123456789", "body", &g, &replayed), ERR_NONE);
    assert_false(replayed);
    struct grant changed = g;
    assert_int_equal(update_grant(fx, &changed, (struct grant_input){.label = text("Changed")}), ERR_NONE);
    assert_int_equal(create_grant(fx, &five_minutes, "my-key-0123456789", "body", &again, &replayed), ERR_NONE);
    assert_true(replayed);
    assert_string_equal(again.id.text, g.id.text);
    assert_true(str_eq(again.label, STR("Changed")));
    assert_int_equal(again.version, 1);
    assert_int_equal(revoke_grant(fx, &g.id), ERR_NONE);
    assert_int_equal(create_grant(fx, &five_minutes, "my-key-0123456789", "body", &again, &replayed), ERR_NONE);
    assert_true(replayed && again.revoked);
    fixture_expect(fx, "SELECT count(*) FROM access_grant", "1\n");
}

static void test_the_same_request_with_another_body_conflicts(void **state)
{
    struct building_fixture *fx = *state;
    struct grant g;
    assert_int_equal(create_grant(fx, &five_minutes, "my-key-0123456789", "body", &g, NULL), ERR_NONE);
    assert_int_equal(create_grant(fx, &five_minutes, "my-key-0123456789", "other", &g, NULL), ERR_IDEMPOTENCY_CONFLICT);
    const struct grant_input wrong = {.type = text("timer")};
    assert_int_equal(create_grant(fx, &wrong, "my-key-0123456789", "third", &g, NULL), ERR_IDEMPOTENCY_CONFLICT);
    assert_null(fx->tx.why.p);
    fixture_expect(fx, "SELECT count(*) FROM access_grant", "1\n");
}

static int64_t number_of(struct building_fixture *fx, const struct id *building)
{
    const char *sql = "SELECT number FROM grant_building WHERE id = '%s'";
    return strtoll(fixture_sql(fx, arena_printf(&fx->arena, sql, building->text).p), NULL, 10);
}

static void test_a_grant_is_found_only_by_the_number_of_its_building(void **state)
{
    struct building_fixture *fx = *state;
    const struct id id = add_grant(fx, five_minutes).id, annex = fixture_add_building(fx, "Annex", "+15550100002");
    const struct id home = fx->building;
    fx->building = annex;
    add_grant(fx, five_minutes);
    struct get_grant get = {.id = id, .building = &home, .number = number_of(fx, &home)};
    assert_int_equal(fixture_run(fx, STORE_READ, get_grant_run, &get), ERR_NONE);
    assert_string_equal(get.grant.id.text, id.text);
    get.number = number_of(fx, &annex);
    assert_int_equal(fixture_run(fx, STORE_READ, get_grant_run, &get), ERR_NOT_FOUND);
}

/* GRANT-12 */
static void test_a_request_key_is_independent_in_another_building(void **state)
{
    struct building_fixture *fx = *state;
    struct grant g;
    assert_int_equal(create_grant(fx, &five_minutes, "my-key-0123456789", "body", &g, NULL), ERR_NONE);
    const struct id home = fx->building;
    fx->building = fixture_add_building(fx, "Annex", "+15550100002");
    bool replayed = true;
    assert_int_equal(create_grant(fx, &five_minutes, "my-key-0123456789", "other", &g, &replayed), ERR_NONE);
    assert_false(replayed);
    fx->building = home;
}

static void test_a_replay_succeeds_even_if_the_request_would_be_refused_now(void **state)
{
    struct building_fixture *fx = *state;
    struct grant g, again;
    bool replayed;
    const struct grant_input timer = {.type = text("timer"), .ends_at = v_time(fx->now_us + HOURS)};
    const struct grant_input passcode = {.type = text("passcode"), .access_code = text("1234")};
    assert_int_equal(create_grant(fx, &timer, "my-timer-012345678", "timer", &g, NULL), ERR_NONE);
    fx->now_us += 2 * HOURS;
    assert_int_equal(create_grant(fx, &timer, "my-timer-012345678", "timer", &again, &replayed), ERR_NONE);
    assert_true(replayed);
    assert_string_equal(again.id.text, g.id.text);
    /* Its code is taken by the grant itself. */
    assert_int_equal(create_grant(fx, &passcode, "my-passcode-012345", "passcode", &g, NULL), ERR_NONE);
    assert_int_equal(create_grant(fx, &passcode, "my-passcode-012345", "passcode", &again, &replayed), ERR_NONE);
    assert_true(replayed);
    assert_string_equal(again.id.text, g.id.text);
}

static void test_a_refused_creation_is_not_remembered(void **state)
{
    struct building_fixture *fx = *state;
    struct grant g;
    const struct grant_input wrong = {.type = text("timer")};
    bool replayed = true;
    assert_int_equal(create_grant(fx, &wrong, "my-key-0123456789", "wrong", &g, NULL), ERR_INVALID_UNLOCK);
    assert_int_equal(create_grant(fx, &five_minutes, "my-key-0123456789", "right", &g, &replayed), ERR_NONE);
    assert_false(replayed);
}

struct creator {
    struct building_fixture fx; /* with its own arena */
    pthread_t thread;
    struct grant grant;
    enum err result;
    bool replayed;
};

static void *create_the_same(void *arg)
{
    struct creator *c = arg;
    c->result = create_grant(&c->fx, &five_minutes, "my-key-0123456789", "body", &c->grant, &c->replayed);
    return NULL;
}

/* GRANT-12 */
static void test_of_concurrent_equal_requests_one_creates_and_the_others_replay(void **state)
{
    struct building_fixture *fx = *state;
    struct creator creators[8];
    int created = 0;
    for (int i = 0; i < 8; i++) {
        creators[i] = (struct creator){.fx = *fx};
        arena_init(&creators[i].fx.arena, NULL, 0);
        assert_int_equal(pthread_create(&creators[i].thread, NULL, create_the_same, &creators[i]), 0);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(creators[i].thread, NULL);
        assert_int_equal(creators[i].result, ERR_NONE);
        assert_string_equal(creators[i].grant.id.text, creators[0].grant.id.text);
        created += !creators[i].replayed;
        arena_done(&creators[i].fx.arena);
    }
    assert_int_equal(created, 1);
    fixture_expect(fx, "SELECT count(*) FROM access_grant", "1\n");
}

/* ---- codes ---- */

/* GRANT-9 */
static void test_a_code_that_another_enabled_passcode_has_is_refused(void **state)
{
    struct building_fixture *fx = *state;
    struct grant g;
    struct grant first = add_grant(fx, (struct grant_input){.type = text("passcode"), .access_code = text("1234")});
    const struct grant_input same = {.type = text("passcode"), .access_code = text("1234")};
    assert_int_equal(create_grant(fx, &same, "another-key-01234", "a", &g, NULL), ERR_INVALID_UNLOCK);
    assert_true(str_eq(fx->tx.why, STR("access_code is already the code of another enabled passcode")));
    const struct grant_input same_off = {
        .type = text("passcode"), .access_code = text("1234"), .enabled = v_bool(false)};
    assert_int_equal(create_grant(fx, &same_off, "another-key-01234", "a", &g, NULL), ERR_INVALID_UNLOCK);
    /* Leading zeros are significant. */
    add_grant(fx, (struct grant_input){.type = text("passcode"), .access_code = text("012")});
    add_grant(fx, (struct grant_input){.type = text("passcode"), .access_code = text("12")});
    /* The code is free again after the passcode is disabled or revoked. */
    assert_int_equal(update_grant(fx, &first, (struct grant_input){.enabled = v_bool(false)}), ERR_NONE);
    struct grant second = add_grant(fx, same);
    assert_int_equal(update_grant(fx, &first, (struct grant_input){.enabled = v_bool(true)}), ERR_INVALID_UNLOCK);
    assert_int_equal(revoke_grant(fx, &second.id), ERR_NONE);
    assert_int_equal(update_grant(fx, &first, (struct grant_input){.enabled = v_bool(true)}), ERR_NONE);
}

/* GRANT-18 */
static void test_an_update_cannot_take_the_code_of_another_passcode_but_keep_its_own(void **state)
{
    struct building_fixture *fx = *state;
    add_grant(fx, (struct grant_input){.type = text("passcode"), .access_code = text("1234")});
    struct grant g = add_grant(fx, (struct grant_input){.type = text("passcode"), .access_code = text("5678")});
    assert_int_equal(update_grant(fx, &g, (struct grant_input){.access_code = text("1234")}), ERR_INVALID_UNLOCK);
    assert_int_equal(update_grant(fx, &g, (struct grant_input){.access_code = text("5678")}), ERR_NONE);
    assert_int_equal(update_grant(fx, &g, (struct grant_input){.enabled = v_bool(true)}), ERR_NONE);
    assert_int_equal(update_grant(fx, &g, (struct grant_input){.access_code = text("90")}), ERR_NONE);
    add_grant(fx, (struct grant_input){.type = text("passcode"), .access_code = text("5678")});
}

/* GRANT-8 */
static void test_generated_codes_are_four_digits_and_unused(void **state)
{
    struct building_fixture *fx = *state;
    /* All four-digit codes are in use except 0007 and 4000, and three that are easily guessed. */
    const bool sqlite = fx->fixture->config.engine == ENGINE_SQLITE;
    fixture_sql(fx, arena_printf(&fx->arena, "INSERT INTO grant_building VALUES ('%s', 1)", fx->building.text).p);
    fixture_sql(
        fx, arena_printf(&fx->arena,
                         "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9999) "
                         "INSERT INTO access_grant (building, id, type, label, enabled, created_at, ends_at, "
                         "access_code) SELECT 1, %s, 1, 'x', 1, 0, 9223372036854775807, "
                         "substr('000' || i, length('000' || i) - 3) FROM n WHERE i NOT IN (7, 4000, 1234, 2580, 9999)",
                         sqlite ? "CAST('code-' || i AS BLOB)" : "convert_to('code-' || i, 'UTF8')")
                .p);
    const struct grant a = add_grant(fx, (struct grant_input){.type = text("passcode")});
    const struct grant b = add_grant(fx, (struct grant_input){.type = text("passcode")});
    assert_true((strcmp(a.code, "0007") == 0 && strcmp(b.code, "4000") == 0) ||
                (strcmp(a.code, "4000") == 0 && strcmp(b.code, "0007") == 0));
    struct grant c;
    const struct grant_input one_more = {.type = text("passcode")};
    assert_int_equal(create_grant(fx, &one_more, "one-too-many-0123", "x", &c, NULL), ERR_INVALID_UNLOCK);
    assert_true(str_eq(fx->tx.why,
                       STR("every four-digit access_code that is not easily guessed belongs to an enabled passcode")));
    add_grant(fx, (struct grant_input){.type = text("passcode"), .access_code = text("123")});
    add_grant(fx, (struct grant_input){.type = text("passcode"), .access_code = text("1234")});
}

/* GRANT-8 */
static void test_codes_that_people_try_first_are_easily_guessed(void **state)
{
    (void)state;
    static const char *const easy[] = {"1234",   "0000",   "7777",   "4321",     "6789",    "2468",
                                       "1212",   "2580",   "1986",   "2004",     "000000",  "654321",
                                       "345678", "123123", "112233", "99999999", "12345678"};
    static const char *const hard[] = {"1235", "0001", "7350", "1640", "7890", "1999", "020202", "123457", "12345670"};
    for (size_t i = 0; i < sizeof easy / sizeof *easy; i++)
        if (!grant_code_is_easy(str_z(easy[i])))
            fail_msg("%s", easy[i]);
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++)
        if (grant_code_is_easy(str_z(hard[i])))
            fail_msg("%s", hard[i]);
}

/* ---- updates ---- */

/* GRANT-20 */
static void test_an_update_counts_and_a_stale_version_conflicts(void **state)
{
    struct building_fixture *fx = *state;
    struct grant g = add_grant(fx, five_minutes), stale = g;
    fx->now_us += MINUTES;
    assert_int_equal(update_grant(fx, &g, (struct grant_input){.label = text("One")}), ERR_NONE);
    assert_int_equal(g.version, 1);
    assert_int_equal(g.updated_us, fx->now_us);
    assert_int_equal(update_grant(fx, &stale, (struct grant_input){.label = text("Two")}), ERR_VERSION_CONFLICT);
    const struct grant now = get_grant(fx, &g.id);
    assert_true(str_eq(now.label, STR("One")));
    assert_int_equal(now.version, 1);
    assert_int_equal(now.updated_us, fx->now_us);
    assert_int_equal(now.remaining_uses, 1);
    assert_int_equal(now.ends_us, g.ends_us);
}

static void test_a_refused_update_changes_nothing(void **state)
{
    struct building_fixture *fx = *state;
    struct grant g = add_grant(fx, five_minutes);
    assert_int_equal(update_grant(fx, &g, (struct grant_input){0}), ERR_INVALID_UNLOCK);
    assert_true(str_eq(fx->tx.why, STR("an update needs at least one field")));
    assert_int_equal(update_grant(fx, &g, (struct grant_input){.label = text("x"), .enabled = v_bool(true)}),
                     ERR_INVALID_UNLOCK);
    assert_int_equal(get_grant(fx, &g.id).version, 0);
    assert_true(str_eq(get_grant(fx, &g.id).label, STR("timer")));
}

struct updater {
    struct building_fixture fx;
    pthread_t thread;
    struct grant grant;
    enum err result;
};

static void *update_the_same(void *arg)
{
    struct updater *u = arg;
    u->result = update_grant(&u->fx, &u->grant, (struct grant_input){.remaining_uses = v_int(7)});
    return NULL;
}

static void test_of_concurrent_updates_with_one_version_one_wins(void **state)
{
    struct building_fixture *fx = *state;
    const struct grant g = add_grant(fx, five_minutes);
    struct updater updaters[8];
    int won = 0;
    for (int i = 0; i < 8; i++) {
        updaters[i] = (struct updater){.fx = *fx, .grant = g};
        arena_init(&updaters[i].fx.arena, NULL, 0);
        assert_int_equal(pthread_create(&updaters[i].thread, NULL, update_the_same, &updaters[i]), 0);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(updaters[i].thread, NULL);
        if (updaters[i].result)
            assert_int_equal(updaters[i].result, ERR_VERSION_CONFLICT);
        else
            won++;
        arena_done(&updaters[i].fx.arena);
    }
    assert_int_equal(won, 1);
    assert_int_equal(get_grant(fx, &g.id).version, 1);
}

/* As after an update by a program that does not know the column. */
/* EARLIER-6 */
static void test_the_uses_given_are_at_least_the_remaining_ones(void **state)
{
    struct building_fixture *fx = *state;
    struct grant_input in = five_minutes;
    in.remaining_uses = v_int(3);
    const struct grant g = add_grant(fx, in);
    assert_int_equal(get_grant(fx, &g.id).max_uses, 3);
    fixture_sql(fx, "UPDATE access_grant SET remaining_uses = 1");
    assert_int_equal(get_grant(fx, &g.id).max_uses, 3);
    fixture_sql(fx, "UPDATE access_grant SET remaining_uses = 5");
    assert_int_equal(get_grant(fx, &g.id).max_uses, 5);
    fixture_sql(fx, "UPDATE access_grant SET max_uses = NULL");
    assert_int_equal(get_grant(fx, &g.id).max_uses, 5);
    fixture_sql(fx, "UPDATE access_grant SET max_uses = 5, remaining_uses = NULL");
    assert_int_equal(get_grant(fx, &g.id).max_uses, GRANT_UNLIMITED);
}

/* GRANT-22 */
static void test_revocation_is_final_and_may_be_repeated(void **state)
{
    struct building_fixture *fx = *state;
    struct grant g = add_grant(fx, five_minutes);
    fx->now_us += MINUTES;
    assert_int_equal(revoke_grant(fx, &g.id), ERR_NONE);
    fx->now_us += MINUTES;
    assert_int_equal(revoke_grant(fx, &g.id), ERR_NONE);
    struct grant now = get_grant(fx, &g.id);
    assert_int_equal(grant_status(&now, fx->now_us), GRANT_REVOKED);
    assert_int_equal(now.version, 1);
    assert_int_equal(now.updated_us, fx->now_us - MINUTES);
    assert_int_equal(update_grant(fx, &now, (struct grant_input){.label = text("x")}), ERR_GRANT_REVOKED);
    assert_int_equal(update_grant(fx, &g, (struct grant_input){.label = text("x")}), ERR_GRANT_REVOKED);
    const struct id unknown = id_new(fx->now_us);
    assert_int_equal(revoke_grant(fx, &unknown), ERR_NOT_FOUND);
    now.id = unknown;
    assert_int_equal(update_grant(fx, &now, (struct grant_input){.label = text("x")}), ERR_NOT_FOUND);
}

/* ---- linked buildings ---- */

/* GRANT-11 */
static void test_a_linked_building_accepts_writes_only_while_subscribed(void **state)
{
    struct building_fixture *fx = *state;
    static const char *const statuses[] = {"none", "past_due", "active"};
    const struct grant g = add_grant(fx, five_minutes);
    for (int i = 0; i < 3; i++) {
        const enum err wanted = i < 2 ? ERR_MULTI_BUILDING_REQUIRED : ERR_NONE;
        fixture_sql(fx, arena_printf(&fx->arena, "UPDATE account SET subscription_status = '%s'", statuses[i]).p);
        struct create_grant c = {
            .place = {.building = &fx->building, .linked = true}, .in = &five_minutes, .key = STR("a-key-0123456789")};
        assert_int_equal(fixture_run(fx, STORE_WRITE, create_grant_run, &c), wanted);
        const struct grant_input off = {.enabled = v_bool(false)};
        struct update_grant u = {{.building = &fx->building, .linked = true}, g.id, 0, &off, {.version = 0}};
        assert_int_equal(fixture_run(fx, STORE_WRITE, update_grant_run, &u), wanted);
    }
    /* A replay and a revocation need no subscription. */
    fixture_sql(fx, "UPDATE account SET subscription_status = 'none'");
    struct create_grant c = {
        .place = {.building = &fx->building, .linked = true}, .in = &five_minutes, .key = STR("a-key-0123456789")};
    assert_int_equal(fixture_run(fx, STORE_WRITE, create_grant_run, &c), ERR_NONE);
    assert_true(c.replayed);
    assert_int_equal(revoke_grant(fx, &g.id), ERR_NONE);
}

static void test_a_deleted_linked_building_accepts_no_grant(void **state)
{
    struct building_fixture *fx = *state;
    const struct id gone = id_new(fx->now_us);
    struct create_grant c = {
        .place = {.building = &gone, .linked = true}, .in = &five_minutes, .key = STR("a-key-0123456789")};
    assert_int_equal(fixture_run(fx, STORE_WRITE, create_grant_run, &c), ERR_BUILDING_NOT_FOUND);
}

static void test_the_primary_building_needs_no_subscription(void **state)
{
    struct building_fixture *fx = *state;
    fixture_sql(fx, "UPDATE account SET subscription_status = 'none'");
    struct grant g = add_grant(fx, five_minutes);
    assert_int_equal(update_grant(fx, &g, (struct grant_input){.label = text("x")}), ERR_NONE);
}

/* The stored count and the real one. */
static void check_count(struct building_fixture *fx)
{
    fixture_expect(fx, "SELECT coalesce(sum(enabled), 0) FROM grant_count",
                   fixture_sql(fx, "SELECT count(*) FROM access_grant WHERE enabled = 1 AND revoked = 0"));
}

static void test_the_count_of_enabled_grants_is_correct_after_every_change(void **state)
{
    struct building_fixture *fx = *state;
    struct grant all[20];
    const struct id home = fx->building, annex = fixture_add_building(fx, "Annex", "+15550100002");
    srand(1);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        all[i] = add_grant(fx, (struct grant_input){.type = text("passcode"), .enabled = v_bool(i % 3 != 0)});
        if (i == 9)
            fx->building = annex;
    }
    check_count(fx);
    for (int i = 0; i < 150; i++) {
        const size_t n = (size_t)rand() % (sizeof all / sizeof *all);
        struct grant *g = &all[n];
        fx->building = n < 10 ? home : annex;
        struct grant stale = *g;
        stale.version += rand() % 4 == 0;
        if (rand() % 10 == 0)
            (void)revoke_grant(fx, &g->id);
        else if (update_grant(fx, &stale, (struct grant_input){.enabled = v_bool(rand() % 2)}) == ERR_NONE)
            *g = stale;
        if (rand() % 5 == 0)
            all[n] = add_grant(fx, (struct grant_input){.type = text("passcode"), .enabled = v_bool(rand() % 2)});
        if (i % 10 == 0)
            check_count(fx);
    }
    check_count(fx);
}

/* ---- lists ---- */

struct lister {
    struct building_fixture *fx;
    struct grant_filter filter;
    struct grant_page page;
};

static enum err list_run(struct tx *tx, void *arg)
{
    struct lister *l = arg;
    return grant_list(tx, &l->fx->building, &l->filter, &l->page);
}

static struct grant_page list(struct building_fixture *fx, struct grant_filter filter)
{
    struct lister l = {fx, filter, {.count = 0}};
    assert_int_equal(fixture_run(fx, STORE_READ, list_run, &l), ERR_NONE);
    return l.page;
}

/* Adds grants of every status and type, and some to another building. */
static size_t fill(struct building_fixture *fx, struct grant *all)
{
    size_t n = 0;
    struct val day = text("friday");
    const struct grant_input routine = {.type = text("routine"),
                                        .days = v_list(&day, 1),
                                        .start = text("09:00"),
                                        .end = text("10:00"),
                                        .timezone = text("UTC")};
    for (int round = 0; round < 4; round++) {
        all[n++] = add_grant(fx, five_minutes);
        all[n++] = add_grant(fx, (struct grant_input){.type = text("timer"),
                                                      .starts_at = v_time(fx->now_us + DAYS),
                                                      .expires_in_minutes = v_int(5)});
        all[n++] = add_grant(fx, (struct grant_input){.type = text("passcode")});
        all[n++] = add_grant(fx, (struct grant_input){.type = text("passcode"), .remaining_uses = v_int(1)});
        all[n++] = add_grant(fx, (struct grant_input){.type = text("passcode"), .expires_in_minutes = v_int(1)});
        all[n++] = add_grant(fx, (struct grant_input){.type = text("passcode"), .enabled = v_bool(false)});
        all[n++] = add_grant(fx, routine);
        all[n++] = add_grant(fx, (struct grant_input){.type = text("timer"),
                                                      .expires_in_minutes = v_int(9),
                                                      .enabled = v_bool(false),
                                                      .remaining_uses = v_int(2)});
        const struct id gone = add_grant(fx, routine).id;
        assert_int_equal(revoke_grant(fx, &gone), ERR_NONE);
    }
    fixture_sql(fx, "UPDATE access_grant SET remaining_uses = 0 WHERE type = 1 AND remaining_uses = 1");
    fixture_sql(fx, "UPDATE access_grant SET remaining_uses = 0 WHERE enabled = 0 AND remaining_uses = 2");
    fx->now_us += 2 * MINUTES;              /* some have expired */
    all[n++] = add_grant(fx, five_minutes); /* starts at this very moment */
    const struct id home = fx->building;
    fx->building = fixture_add_building(fx, "Annex", "+15550100002");
    add_grant(fx, five_minutes);
    fx->building = home;
    for (size_t i = 0; i < n; i++)
        all[i] = get_grant(fx, &all[i].id);
    return n;
}

static bool fits(const struct grant *g, const struct grant_filter *f, int64_t now_us)
{
    return (!v_set(f->enabled) || f->enabled.b == g->enabled) &&
           (!v_set(f->type) || str_eq(f->type.s, str_z(grant_type_names[g->type]))) &&
           (!v_set(f->status) || str_eq(f->status.s, str_z(grant_status_names[grant_status(g, now_us)])));
}

/* Every filter returns exactly the matching grants, newest first, in full pages. */
static void check_list(struct building_fixture *fx, const struct grant *all, size_t n, struct grant_filter f,
                       int64_t limit)
{
    size_t left = n;
    f.limit = v_int(limit);
    for (;;) {
        const struct grant_page page = list(fx, f);
        assert_true(page.count == (size_t)limit || !page.more);
        for (size_t i = 0; i < page.count; i++) {
            do
                assert_true(left-- > 0);
            while (!fits(&all[left], &f, fx->now_us));
            assert_string_equal(page.items[i].id.text, all[left].id.text);
        }
        if (!page.more)
            break;
        f.cursor = v_str(arena_str(&fx->arena, id_str(&page.items[page.count - 1].id)));
    }
    while (left-- > 0)
        assert_false(fits(&all[left], &f, fx->now_us));
}

static void test_every_filter_returns_exactly_the_matching_grants(void **state)
{
    struct building_fixture *fx = *state;
    struct grant all[64];
    const size_t n = fill(fx, all);
    const struct val any = {0};
    const struct val enabled[] = {any, v_bool(true), v_bool(false)};
    const struct val types[] = {any, text("timer"), text("passcode"), text("routine")};
    const struct val statuses[] = {
        any, text("active"), text("scheduled"), text("inactive"), text("expired"), text("exhausted")};
    for (int e = 0; e < 3; e++)
        for (int t = 0; t < 4; t++)
            for (int s = 0; s < 6; s++)
                for (int64_t limit = 1; limit <= 100; limit += 3)
                    check_list(fx, all, n,
                               (struct grant_filter){.enabled = enabled[e], .type = types[t], .status = statuses[s]},
                               limit);
}

static void test_a_page_holds_fifty_grants_by_default(void **state)
{
    struct building_fixture *fx = *state;
    for (int i = 0; i < 51; i++)
        add_grant(fx, five_minutes);
    const struct grant_page page = list(fx, (struct grant_filter){0});
    assert_int_equal(page.count, 50);
    assert_true(page.more);
}

static void test_a_building_without_grants_has_an_empty_list(void **state)
{
    struct building_fixture *fx = *state;
    const struct grant_page page = list(fx, (struct grant_filter){0});
    assert_int_equal(page.count, 0);
    assert_false(page.more);
}

/* ---- labels elsewhere ---- */

struct named_entries {
    struct building_fixture *fx;
    const struct grant *grant;
    int count;
};

/* Entries of the log, half of them failures, and an event of the feed. */
static enum err write_named_run(struct tx *tx, void *arg)
{
    const struct named_entries *w = arg;
    const struct grant *g = w->grant;
    enum err e = ERR_NONE;
    for (int i = 0; !e && i < w->count; i++)
        e = activity_add(tx, &w->fx->building,
                         &(struct activity){.type = ACTIVITY_UNLOCK,
                                            .unlock_id = g->id,
                                            .unlock_type = STR("passcode"),
                                            .name = g->label,
                                            .succeeded = i % 2 == 0});
    const struct feed_data data = {.call_id = v_str(STR("0123456789abcdef01234567")),
                                   .reason = text("passcode"),
                                   .unlock_id = v_str(id_str(&g->id)),
                                   .label = v_str(g->label),
                                   .remaining_uses = v_null()};
    return e ? e : feed_add(tx, &w->fx->building, FEED_CALL_RELEASED, tx->now_us, &data);
}

static void write_named(struct building_fixture *fx, const struct grant *g, int entries)
{
    assert_int_equal(fixture_run(fx, STORE_WRITE, write_named_run, &(struct named_entries){fx, g, entries}), ERR_NONE);
    for (int i = 0; i < entries; i++)
        fixture_sql(fx, arena_printf(&fx->arena,
                                     "INSERT INTO visit (building_id, id, started_at, outcome, grant_id, grant_name) "
                                     "VALUES ('%s', '%s', 0, 'opened', '%s', '%.*s')",
                                     fx->building.text, id_new(fx->now_us).text, g->id.text, STR_ARG(g->label))
                            .p);
}

struct spreading {
    struct building_fixture *fx;
    const struct id *grant;
    struct str label;
    bool more;
};

static enum err spread_run(struct tx *tx, void *arg)
{
    struct spreading *s = arg;
    return grant_label_spread(tx, &s->fx->building, s->grant, s->label, 2, &s->more);
}

static int spread(struct building_fixture *fx, const struct id *grant, struct str label)
{
    struct spreading s = {fx, grant, label, true};
    int rounds = 0;
    for (; s.more && rounds < 20; rounds++)
        assert_int_equal(fixture_run(fx, STORE_WRITE, spread_run, &s), ERR_NONE);
    return rounds;
}

struct erase_grant {
    const struct id *building, *id;
};

static enum err erase_grant_run(struct tx *tx, void *arg)
{
    const struct erase_grant *c = arg;
    return grant_erase(tx, c->building, c->id);
}

static void expect_names(struct building_fixture *fx, const char *log, const char *visits)
{
    fixture_expect(fx,
                   "SELECT k.name, count(*) FROM activity a JOIN activity_kind k ON k.building_id = a.building_id "
                   "AND k.kind = a.kind GROUP BY k.name ORDER BY k.name",
                   log);
    fixture_expect(fx, "SELECT grant_name, count(*) FROM visit GROUP BY grant_name ORDER BY grant_name", visits);
}

/* GRANT-40 */
static void test_a_changed_label_is_changed_in_log_visits_and_feed(void **state)
{
    struct building_fixture *fx = *state;
    struct grant kim = add_grant(fx, (struct grant_input){.type = text("passcode"), .label = text("Kim")});
    const struct grant other = add_grant(fx, (struct grant_input){.type = text("passcode"), .label = text("Kim")});
    write_named(fx, &kim, 5);
    write_named(fx, &other, 1);
    assert_int_equal(update_grant(fx, &kim, (struct grant_input){.enabled = v_bool(true)}), ERR_NONE);
    fixture_expect(fx, "SELECT count(*) FROM job WHERE kind = 'label'", "0\n");
    assert_int_equal(update_grant(fx, &kim, (struct grant_input){.label = text("A \"cleaner\"")}), ERR_NONE);
    fixture_expect(fx, "SELECT count(*) FROM job WHERE kind = 'label'", "1\n");
    assert_true(spread(fx, &kim.id, get_grant(fx, &kim.id).label) > 2);
    expect_names(fx, "A \"cleaner\"|5\nKim|1\n", "A \"cleaner\"|5\nKim|1\n");
    fixture_expect(fx, "SELECT count(*) FROM activity_kind WHERE name = 'Kim'", "1\n");
    fixture_expect(fx, "SELECT count(*) FROM feed WHERE data LIKE '{\"call_id\":%\"label\":\"A _\"cleaner_\"\",%'",
                   "1\n");
    assert_int_equal(spread(fx, &kim.id, get_grant(fx, &kim.id).label), 1);
}

/* GRANT-40 */
static void test_a_revoked_grant_can_lose_label_and_code(void **state)
{
    struct building_fixture *fx = *state;
    const struct grant kim = add_grant(fx, (struct grant_input){.type = text("passcode"), .label = text("Kim")});
    struct erase_grant erase = {&fx->building, &kim.id};
    write_named(fx, &kim, 3);
    assert_int_equal(fixture_run(fx, STORE_WRITE, erase_grant_run, &erase), ERR_NONE);
    assert_true(str_eq(get_grant(fx, &kim.id).label, STR("Kim"))); /* it is not revoked */
    assert_int_equal(revoke_grant(fx, &kim.id), ERR_NONE);
    assert_int_equal(fixture_run(fx, STORE_WRITE, erase_grant_run, &erase), ERR_NONE);
    const struct grant g = get_grant(fx, &kim.id);
    assert_true(g.revoked && str_eq(g.label, STR("passcode")));
    assert_string_equal(g.code, "");
    spread(fx, &kim.id, g.label);
    expect_names(fx, "passcode|3\n", "passcode|3\n");
    fixture_expect(fx, "SELECT count(*) FROM feed WHERE data LIKE '%Kim%'", "0\n");
    fixture_expect(fx, "SELECT count(*) FROM activity_kind WHERE name = 'Kim'", "0\n");
    fx->building = fixture_add_building(fx, "Annex", "+15550100002");
    assert_int_equal(spread(fx, &kim.id, STR("Kim")), 1); /* not of this building */
}

struct forget_grants {
    int64_t before_us, limit, count;
};

static enum err forget_grants_run(struct tx *tx, void *arg)
{
    struct forget_grants *f = arg;
    return grant_forget(tx, f->before_us, f->limit, &f->count);
}

static int64_t forget_grants(struct building_fixture *fx, int64_t before_us, int64_t limit)
{
    struct forget_grants f = {.before_us = before_us, .limit = limit, .count = -1};
    assert_int_equal(fixture_run(fx, STORE_WRITE, forget_grants_run, &f), ERR_NONE);
    return f.count;
}

static const struct grant_input kims = {.type = {VAL_STR, .s = {"passcode", 8}},
                                        .label = {VAL_STR, .s = {"Kim", 3}},
                                        .access_code = {VAL_STR, .s = {"7391", 4}}};

/* GRANT-39 */
static void test_grants_that_ended_long_ago_lose_label_and_code(void **state)
{
    struct building_fixture *fx = *state;
    struct grant_input expires = kims, other = kims;
    struct grant expired, live, again;
    bool replayed;
    other.access_code = text("7392");
    const struct grant revoked = add_grant(fx, other);
    assert_int_equal(revoke_grant(fx, &revoked.id), ERR_NONE);
    const struct grant used = add_grant(fx, other);
    expires.expires_in_minutes = v_int(60);
    assert_int_equal(create_grant(fx, &expires, "my-key-0123456789", "body", &expired, NULL), ERR_NONE);
    other.access_code = text("7393");
    live = add_grant(fx, other);
    fixture_sql(fx, arena_printf(&fx->arena,
                                 "UPDATE access_grant SET remaining_uses = 0, used_at = %lld "
                                 "WHERE access_code = '7392' AND revoked = 0",
                                 (long long)(fx->now_us + 2 * DAYS))
                        .p);
    const int64_t end_us = expired.ends_us;
    fx->now_us += 30 * DAYS;
    assert_int_equal(forget_grants(fx, expired.created_us, 10), 0);
    assert_int_equal(forget_grants(fx, end_us + 1, 1), 1);
    assert_int_equal(forget_grants(fx, end_us + 1, 10), 1);
    assert_true(str_eq(get_grant(fx, &used.id).label, STR("Kim"))); /* it was used two days later */
    assert_int_equal(forget_grants(fx, fx->now_us, 10), 1);
    assert_int_equal(forget_grants(fx, fx->now_us, 10), 0);
    fixture_expect(fx, "SELECT label, access_code FROM access_grant ORDER BY access_code IS NULL, access_code",
                   "Kim|7393\n|\n|\n|\n");
    for (size_t i = 0; i < 3; i++) {
        const struct grant g = get_grant(fx, (const struct id *[]){&revoked.id, &used.id, &expired.id}[i]);
        assert_true(str_eq(g.label, STR("passcode")));
        assert_string_equal(g.code, "");
    }
    assert_int_equal(create_grant(fx, &expires, "my-key-0123456789", "body", &again, &replayed), ERR_NONE);
    assert_true(replayed);
    assert_string_equal(again.id.text, expired.id.text);
    assert_int_equal(create_grant(fx, &expires, "my-key-0123456789", "other", &again, NULL), ERR_IDEMPOTENCY_CONFLICT);
    assert_string_equal(get_grant(fx, &live.id).code, "7393");
}

/* GRANT-39 */
static void test_a_grant_without_its_code_opens_again_only_with_a_new_one(void **state)
{
    struct building_fixture *fx = *state;
    struct grant_input in = kims;
    in.expires_in_minutes = v_int(60);
    const struct grant made = add_grant(fx, in);
    fx->now_us += 30 * DAYS;
    assert_int_equal(forget_grants(fx, fx->now_us, 10), 1);
    struct grant g = get_grant(fx, &made.id);
    assert_int_equal(update_grant(fx, &g, (struct grant_input){.expires_in_minutes = v_int(5)}), ERR_INVALID_UNLOCK);
    assert_true(strstr(fx->tx.why.p, "erased"));
    assert_int_equal(update_grant(fx, &g, (struct grant_input){.label = text("Kim again")}), ERR_NONE);
    fixture_expect(fx, "SELECT count(*) FROM access_grant WHERE access_code IS NULL", "1\n");
    assert_int_equal(
        update_grant(fx, &g, (struct grant_input){.expires_in_minutes = v_int(5), .access_code = text("7391")}),
        ERR_NONE);
    assert_int_equal(grant_status(&g, fx->now_us), GRANT_ACTIVE);
    assert_int_equal(forget_grants(fx, fx->now_us, 10), 0);
}

#define TESTS(T)                                                                                                       \
    T(test_a_created_grant_is_read_back), T(test_a_grant_belongs_only_to_its_building),                                \
        T(test_the_same_request_replays_the_grant_as_it_is_now), T(test_the_same_request_with_another_body_conflicts), \
        T(test_a_grant_is_found_only_by_the_number_of_its_building),                                                   \
        T(test_a_request_key_is_independent_in_another_building),                                                      \
        T(test_a_replay_succeeds_even_if_the_request_would_be_refused_now),                                            \
        T(test_a_refused_creation_is_not_remembered),                                                                  \
        T(test_of_concurrent_equal_requests_one_creates_and_the_others_replay),                                        \
        T(test_a_code_that_another_enabled_passcode_has_is_refused),                                                   \
        T(test_an_update_cannot_take_the_code_of_another_passcode_but_keep_its_own),                                   \
        T(test_generated_codes_are_four_digits_and_unused), T(test_codes_that_people_try_first_are_easily_guessed),    \
        T(test_an_update_counts_and_a_stale_version_conflicts), T(test_a_refused_update_changes_nothing),              \
        T(test_of_concurrent_updates_with_one_version_one_wins),                                                       \
        T(test_the_uses_given_are_at_least_the_remaining_ones), T(test_revocation_is_final_and_may_be_repeated),       \
        T(test_a_linked_building_accepts_writes_only_while_subscribed),                                                \
        T(test_a_deleted_linked_building_accepts_no_grant), T(test_the_primary_building_needs_no_subscription),        \
        T(test_the_count_of_enabled_grants_is_correct_after_every_change),                                             \
        T(test_every_filter_returns_exactly_the_matching_grants), T(test_a_page_holds_fifty_grants_by_default),        \
        T(test_a_building_without_grants_has_an_empty_list), T(test_grants_that_ended_long_ago_lose_label_and_code),   \
        T(test_a_grant_without_its_code_opens_again_only_with_a_new_one),                                              \
        T(test_a_changed_label_is_changed_in_log_visits_and_feed), T(test_a_revoked_grant_can_lose_label_and_code)

FIXTURE_RUN(TESTS)
