#include "webhook_fixture.h"

static struct val types(struct tx *tx, const char *a, const char *b)
{
    struct val *list = arena_array(tx->arena, struct val, 2);
    list[0] = v_str(str_z(a));
    list[1] = v_str(str_z(b));
    return v_list(list, b ? 2 : 1);
}

/* WEBHOOK-2 */
static void test_types_become_bits_and_default_to_all(struct tx *tx)
{
    uint32_t bits;
    assert_none(webhook_events(tx, (struct val){0}, &bits));
    assert_int_equal(bits, ALL_EVENTS);
    assert_none(webhook_events(tx, types(tx, "webhook.test", "access.denied"), &bits));
    assert_int_equal(bits, EVENT_BIT(WEBHOOK_TEST) | EVENT_BIT(ACCESS_DENIED));
    assert_error(webhook_events(tx, types(tx, "access.denied", "access.denied"), &bits), ERR_INVALID_WEBHOOK_EVENTS);
    assert_str(tx->why, "events: access.denied is listed twice");
    assert_error(webhook_events(tx, types(tx, "access.Denied", NULL), &bits), ERR_INVALID_WEBHOOK_EVENTS);
    assert_error(webhook_events(tx, v_list(NULL, 0), &bits), ERR_INVALID_WEBHOOK_EVENTS);
}

static void test_an_account_has_five_endpoints_newest_first_and_no_sixth(struct tx *tx)
{
    const struct id mine = some_account(tx, "a@example.com"), theirs = some_account(tx, "b@example.com");
    const struct webhook *list;
    struct webhook made[WEBHOOK_MAX], w;
    struct str secret;
    size_t count;
    bool replayed;
    for (int i = 0; i < WEBHOOK_MAX; i++)
        made[i] = some_webhook(tx, &mine, 1U << i);
    const struct webhook_request sixth = {.account = &mine};
    assert_error(webhook_create(tx, &sixth, URL, ALL_EVENTS, &w, &secret, &replayed), ERR_WEBHOOK_LIMIT);
    some_webhook(tx, &theirs, ALL_EVENTS);
    assert_none(webhook_list(tx, &mine, &list, &count));
    assert_int_equal(count, WEBHOOK_MAX);
    for (int i = 0; i < WEBHOOK_MAX; i++) {
        assert_id(list[i].id, made[WEBHOOK_MAX - 1 - i].id);
        assert_int_equal(list[i].events, 1U << (WEBHOOK_MAX - 1 - i));
        assert_true(str_eq(list[i].url, URL));
        assert_int_equal(list[i].created_us, TX_NOW);
    }
    assert_none(webhook_delete(tx, &mine, &made[2].id));
    assert_none(webhook_list(tx, &mine, &list, &count));
    assert_int_equal(count, WEBHOOK_MAX - 1);
    some_webhook(tx, &mine, ALL_EVENTS);
    assert_error(webhook_create(tx, &sixth, URL, ALL_EVENTS, &w, &secret, &replayed), ERR_WEBHOOK_LIMIT);
}

static void test_a_key_creates_once_and_is_remembered_after_deletion(struct tx *tx)
{
    const struct id mine = some_account(tx, "a@example.com"), theirs = some_account(tx, "b@example.com");
    const unsigned char body[SHA256_LEN] = {1}, other[SHA256_LEN] = {2};
    struct webhook_request request = {&mine, STR("key-of-16-letters"), body};
    struct webhook first, again;
    struct str secret, repeated;
    bool replayed;
    assert_error(webhook_replay(tx, &request, &again, &repeated), ERR_NOT_FOUND);
    assert_none(webhook_create(tx, &request, URL, ALL_EVENTS, &first, &secret, &replayed));
    assert_false(replayed);
    assert_int_equal(secret.n, WEBHOOK_SECRET_LEN);
    assert_memory_equal(secret.p, "whsec_", 6);
    assert_none(webhook_delete(tx, &mine, &first.id));
    assert_none(webhook_create(tx, &request, STR("https://other.example/"), 1, &again, &repeated, &replayed));
    assert_true(replayed);
    assert_id(again.id, first.id);
    assert_true(str_eq(again.url, URL));
    assert_int_equal(again.events, ALL_EVENTS);
    assert_true(str_eq(repeated, secret));
    request.hash = other;
    assert_error(webhook_create(tx, &request, URL, ALL_EVENTS, &again, &repeated, &replayed), ERR_IDEMPOTENCY_CONFLICT);
    request.account = &theirs;
    assert_none(webhook_create(tx, &request, URL, ALL_EVENTS, &again, &repeated, &replayed));
    assert_false(replayed);
    assert_false(str_eq(repeated, secret));
}

