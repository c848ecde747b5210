/* The notices engine with a real store and push services in the test. */
#include "net/receiver.h"

#include "domain/browser.h"
#include "domain/building_fixture.h"
#include "domain/push.h"
#include "domain/session.h"
#include "jobs/notices.h"

#define UA_PUBLIC "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
#define AUTH      "BTBZMqHH6r4Tts7J_aSIgg"
#define BROWSERS  4

struct fixture {
    struct building_fixture *building;
    struct notices *engine;
    struct receiver *receiver;
    atomic_uint requests;
    atomic_bool hangs;
};

static bool answer(struct received *q, void *context)
{
    struct fixture *f = context;
    f->requests++;
    if (f->hangs) {
        received_hang(q);
        return false;
    }
    return received_say(q, STR("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"));
}

static enum err key_run(struct tx *tx, void *arg)
{
    (void)arg;
    return push_key_claim(tx);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    if (!f || fixture_open(state))
        return -1;
    f->building = *state;
    f->building->now_us = clock_now_us();
    f->building->fixture->config.webhooks_allow_private = true;
    f->building->fixture->config.webhooks_verify_tls = false;
    f->building->fixture->config.top_public_url = "https://door.example.com";
    crypto_set_master((const unsigned char *)"0123456789abcdef0123456789abcde", NULL);
    assert_int_equal(fixture_run(f->building, STORE_WRITE, key_run, NULL), ERR_NONE);
    f->receiver = receiver_open(true, answer, f);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    void *building = f->building;
    notices_free(f->engine);
    receiver_close(f->receiver);
    free(f);
    return fixture_close(&building);
}

static void start(struct fixture *f)
{
    const struct notices_options options = {.config = &f->building->fixture->config,
                                            .store = f->building->fixture->store};
    notices_free(f->engine);
    assert_int_equal(notices_new(&options, &f->engine), ERR_NONE);
    assert_int_equal(notices_start(f->engine), ERR_NONE);
}

struct subscribing {
    struct fixture *f;
    int i;
};

static enum err subscribe_run(struct tx *tx, void *arg)
{
    const struct subscribing *s = arg;
    struct browser_issued issued;
    struct push_request r = {
        .account_id = s->f->building->account,
        .building_id = s->f->building->building,
        .notices = NOTICES_ALL,
        .language = STR("en"),
        .endpoint = arena_printf(tx->arena, "%s/%d?x=1", s->f->receiver->url, s->i),
    };
    const struct key_options key = session_key(&r.account_id);
    enum err e = browser_issue(tx, &key, STR_NONE, true, &issued);
    browser_hash(str_z(issued.cookie), r.browser.hash);
    assert_true(webpush_receiver_parse(STR(UA_PUBLIC), STR(AUTH), &r.keys));
    return e ? e : push_subscribe(tx, &r);
}

static enum err ring_run(struct tx *tx, void *arg)
{
    const struct fixture *f = arg;
    return notice_record(tx, &(struct notice_moment){.building_id = f->building->building,
                                                     .notices = NOTICE_BIT(RING),
                                                     .at_us = tx->now_us});
}

static void ring(struct fixture *f)
{
    f->building->now_us = clock_now_us();
    assert_int_equal(fixture_run(f->building, STORE_WRITE, ring_run, f), ERR_NONE);
    notices_kick(f->engine);
}

static void subscribe_all(struct fixture *f)
{
    for (int i = 0; i < BROWSERS; i++)
        assert_int_equal(fixture_run(f->building, STORE_WRITE, subscribe_run, &(struct subscribing){f, i}), ERR_NONE);
}

static void await_requests(const struct fixture *f, unsigned count)
{
    while (f->requests < count)
        usleep(1000);
}

static void await_rows(const struct fixture *f, const char *sql, const char *rows)
{
    while (strcmp(fixture_sql(f->building, sql), rows) != 0)
        usleep(1000);
}

/* SITE-21 */
static void test_a_ring_is_pushed_to_all_browsers_and_forgotten(void **state)
{
    struct fixture *f = *state;
    subscribe_all(f);
    start(f);
    ring(f);
    await_requests(f, BROWSERS);
    await_rows(f, "SELECT count(*) FROM push_message", "0\n");
    assert_int_equal(f->requests, BROWSERS);
}

/* SITE-21 */
static void test_what_was_recorded_before_the_start_is_pushed(void **state)
{
    struct fixture *f = *state;
    subscribe_all(f);
    f->building->now_us = clock_now_us();
    assert_int_equal(fixture_run(f->building, STORE_WRITE, ring_run, f), ERR_NONE);
    start(f);
    await_requests(f, BROWSERS);
}

static void test_a_stop_ends_requests_that_hang_and_their_messages_remain(void **state)
{
    struct fixture *f = *state;
    f->hangs = true;
    subscribe_all(f);
    start(f);
    ring(f);
    await_requests(f, BROWSERS);
    notices_free(f->engine);
    f->engine = NULL;
    fixture_expect(f->building, "SELECT count(*) FROM push_message WHERE leased_until > 0", "4\n");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_a_ring_is_pushed_to_all_browsers_and_forgotten),
        TEST(test_what_was_recorded_before_the_start_is_pushed),
        TEST(test_a_stop_ends_requests_that_hang_and_their_messages_remain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
