/* Moments, messages for browsers, and mails. */
#include "domain/access.h"
#include "domain/browser.h"
#include "domain/building_fixture.h"
#include "domain/push.h"
#include "domain/removal.h"
#include "domain/session.h"

#define UA_PUBLIC "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
#define AUTH      "BTBZMqHH6r4Tts7J_aSIgg"
#define LOOK_US   (2 * US_PER_S)
#define MESSAGES  "SELECT notice, attempts FROM push_message ORDER BY hash, notice"

/* ---- events at the door ---- */

static enum err ring_run(struct tx *tx, void *arg)
{
    struct access_decision d;
    return access_arrive(tx, STR(FIXTURE_NUMBER), str_z(arg), AUDIO_TAKEN, &d);
}

static void ring(struct building_fixture *fx)
{
    char from[] = VISITOR;
    assert_int_equal(fixture_run(fx, STORE_WRITE, ring_run, from), ERR_NONE);
}

static enum err waiting_run(struct tx *tx, void *arg)
{
    return access_arrive(tx, STR(FIXTURE_NUMBER), STR(VISITOR), AUDIO_TAKEN, arg);
}

static bool waits_for_browsers(struct building_fixture *fx)
{
    struct access_decision d = {.browsers = false};
    assert_int_equal(fixture_run(fx, STORE_WRITE, waiting_run, &d), ERR_NONE);
    return d.browsers;
}

static enum err moment_run(struct tx *tx, void *arg)
{
    return notice_record(tx, arg);
}

static void happen(struct building_fixture *fx, unsigned notices, int64_t at_us)
{
    struct notice_moment m = {.building_id = fx->building, .notices = notices, .at_us = at_us, .label = STR("Ana")};
    assert_int_equal(fixture_run(fx, STORE_WRITE, moment_run, &m), ERR_NONE);
}

static enum err spread_run(struct tx *tx, void *ret_count)
{
    return notice_spread(tx, 32, ret_count);
}

static int64_t spread(struct building_fixture *fx)
{
    int64_t count = -1;
    assert_int_equal(fixture_run(fx, STORE_WRITE, spread_run, &count), ERR_NONE);
    return count;
}

/* ---- subscriptions ---- */

struct subscribing {
    const struct building_fixture *fx;
    struct push_request request;
};

static enum err subscribe_run(struct tx *tx, void *arg)
{
    struct subscribing *s = arg;
    const struct key_options key = session_key(&s->fx->account);
    struct browser_issued issued;
    enum err e = browser_issue(tx, &key, STR_NONE, true, &issued);
    if (e)
        return e;
    browser_hash(str_z(issued.cookie), s->request.browser.hash);
    return push_subscribe(tx, &s->request);
}

static struct push_browser subscribe(struct building_fixture *fx, unsigned notices)
{
    struct subscribing s = {.fx = fx,
                            .request = {.account_id = fx->account,
                                        .building_id = fx->building,
                                        .notices = notices,
                                        .language = STR("fr"),
                                        .endpoint = STR("https://push.example.com/1")}};
    assert_true(webpush_receiver_parse(STR(UA_PUBLIC), STR(AUTH), &s.request.keys));
    assert_int_equal(fixture_run(fx, STORE_WRITE, subscribe_run, &s), ERR_NONE);
    return s.request.browser;
}

struct taking {
    struct id busy[1];
    size_t busy_count;
    struct push_message list[PUSH_TAKE_MAX];
    size_t count;
    int64_t next_us;
};

static enum err take_run(struct tx *tx, void *arg)
{
    struct taking *t = arg;
    enum err e = push_take(tx, t->busy, t->busy_count, t->list, &t->count);
    return e ? e : push_next(tx, &t->next_us);
}

static struct taking take(struct building_fixture *fx)
{
    struct taking t = {.busy_count = 0};
    assert_int_equal(fixture_run(fx, STORE_WRITE, take_run, &t), ERR_NONE);
    return t;
}

