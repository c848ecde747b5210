/* Moments, messages for browsers, and mails. */
#include "domain/access.h"
#include "domain/browser.h"
#include "domain/building_fixture.h"
#include "domain/member.h"
#include "domain/push.h"
#include "domain/quiet.h"
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

static enum err key_for(struct tx *tx, const struct subscribing *s, struct key_options *ret)
{
    struct member m = {0};
    enum err e = id_given(&s->request.member_id) ? member_get(tx, &s->request.member_id, &m) : ERR_NONE;
    *ret = id_given(&m.id) ? session_key_of_member(&m) : session_key(&s->fx->account);
    return e;
}

static enum err subscribe_run(struct tx *tx, void *arg)
{
    struct subscribing *s = arg;
    struct key_options key;
    struct browser_issued issued;
    enum err wrong = key_for(tx, s, &key);
    if (wrong)
        return wrong;
    enum err e = browser_issue(tx, &key, STR_NONE, true, &issued);
    if (e)
        return e;
    browser_hash(str_z(issued.cookie), s->request.browser.hash);
    return push_subscribe(tx, &s->request);
}

static struct push_browser subscribe_as(struct building_fixture *fx, struct id member, unsigned notices)
{
    struct subscribing s = {.fx = fx,
                            .request = {.account_id = fx->account,
                                        .building_id = fx->building,
                                        .member_id = member,
                                        .notices = notices,
                                        .language = STR("fr"),
                                        .endpoint = STR("https://push.example.com/1")}};
    assert_true(webpush_receiver_parse(STR(UA_PUBLIC), STR(AUTH), &s.request.keys));
    assert_int_equal(fixture_run(fx, STORE_WRITE, subscribe_run, &s), ERR_NONE);
    return s.request.browser;
}

static struct push_browser subscribe(struct building_fixture *fx, unsigned notices)
{
    return subscribe_as(fx, (struct id){0}, notices);
}

/* ---- members ---- */

struct joining {
    struct member member;
    struct id id;
};

static enum err join_run(struct tx *tx, void *arg)
{
    struct joining *j = arg;
    return member_create(tx, &j->member, &j->id);
}

static struct id join(struct building_fixture *fx, const char *email, enum member_role role)
{
    struct joining j = {
        .member = {.building_id = fx->building, .name = STR("Ana"), .email = str_z(email), .role = role}};
    assert_int_equal(fixture_run(fx, STORE_WRITE, join_run, &j), ERR_NONE);
    return j.id;
}

static enum err leave_run(struct tx *tx, void *member)
{
    return member_remove(tx, member);
}

struct moving {
    const struct building_fixture *fx;
    struct push_browser browser;
};

/* The browser becomes the owner's. */
static enum err move_run(struct tx *tx, void *arg)
{
    const struct moving *m = arg;
    const struct key_options key = session_key(&m->fx->account);
    struct principal was = {0};
    enum err e = key_authenticate(tx, m->browser.hash, &was);
    return e ? e : browser_switch(tx, m->browser.hash, &was.key_id, &key);
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
    int64_t status, due_us;
};

static enum err end_run(struct tx *tx, void *arg)
{
    const struct ending *e = arg;
    return push_record(tx, e->message, e->end, e->status, e->due_us);
}