static void test_a_replay_comes_before_the_limit(struct tx *tx)
{
    const struct id mine = some_account(tx, "a@example.com");
    const unsigned char body[SHA256_LEN] = {1};
    const struct webhook_request request = {&mine, STR("key-of-16-letters"), body};
    struct webhook first, again;
    struct str secret;
    bool replayed;
    assert_none(webhook_create(tx, &request, URL, ALL_EVENTS, &first, &secret, &replayed));
    for (int i = 1; i < WEBHOOK_MAX; i++)
        some_webhook(tx, &mine, ALL_EVENTS);
    assert_none(webhook_create(tx, &request, URL, ALL_EVENTS, &again, &secret, &replayed));
    assert_id(again.id, first.id);
}

/* WEBHOOK-13 */
static void test_a_secret_is_sealed_and_fails_under_another_master_key(struct tx *tx)
{
    const struct id mine = some_account(tx, "a@example.com");
    const unsigned char body[SHA256_LEN] = {1};
    const struct webhook_request request = {&mine, STR("key-of-16-letters"), body};
    struct webhook w;
    struct str secret;
    bool replayed;
    assert_none(webhook_create(tx, &request, URL, ALL_EVENTS, &w, &secret, &replayed));
    CURSOR c;
    assert_none(db_one(tx->db, SQL(webhook_by_request, .account_id = &mine, .request_id = request.key), &c));
    const struct row_webhook_by_request row = row_webhook_by_request(&c, NULL);
    assert_null(memmem(row.secret.p, row.secret.n, "whsec_", 6));
    db_end(&c);
    crypto_set_master((const unsigned char[SHA256_LEN]){2}, NULL);
    assert_error(webhook_replay(tx, &request, &w, &secret), ERR_SECRET_DECRYPT_FAILED);
}

static void test_deletion_cancels_only_pending_deliveries(struct tx *tx)
{
    const struct id mine = some_account(tx, "a@example.com"), theirs = some_account(tx, "b@example.com");
    const struct webhook w = some_webhook(tx, &mine, ALL_EVENTS), other = some_webhook(tx, &mine, ALL_EVENTS);
    struct id done, pending, kept;
    assert_none(webhook_test(tx, &mine, &w.id, &done));
    set_status(tx, &done, "delivered");
    assert_none(webhook_test(tx, &mine, &w.id, &pending));
    assert_none(webhook_test(tx, &mine, &other.id, &kept));
    assert_none(webhook_delete(tx, &theirs, &w.id)); /* another account's: no effect */
    assert_str(page_of(tx, &mine, &w.id).items[0].status, "pending");
    for (int i = 0; i < 2; i++)
        assert_none(webhook_delete(tx, &mine, &w.id));
    const struct delivery_page page = page_of(tx, &mine, &w.id);
    assert_int_equal(page.count, 2);
    assert_id(page.items[0].id, pending);
    assert_str(page.items[0].status, "canceled");
    assert_str(page.items[1].status, "delivered");
    assert_str(page_of(tx, &mine, &other.id).items[0].status, "pending");
    assert_none(webhook_delete(tx, &mine, &(struct id){"f0f0f0f0f0f0f0f0f0f0f0f0"}));
}

/* WEBHOOK-18 */
static void test_a_test_event_goes_only_to_its_endpoint_whatever_it_listens_to(struct tx *tx)
{
    const struct id mine = some_account(tx, "a@example.com"), theirs = some_account(tx, "b@example.com");
    const struct webhook w = some_webhook(tx, &mine, EVENT_BIT(ACCESS_DENIED));
    const struct webhook other = some_webhook(tx, &mine, ALL_EVENTS);
    struct id delivery;
    assert_none(webhook_test(tx, &mine, &w.id, &delivery));
    const struct delivery_page page = page_of(tx, &mine, &w.id);
    assert_int_equal(page.count, 1);
    assert_id(page.items[0].id, delivery);
    assert_str(page.items[0].type, "webhook.test");
    assert_int_equal(page_of(tx, &mine, &other.id).count, 0);
    assert_error(webhook_test(tx, &theirs, &w.id, &delivery), ERR_NOT_FOUND);
    assert_none(webhook_delete(tx, &mine, &w.id));
    assert_error(webhook_test(tx, &mine, &w.id, &delivery), ERR_NOT_FOUND);
}

#define TESTS(x)                                                                                                       \
    x(test_types_become_bits_and_default_to_all) x(test_an_account_has_five_endpoints_newest_first_and_no_sixth)       \
        x(test_a_key_creates_once_and_is_remembered_after_deletion) x(test_a_replay_comes_before_the_limit)            \
            x(test_a_secret_is_sealed_and_fails_under_another_master_key)                                              \
                x(test_deletion_cancels_only_pending_deliveries)                                                       \
                    x(test_a_test_event_goes_only_to_its_endpoint_whatever_it_listens_to)
TX_RUN(TESTS)