struct ending {
    const struct push_message *message;
    enum push_end end;
    int64_t due_us;
};

static enum err end_run(struct tx *tx, void *arg)
{
    const struct ending *e = arg;
    return push_record(tx, e->message, e->end, e->due_us);
}

static void end(struct building_fixture *fx, const struct push_message *m, enum push_end how, int64_t due_us)
{
    assert_int_equal(fixture_run(fx, STORE_WRITE, end_run, &(struct ending){m, how, due_us}), ERR_NONE);
}

/* ---- tests ---- */

static void test_a_call_records_nothing_while_nobody_asked(void **state)
{
    struct building_fixture *fx = *state;
    ring(fx);
    fixture_expect(fx, "SELECT count(*) FROM notice", "0\n");
    subscribe(fx, NOTICE_BIT(RING));
    ring(fx);
    fixture_expect(fx, "SELECT notices FROM notice", "1\n");
}

/* SITE-12 */
static void test_the_owner_testing_the_line_is_no_ring(void **state)
{
    struct building_fixture *fx = *state;
    char from[] = OWNER_PHONE;
    subscribe(fx, NOTICES_ALL);
    assert_int_equal(fixture_run(fx, STORE_WRITE, ring_run, from), ERR_NONE);
    fixture_expect(fx, "SELECT count(*) FROM notice", "0\n");
}

/* SITE-13 */
static void test_each_browser_gets_the_heaviest_notice_that_it_wants(void **state)
{
    struct building_fixture *fx = *state;
    subscribe(fx, NOTICE_BIT(RING));
    subscribe(fx, NOTICE_BIT(RING) | NOTICE_BIT(OPENED));
    subscribe(fx, NOTICE_BIT(GUESSING));
    happen(fx, NOTICE_BIT(RING) | NOTICE_BIT(OPENED) | NOTICE_BIT(LAST_USE), fx->now_us);
    assert_int_equal(spread(fx), 1);
    fixture_expect(fx, "SELECT notice FROM push_message ORDER BY notice", "0\n2\n");
    assert_int_equal(spread(fx), 0);
}

/* SITE-18 */
static void test_a_moment_that_is_too_old_makes_no_message(void **state)
{
    struct building_fixture *fx = *state;
    subscribe(fx, NOTICE_BIT(RING));
    happen(fx, NOTICE_BIT(RING), fx->now_us - 61 * US_PER_S);
    assert_int_equal(spread(fx), 1);
    fixture_expect(fx, MESSAGES, "");
}

/* SITE-18 */
static void test_the_newest_message_of_a_kind_remains(void **state)
{
    struct building_fixture *fx = *state;
    subscribe(fx, NOTICE_BIT(RING));
    happen(fx, NOTICE_BIT(RING), fx->now_us);
    happen(fx, NOTICE_BIT(RING), fx->now_us - US_PER_S);
    assert_int_equal(spread(fx), 2);
    const struct taking t = take(fx);
    assert_int_equal(t.count, 1);
    assert_int_equal(t.list[0].at_us, fx->now_us);
}

static void test_a_message_is_taken_once_and_again_after_a_failure(void **state)
{
    struct building_fixture *fx = *state;
    subscribe(fx, NOTICE_BIT(RING));
    happen(fx, NOTICE_BIT(RING), fx->now_us);
    spread(fx);
    struct taking t = take(fx);
    assert_int_equal(t.count, 1);
    assert_int_equal(t.next_us, fx->now_us + LOOK_US); /* its node may die meanwhile */
    assert_string_equal(t.list[0].endpoint.p, "https://push.example.com/1");
    assert_non_null(strstr(t.list[0].payload.p, "\"title\":\"On sonne à la porte\""));
    assert_int_equal(take(fx).count, 0);
    end(fx, &t.list[0], PUSH_LATER, fx->now_us + US_PER_S);
    t = take(fx);
    assert_int_equal(t.count, 0);
    assert_int_equal(t.next_us, fx->now_us + US_PER_S);
    fx->now_us += US_PER_S;
    t = take(fx);
    assert_int_equal(t.count, 1);
    assert_int_equal(t.list[0].attempt, 2);
    end(fx, &t.list[0], PUSH_DELIVERED, 0);
    fixture_expect(fx, MESSAGES, "");
}