static void end(struct building_fixture *fx, const struct push_message *m, enum push_end how, int64_t due_us)
{
    struct ending e = {m, how, how == PUSH_DROPPED ? 403 : 201, due_us};
    assert_int_equal(fixture_run(fx, STORE_WRITE, end_run, &e), ERR_NONE);
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

/* SITE-19 */
static void test_a_refusal_is_noted_until_a_message_is_taken(void **state)
{
    static const char refused[] = "SELECT count(refused_at), coalesce(max(refused_with), 0) FROM push";
    struct building_fixture *fx = *state;
    subscribe(fx, NOTICE_BIT(RING));
    const enum push_end ends[] = {PUSH_LATER, PUSH_DROPPED, PUSH_DELIVERED};
    const char *const expected[] = {"0|0\n", "1|403\n", "0|0\n"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        happen(fx, NOTICE_BIT(RING), fx->now_us += US_PER_S);
        spread(fx);
        const struct taking t = take(fx);
        assert_int_equal(t.count, 1);
        end(fx, &t.list[0], ends[i], fx->now_us);
        fixture_expect(fx, refused, expected[i]);
    }
}

static enum err remove_run(struct tx *tx, void *arg)
{
    const struct building_fixture *fx = arg;
    return removal_finish(tx, &fx->account, &fx->building);
}

static enum err mail_run(struct tx *tx, void *arg)
{
    const struct building_fixture *fx = arg;
    const struct principal owner = {.account_id = fx->account};
    return notice_mail_set(tx, &owner, &fx->building, NOTICE_BIT(OPENED), STR("en"));
}

struct mailing {
    const struct building_fixture *fx;
    struct id member;
    struct str language;
    unsigned notices, found;
};

static enum err member_mail_run(struct tx *tx, void *arg)
{
    struct mailing *m = arg;
    const struct principal who = {.account_id = m->fx->account, .member_id = m->member};
    enum err e = notice_mail_set(tx, &who, &m->fx->building, m->notices, m->language);
    return e ? e : notice_mail_get(tx, &who, &m->fx->building, &m->found);
}

static void want_mails(struct building_fixture *fx, struct id member, unsigned notices, struct str language)
{
    struct mailing m = {.fx = fx, .member = member, .notices = notices, .language = language};
    assert_int_equal(fixture_run(fx, STORE_WRITE, member_mail_run, &m), ERR_NONE);
    assert_int_equal(m.found, notices);
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

/* SITE-22 */
static void test_mails_to_a_member_are_bounded_apart_from_the_owners_and_end_with_the_membership(void **state)
{
    struct building_fixture *fx = *state;
    crypto_set_master((const unsigned char *)"0123456789abcdef0123456789abcde", NULL);
    const struct id ana = join(fx, "ana@example.com", MEMBER_RESIDENT),
                    eva = join(fx, "eva@example.com", MEMBER_MANAGER);
    assert_int_equal(fixture_run(fx, STORE_WRITE, mail_run, fx), ERR_NONE);
    want_mails(fx, ana, NOTICE_BIT(OPENED), STR("fr"));
    want_mails(fx, eva, NOTICE_BIT(RING), STR("es"));
    fixture_expect(fx, "SELECT email, language FROM member ORDER BY email", "ana@example.com|fr\neva@example.com|es\n");
    for (int i = 0; i < 25; i++)
        happen(fx, NOTICE_BIT(RING) | NOTICE_BIT(OPENED), fx->now_us);
    spread(fx);
    fixture_expect(fx, "SELECT count(*) FROM job WHERE kind = 'mail'", "40\n");
    fixture_expect(fx, "SELECT mail_paid_until FROM member WHERE email = 'eva@example.com'", "0\n");
    fx->now_us += 7200 * US_PER_S;
    struct id left = ana;
    assert_int_equal(fixture_run(fx, STORE_WRITE, leave_run, &left), ERR_NONE);
    happen(fx, NOTICE_BIT(OPENED), fx->now_us);
    spread(fx);
    fixture_expect(fx, "SELECT count(*) FROM job WHERE kind = 'mail'", "41\n");
}

/* A door is told of moments if only a member asked for mails. */
static void test_a_call_is_recorded_for_a_member_alone(void **state)
{
    struct building_fixture *fx = *state;
    const struct id ana = join(fx, "ana@example.com", MEMBER_RESIDENT);
    want_mails(fx, ana, NOTICE_BIT(RING), STR("en"));
    ring(fx);
    fixture_expect(fx, "SELECT notices FROM notice", "1\n");
}

/* SITE-14 */
static void test_a_members_subscription_ends_with_the_membership_wherever_its_browser_is(void **state)
{
    struct building_fixture *fx = *state;
    struct id ana = join(fx, "ana@example.com", MEMBER_RESIDENT);
    struct moving m = {.fx = fx, .browser = subscribe_as(fx, ana, NOTICE_BIT(RING))};
    assert_true(waits_for_browsers(fx));
    assert_int_equal(fixture_run(fx, STORE_WRITE, move_run, &m), ERR_NONE);
    assert_true(waits_for_browsers(fx));
    happen(fx, NOTICE_BIT(RING), fx->now_us);
    spread(fx);
    assert_int_equal(fixture_run(fx, STORE_WRITE, leave_run, &ana), ERR_NONE);
    fixture_expect(fx, "SELECT (SELECT count(*) FROM push), (SELECT count(*) FROM push_message)", "0|0\n");
    assert_false(waits_for_browsers(fx));
}

/* An earlier program leaves them. */
static void test_a_subscription_without_its_member_gets_nothing(void **state)
{
    struct building_fixture *fx = *state;
    subscribe_as(fx, join(fx, "ana@example.com", MEMBER_RESIDENT), NOTICE_BIT(RING));
    happen(fx, NOTICE_BIT(RING), fx->now_us);
    spread(fx);
    fixture_sql(fx, "DELETE FROM member");
    const struct taking t = take(fx);
    assert_int_equal(t.count, 1);
    assert_null(t.list[0].endpoint.p);
    assert_false(waits_for_browsers(fx));
}

/* SITE-12 */
static void test_a_manager_of_codes_gets_no_ring(void **state)
{
    struct building_fixture *fx = *state;
    subscribe_as(fx, join(fx, "ana@example.com", MEMBER_MANAGER), NOTICE_BIT(RING) | NOTICE_BIT(OPENED));
    assert_false(waits_for_browsers(fx));
    happen(fx, NOTICE_BIT(RING), fx->now_us);
    spread(fx);
    fixture_expect(fx, MESSAGES, "");
    happen(fx, NOTICE_BIT(RING) | NOTICE_BIT(OPENED), fx->now_us);
    spread(fx);
    fixture_expect(fx, "SELECT notice FROM push_message", "2\n");
}

struct listing {
    const struct building_fixture *fx;
    struct id member;
    size_t count;
};

static enum err list_run(struct tx *tx, void *arg)
{
    struct listing *l = arg;
    const struct push_entry *entries;
    return push_list(tx, &l->fx->building, &l->member, &entries, &l->count);
}

/* SITE-12 */
static void test_each_person_sees_their_own_browsers(void **state)
{
    struct building_fixture *fx = *state;
    const struct id people[] = {
        {.text = ""}, join(fx, "ana@example.com", MEMBER_RESIDENT), join(fx, "eva@example.com", MEMBER_RESIDENT)};
    for (size_t person = 0; person < 3; person++)
        for (size_t i = 0; i <= person; i++)
            subscribe_as(fx, people[person], NOTICE_BIT(RING));
    for (size_t person = 0; person < 3; person++) {
        struct listing l = {.fx = fx, .member = people[person]};
        assert_int_equal(fixture_run(fx, STORE_READ, list_run, &l), ERR_NONE);
        assert_int_equal(l.count, person + 1);
    }
    happen(fx, NOTICE_BIT(RING), fx->now_us);
    spread(fx);
    fixture_expect(fx, "SELECT count(*) FROM push_message", "6\n");
}

struct resting {
    const struct building_fixture *fx;
    struct id member;
};

static enum err rest_run(struct tx *tx, void *arg)
{
    const struct resting *r = arg;
    return quiet_set(tx, &r->fx->account, &r->member, &(struct quiet){0, 24 * 60 - 1});
}

/* For the first minutes of the day. */
static void rest(struct building_fixture *fx, struct id member)
{
    struct resting r = {.fx = fx, .member = member};
    assert_int_equal(fixture_run(fx, STORE_WRITE, rest_run, &r), ERR_NONE);
}

/* ACCOUNT-46 */
static void test_a_browser_does_not_ring_in_quiet_hours_unless_no_other_does(void **state)
{
    struct building_fixture *fx = *state;
    const struct id ana = join(fx, "ana@example.com", MEMBER_RESIDENT);
    fixture_sql(fx, "UPDATE building SET timezone = 'UTC'");
    fixture_sql(fx, "UPDATE account SET phone = NULL");
    fx->now_us -= fx->now_us % (86400 * US_PER_S);
    subscribe_as(fx, ana, NOTICE_BIT(RING) | NOTICE_BIT(OPENED));
    subscribe(fx, NOTICE_BIT(RING));
    rest(fx, ana);
    ring(fx);
    fixture_expect(fx, "SELECT quiet FROM notice", "1\n");
    spread(fx);
    fixture_expect(fx, "SELECT count(*) FROM push_message", "1\n");
    fixture_sql(fx, "DELETE FROM push_message");
    happen(fx, NOTICE_BIT(OPENED), fx->now_us);
    spread(fx);
    fixture_expect(fx, "SELECT notice FROM push_message", "2\n");
    fixture_sql(fx, "DELETE FROM push_message");
    rest(fx, (struct id){0}); /* nobody else */
    assert_true(waits_for_browsers(fx));
    fixture_expect(fx, "SELECT quiet FROM notice", "0\n");
    spread(fx);
    fixture_expect(fx, "SELECT count(*) FROM push_message WHERE notice = 0", "2\n");
}

static enum err own_run(struct tx *tx, void *arg)
{
    return access_arrive(tx, STR(FIXTURE_NUMBER), STR(OWNER_PHONE), AUDIO_TAKEN, arg);
}

/* ACCOUNT-46 */
static void test_the_owner_in_quiet_hours_still_tests_the_line(void **state)
{
    struct building_fixture *fx = *state;
    struct access_decision d = {.verdict = ACCESS_REJECT};
    fixture_sql(fx, "UPDATE building SET timezone = 'UTC', ring_numbers = '+15550007777'");
    fx->now_us -= fx->now_us % (86400 * US_PER_S);
    rest(fx, (struct id){0});
    assert_int_equal(fixture_run(fx, STORE_WRITE, own_run, &d), ERR_NONE);
    assert_int_equal(d.verdict, ACCESS_SELF_CALL);
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
        x(test_a_refusal_is_noted_until_a_message_is_taken), x(test_everything_ends_with_the_building),                \
        x(test_a_visitor_waits_only_for_a_browser_that_is_told), x(test_mails_are_bounded),                            \
        x(test_mails_to_a_member_are_bounded_apart_from_the_owners_and_end_with_the_membership),                       \
        x(test_a_call_is_recorded_for_a_member_alone),                                                                 \
        x(test_a_members_subscription_ends_with_the_membership_wherever_its_browser_is),                               \
        x(test_a_subscription_without_its_member_gets_nothing), x(test_a_manager_of_codes_gets_no_ring),               \
        x(test_each_person_sees_their_own_browsers),                                                                   \
        x(test_a_browser_does_not_ring_in_quiet_hours_unless_no_other_does),                                           \
        x(test_the_owner_in_quiet_hours_still_tests_the_line), x(test_every_notice_has_its_texts_in_every_language)

FIXTURE_RUN_BOTH(TESTS)