static void test_a_message_that_replaced_one_on_its_way_is_sent(void **state)
{
    struct building_fixture *fx = *state;
    subscribe(fx, NOTICE_BIT(RING));
    happen(fx, NOTICE_BIT(RING), fx->now_us);
    spread(fx);
    const struct taking first = take(fx);
    happen(fx, NOTICE_BIT(RING), fx->now_us + 1000);
    spread(fx);
    assert_int_equal(take(fx).count, 0);
    end(fx, &first.list[0], PUSH_DELIVERED, 0);
    const struct taking second = take(fx);
    assert_int_equal(second.count, 1);
    assert_int_equal(second.list[0].at_us, fx->now_us + 1000);
    assert_int_equal(second.list[0].attempt, 1);
}

/* SITE-20 */
static void test_no_message_of_a_busy_account_is_taken(void **state)
{
    struct building_fixture *fx = *state;
    struct taking t = {.busy = {fx->account}, .busy_count = 1};
    subscribe(fx, NOTICE_BIT(RING));
    happen(fx, NOTICE_BIT(RING), fx->now_us);
    spread(fx);
    assert_int_equal(fixture_run(fx, STORE_WRITE, take_run, &t), ERR_NONE);
    assert_int_equal(t.count, 0);
    assert_int_equal(take(fx).count, 1);
}

static void test_an_endpoint_that_is_gone_ends_the_subscription_unless_there_is_a_newer_one(void **state)
{
    struct building_fixture *fx = *state;
    subscribe(fx, NOTICE_BIT(RING));
    happen(fx, NOTICE_BIT(RING), fx->now_us);
    spread(fx);
    struct taking t = take(fx);
    t.list[0].endpoint = STR("https://push.example.com/older");
    end(fx, &t.list[0], PUSH_GONE, 0);
    fixture_expect(fx, "SELECT count(*) FROM push", "1\n");
    t.list[0].endpoint = STR("https://push.example.com/1");
    end(fx, &t.list[0], PUSH_GONE, 0);
    fixture_expect(fx, "SELECT count(*) FROM push", "0\n");
    fixture_expect(fx, MESSAGES, "");
}

static enum err remove_run(struct tx *tx, void *arg)
{
    const struct building_fixture *fx = arg;
    return removal_finish(tx, &fx->account, &fx->building);
}

static enum err mail_run(struct tx *tx, void *arg)
{
    const struct building_fixture *fx = arg;
    return notice_mail_set(tx, &fx->account, &fx->building, NOTICE_BIT(OPENED), STR("en"));
}

/* SITE-14 */
static void test_everything_ends_with_the_building(void **state)
{
    struct building_fixture *fx = *state;
    subscribe(fx, NOTICE_BIT(RING));
    assert_int_equal(fixture_run(fx, STORE_WRITE, mail_run, fx), ERR_NONE);
    happen(fx, NOTICE_BIT(RING), fx->now_us);
    spread(fx);
    happen(fx, NOTICE_BIT(RING), fx->now_us);
    assert_int_equal(fixture_run(fx, STORE_WRITE, remove_run, fx), ERR_NONE);
    fixture_sql(fx, "DELETE FROM building");
    assert_int_equal(spread(fx), 1);
    fixture_expect(fx,
                   "SELECT (SELECT count(*) FROM push), (SELECT count(*) FROM push_message), "
                   "(SELECT count(*) FROM notice), (SELECT count(*) FROM notice_mail)",
                   "0|0|0|0\n");
}

/* SITE-22 */
static void test_mails_are_bounded(void **state)
{
    struct building_fixture *fx = *state;
    crypto_set_master((const unsigned char *)"0123456789abcdef0123456789abcde", NULL);
    assert_int_equal(fixture_run(fx, STORE_WRITE, mail_run, fx), ERR_NONE);
    happen(fx, NOTICE_BIT(RING), fx->now_us);
    for (int i = 0; i < 25; i++)
        happen(fx, NOTICE_BIT(OPENED), fx->now_us);
    spread(fx);
    fixture_expect(fx, "SELECT count(*) FROM job WHERE kind = 'mail'", "20\n");
    fx->now_us += 180 * US_PER_S;
    for (int i = 0; i < 2; i++)
        happen(fx, NOTICE_BIT(OPENED), fx->now_us);
    spread(fx);
    fixture_expect(fx, "SELECT count(*) FROM job WHERE kind = 'mail'", "21\n");
}

static enum err sign_out_run(struct tx *tx, void *account)
{
    return browser_end_all(tx, account, &(struct id){0});
}

/* CALL-11 */
static void test_a_visitor_waits_only_for_a_browser_that_is_told(void **state)
{
    struct building_fixture *fx = *state;
    assert_false(waits_for_browsers(fx));
    subscribe(fx, NOTICE_BIT(OPENED));
    assert_false(waits_for_browsers(fx));
    subscribe(fx, NOTICE_BIT(RING) | NOTICE_BIT(OPENED));
    assert_true(waits_for_browsers(fx));
    assert_int_equal(fixture_run(fx, STORE_WRITE, sign_out_run, &fx->account), ERR_NONE);
    assert_false(waits_for_browsers(fx));
    subscribe(fx, NOTICE_BIT(RING));
    assert_true(waits_for_browsers(fx));
    fx->now_us += KEY_REMEMBERED_S * US_PER_S; /* unused for so long, it is signed out */
    assert_false(waits_for_browsers(fx));
}

static void test_every_notice_has_its_texts_in_every_language(void **state)
{
    struct building_fixture *fx = *state;
    const struct notice_moment m = {.building_id = fx->building, .label = STR("{label}"), .minutes = 10};
    for (int n = 0; n < NOTICE_COUNT; n++) {
        for (int l = 0; l < NOTICE_LANGUAGES; l++) {
            const struct notice_text t =
                notice_text((enum notice)n, str_z(notice_languages[l]), &m, STR("Home"), &fx->arena);
            assert_true(t.title.n > 0);
            assert_null(strchr(t.title.p, '{'));
            assert_non_null(strstr(t.body.p, "Home"));
            assert_true(n != NOTICE_GUESSING || strstr(t.body.p, "10"));
            assert_true((n != NOTICE_OPENED && n != NOTICE_LAST_USE) || strstr(t.body.p, "{label}"));
        }
    }
}

#define TESTS(x)                                                                                                       \
    x(test_a_call_records_nothing_while_nobody_asked), x(test_the_owner_testing_the_line_is_no_ring),                  \
        x(test_each_browser_gets_the_heaviest_notice_that_it_wants),                                                   \
        x(test_a_moment_that_is_too_old_makes_no_message), x(test_the_newest_message_of_a_kind_remains),               \
        x(test_a_message_is_taken_once_and_again_after_a_failure),                                                     \
        x(test_a_message_that_replaced_one_on_its_way_is_sent), x(test_no_message_of_a_busy_account_is_taken),         \
        x(test_an_endpoint_that_is_gone_ends_the_subscription_unless_there_is_a_newer_one),                            \
        x(test_everything_ends_with_the_building), x(test_a_visitor_waits_only_for_a_browser_that_is_told),            \
        x(test_mails_are_bounded), x(test_every_notice_has_its_texts_in_every_language)

FIXTURE_RUN_BOTH(TESTS)
